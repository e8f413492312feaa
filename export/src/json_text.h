// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_JSON_TEXT_H_
#define WEFT_EXPORT_SRC_JSON_TEXT_H_

// Values as strict JSON text (RFC 8259) that every viewer can hold: strings
// without surrogate escapes, numbers that doubles keep exact or strings of them.

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::exporters {

// The largest integer below which every integer is a double: 2^53.
inline constexpr std::uint64_t kExactIntegers = std::uint64_t{1} << 53;

// The room that write_unsigned() and write_micros() need.
inline constexpr std::size_t kNumberRoom = 24;

// Decimal digits of `value` at `to`; returns one past the last.
char* write_unsigned(char* to, std::uint64_t value) noexcept;

// `ns` as microseconds with three decimals, which is exact: 1234 is "1.234".
char* write_micros(char* to, std::uint64_t ns) noexcept;

// Appends `text` in quotes. Characters beyond the basic plane stay raw UTF-8,
// since escapes of surrogate pairs make Perfetto refuse a file. Bytes that are
// no UTF-8 become U+FFFD each; returns how many there were.
std::uint64_t append_string(std::string* out, std::string_view text);

// Integers that a double would round are written as strings.
void append_unsigned(std::string* out, std::uint64_t value);
void append_signed(std::string* out, std::int64_t value);

// The shortest text that reads back as `value`. NaN and infinities, for which
// JSON has no number, become the strings "NaN", "Infinity" and "-Infinity".
void append_double(std::string* out, double value);

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_JSON_TEXT_H_
