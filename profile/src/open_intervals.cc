// SPDX-License-Identifier: Apache-2.0
#include "open_intervals.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "weft/profile/wrapping_sum.h"

namespace weft::profile {

Overlaps overlaps_of(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) {
              return a.first != b.first ? a.first < b.first
                                        : a.second > b.second;
            });
  Overlaps overlaps;
  // Ends of those open, the nearest on top.
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>>
      ends;
  for (const auto& [start, end] : intervals) {
    while (!ends.empty() && ends.top() <= start) ends.pop();
    if (!ends.empty() && ends.top() < end) ++overlaps.partial;
    overlaps.max_depth =
        std::max<std::uint64_t>(overlaps.max_depth, ends.size() + 1);
    if (end > start) ends.push(end);
  }
  return overlaps;
}

std::int64_t union_length(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::int64_t length = 0;
  std::int64_t covered = intervals.empty() ? 0 : intervals.front().first;
  for (const auto& [start, end] : intervals) {
    std::int64_t piece = std::max(covered, end);
    subtract_wrapping(piece, std::max(covered, start));
    if (end > covered) add_wrapping(length, piece);
    covered = std::max(covered, end);
  }
  return length;
}

}  // namespace weft::profile
