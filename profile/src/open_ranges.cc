// SPDX-License-Identifier: Apache-2.0
#include "open_ranges.h"

#include <algorithm>

namespace weft::profile {

OpenRanges::OpenRanges(const std::vector<FunctionEvent>& events)
    : events_(events) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    const FunctionEvent& event = events[i];
    if (event.is_host() && !event.is_async && !event.is_instant())
      threads_[event.thread].ranges.push_back(i);
  }
  for (auto& [number, thread] : threads_) {
    std::stable_sort(thread.ranges.begin(), thread.ranges.end(),
                     [&](std::size_t a, std::size_t b) {
                       const FunctionEvent& x = events[a];
                       const FunctionEvent& y = events[b];
                       return x.start_ns != y.start_ns ? x.start_ns < y.start_ns
                                                       : x.end_ns > y.end_ns;
                     });
  }
}

std::size_t OpenRanges::innermost(std::int64_t number, std::int64_t at_ns) {
  const auto found = threads_.find(number);
  if (found == threads_.end()) return kNoEvent;
  Thread& thread = found->second;
  for (; thread.next < thread.ranges.size() &&
         events_[thread.ranges[thread.next]].start_ns <= at_ns;
       ++thread.next)
    thread.open.push_back(thread.ranges[thread.next]);
  while (!thread.open.empty() && events_[thread.open.back()].end_ns <= at_ns)
    thread.open.pop_back();
  return thread.open.empty() ? kNoEvent : thread.open.back();
}

}  // namespace weft::profile
