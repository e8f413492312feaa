// SPDX-License-Identifier: Apache-2.0
#include "decimal_time.h"

#include <charconv>
#include <cstddef>
#include <limits>

namespace weft::profile {
namespace {

constexpr std::int64_t kNsExponent = 3;  // 1 us = 10^3 ns
// Beyond these a number is zero or does not fit, whatever its digits.
constexpr std::int64_t kLargestExponent = 1000;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// The digits of a number without its point, and where the point stands.
struct Digits {
  std::string_view whole;
  std::string_view fraction;
  std::int64_t exponent = 0;
};

std::string_view take_digits(std::string_view& text) noexcept {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

std::optional<Digits> split(std::string_view text) noexcept {
  Digits digits;
  digits.whole = take_digits(text);
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    digits.fraction = take_digits(text);
  }
  if (digits.whole.empty() && digits.fraction.empty()) return std::nullopt;
  if (!text.empty() && (text.front() == 'e' || text.front() == 'E')) {
    text.remove_prefix(1);
    if (!text.empty() && text.front() == '+') {
      text.remove_prefix(1);
      if (text.empty() || !is_digit(text.front())) return std::nullopt;
    }
    const char* end = text.data() + text.size();
    const auto [stop, error] =
        std::from_chars(text.data(), end, digits.exponent);
    if (error != std::errc() || stop != end) return std::nullopt;
    text = {};
  }
  if (!text.empty()) return std::nullopt;
  if (digits.exponent > kLargestExponent ||
      digits.exponent < -kLargestExponent) {
    return std::nullopt;
  }
  return digits;
}

}  // namespace

std::optional<std::int64_t> decimal_us_to_ns(std::string_view text) noexcept {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  const std::optional<Digits> digits = split(text);
  if (!digits) return std::nullopt;
  const std::size_t count = digits->whole.size() + digits->fraction.size();
  const auto digit = [&](std::size_t i) {
    const std::size_t whole = digits->whole.size();
    return (i < whole ? digits->whole[i] : digits->fraction[i - whole]) - '0';
  };
  // How many digits stand before the point of the nanoseconds.
  const std::int64_t before = static_cast<std::int64_t>(digits->whole.size()) +
                              digits->exponent + kNsExponent;
  std::uint64_t ns = 0;
  for (std::int64_t i = 0; i < before; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto next = static_cast<std::uint64_t>(at < count ? digit(at) : 0);
    if (__builtin_mul_overflow(ns, std::uint64_t{10}, &ns) ||
        __builtin_add_overflow(ns, next, &ns)) {
      return std::nullopt;
    }
  }
  // The digits behind the point decide about rounding.
  if (before >= 0 && static_cast<std::size_t>(before) < count) {
    const auto first = static_cast<std::size_t>(before);
    bool rest = false;
    for (std::size_t i = first + 1; i < count; ++i)
      rest = rest || digit(i) != 0;
    const int tenth = digit(first);
    if (tenth > 5 || (tenth == 5 && (rest || ns % 2 == 1))) ++ns;
  }
  constexpr auto kLargest =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (ns > kLargest) return std::nullopt;
  const auto value = static_cast<std::int64_t>(ns);
  return negative ? -value : value;
}

}  // namespace weft::profile
