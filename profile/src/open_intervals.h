// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_OPEN_INTERVALS_H_
#define WEFT_PROFILE_SRC_OPEN_INTERVALS_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace weft::profile {

using Interval = std::pair<std::int64_t, std::int64_t>;  // [first, second)

struct Overlaps {
  // Most open at once. One without length counts while it starts.
  std::uint64_t max_depth = 0;
  // How many begin inside another and end after it.
  std::uint64_t partial = 0;
};

// Of intervals in any order.
Overlaps overlaps_of(std::vector<Interval> intervals);

// The time that they cover.
std::int64_t union_length(std::vector<Interval> intervals);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_OPEN_INTERVALS_H_
