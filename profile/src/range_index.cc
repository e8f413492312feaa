// SPDX-License-Identifier: Apache-2.0
#include "range_index.h"

#include <algorithm>
#include <iterator>

namespace weft::profile {

RangeIndex::RangeIndex(const std::vector<FunctionEvent>& events)
    : events_(events) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    const FunctionEvent& event = events[i];
    if (event.is_host() && !event.is_async) ranges_[event.thread].push_back(i);
  }
  for (auto& [thread, ranges] : ranges_) {
    std::stable_sort(ranges.begin(), ranges.end(),
                     [&](std::size_t a, std::size_t b) {
                       const FunctionEvent& x = events[a];
                       const FunctionEvent& y = events[b];
                       return x.start_ns != y.start_ns ? x.start_ns < y.start_ns
                                                       : x.end_ns > y.end_ns;
                     });
  }
}

std::size_t RangeIndex::innermost(std::int64_t thread, std::int64_t start_ns,
                                  std::int64_t end_ns) const {
  const auto found = ranges_.find(thread);
  if (found == ranges_.end()) return kNoEvent;
  const std::vector<std::size_t>& ranges = found->second;
  const auto after = std::upper_bound(
      ranges.begin(), ranges.end(), start_ns,
      [&](std::int64_t ns, std::size_t i) { return ns < events_[i].start_ns; });
  if (after == ranges.begin()) return kNoEvent;
  // The last one begun until then, or what that lies in.
  std::size_t range = *std::prev(after);
  while (range != kNoEvent && events_[range].end_ns < end_ns) {
    range = events_[range].parent;
  }
  return range;
}

}  // namespace weft::profile
