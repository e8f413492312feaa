// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_DECIMAL_TIME_H_
#define WEFT_PROFILE_SRC_DECIMAL_TIME_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::profile {

// Microseconds in decimal text as nanoseconds, halves to even. Exact: a double
// has not enough digits for today's date. None for anything that is not wholly
// a number, and for numbers that do not fit.
std::optional<std::int64_t> decimal_us_to_ns(std::string_view text) noexcept;

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_DECIMAL_TIME_H_
