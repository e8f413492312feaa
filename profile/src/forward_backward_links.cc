// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/forward_backward_links.h"

#include <algorithm>
#include <map>
#include <utility>

namespace weft {

std::vector<ForwardBackwardLink> forward_backward_links(
    const std::vector<FunctionEvent>& events) {
  std::vector<std::size_t> by_end;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].is_host() && events[i].sequence_nr >= 0) by_end.push_back(i);
  }
  std::stable_sort(by_end.begin(), by_end.end(),
                   [&](std::size_t a, std::size_t b) {
                     return events[a].end_ns < events[b].end_ns;
                   });
  using Key = std::pair<std::int64_t, std::int64_t>;  // thread, sequence number
  std::map<Key, std::size_t> waiting;
  std::vector<ForwardBackwardLink> links;
  for (const std::size_t i : by_end) {
    const FunctionEvent& event = events[i];
    if (event.fwd_thread > 0) {
      const auto forward = waiting.find({event.fwd_thread, event.sequence_nr});
      if (forward == waiting.end()) continue;
      links.push_back({forward->second, i});
      waiting.erase(forward);
      continue;
    }
    const auto [place, added] =
        waiting.try_emplace({event.thread, event.sequence_nr}, i);
    if (!added && event.start_ns >= events[place->second].start_ns) {
      place->second = i;
    }
  }
  return links;
}

}  // namespace weft
