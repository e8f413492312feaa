// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_WRAPPING_SUM_H_
#define WEFT_PROFILE_WRAPPING_SUM_H_

#include <cstdint>

namespace weft {

// Sums of figures that may come from a hostile file: too large ones wrap,
// instead of being undefined.
constexpr void add_wrapping(std::int64_t& sum, std::int64_t value) noexcept {
  __builtin_add_overflow(sum, value, &sum);
}
constexpr void subtract_wrapping(std::int64_t& sum,
                                 std::int64_t value) noexcept {
  __builtin_sub_overflow(sum, value, &sum);
}

}  // namespace weft

#endif  // WEFT_PROFILE_WRAPPING_SUM_H_
