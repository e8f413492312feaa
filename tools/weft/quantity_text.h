// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_QUANTITY_TEXT_H_
#define WEFT_TOOLS_WEFT_QUANTITY_TEXT_H_

// Numbers and names as a person reads them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::tools {

// Three significant digits and a unit: "950ns", "1.23µs", "45.6ms", "7.89s";
// from 1000 s on "16m40s", "3h12m", "2d05h".
std::string duration_text(std::uint64_t ns);

// "1,234,567".
std::string count_text(std::uint64_t count);

// "512 bytes", "1.23 kB", "4.56 MB".
std::string bytes_text(std::uint64_t bytes);

// A value of a counter: whole numbers whole, others with 6 digits.
std::string value_text(long double value);

// "2 blocks", "1 block".
std::string plural(std::uint64_t count, std::string_view noun);

// UTC to the microsecond, from ns since 1970: "2026-11-30 15:04:05.123456 UTC".
std::string date_text(std::int64_t unix_ns);

// Text that cannot move a terminal's cursor: control characters and bytes that
// are no UTF-8 become \xNN.
std::string printable(std::string_view text);

// Columns that UTF-8 text takes, one a code point.
std::size_t text_width(std::string_view text) noexcept;

// At most `width` columns: the middle of longer text becomes "…", since names
// that begin alike often differ at their end.
std::string shortened(std::string_view text, std::size_t width);

// Length of the UTF-8 sequence at the front, 0 if there is no valid one.
std::size_t utf8_length(std::string_view text) noexcept;

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_QUANTITY_TEXT_H_
