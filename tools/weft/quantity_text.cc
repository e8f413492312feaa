// SPDX-License-Identifier: Apache-2.0
#include "quantity_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <ctime>

namespace weft::tools {
namespace {

struct Unit {
  std::uint64_t size;
  const char* name;
};

// Rounds before it chooses the unit, so that 999.7 ns is "1.00µs".
std::string three_digits(std::uint64_t value, Unit unit) {
  if (unit.size == 1) return fmt::format("{}{}", value, unit.name);
  const auto rounded = [&](std::uint64_t parts) {  // in 1/parts of the unit
    const std::uint64_t step = unit.size / parts;
    return value / step + (value % step >= step / 2 ? 1 : 0);
  };
  if (const std::uint64_t hundredths = rounded(100); hundredths < 1000)
    return fmt::format("{}.{:02}{}", hundredths / 100, hundredths % 100,
                       unit.name);
  if (const std::uint64_t tenths = rounded(10); tenths < 1000)
    return fmt::format("{}.{}{}", tenths / 10, tenths % 10, unit.name);
  return fmt::format("{}{}", rounded(1), unit.name);
}

template <std::size_t kUnits>
std::string in_units(std::uint64_t value, const std::array<Unit, kUnits>& units) {
  for (std::size_t i = 0; i + 1 < kUnits; ++i) {
    const std::uint64_t size = units[i].size;
    if (value < size * 1000 - size / 2) return three_digits(value, units[i]);
  }
  return three_digits(value, units[kUnits - 1]);
}

}  // namespace

std::string duration_text(std::uint64_t ns) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  if (ns < 999 * kSecond + kSecond / 2) {
    static constexpr std::array<Unit, 4> kUnits{
        {{1, "ns"}, {1'000, "µs"}, {1'000'000, "ms"}, {kSecond, "s"}}};
    return in_units(ns, kUnits);
  }
  const std::uint64_t seconds = ns / kSecond;
  if (seconds < 3600)
    return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  if (seconds < 86'400)
    return fmt::format("{}h{:02}m", seconds / 3600, seconds % 3600 / 60);
  return fmt::format("{}d{:02}h", seconds / 86'400, seconds % 86'400 / 3600);
}

std::string count_text(std::uint64_t count) {
  const std::string digits = fmt::format("{}", count);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string bytes_text(std::uint64_t bytes) {
  static constexpr std::array<Unit, 4> kUnits{{{1, " bytes"},
                                               {1'000, " kB"},
                                               {1'000'000, " MB"},
                                               {1'000'000'000, " GB"}}};
  return in_units(bytes, kUnits);
}

std::string value_text(long double value) {
  constexpr long double kWhole = 1e15L;
  if (std::isfinite(value) && value == std::floor(value) &&
      std::fabs(value) < kWhole) {
    const auto whole = static_cast<std::int64_t>(value);
    const auto size = static_cast<std::uint64_t>(whole < 0 ? -whole : whole);
    return fmt::format("{}{}", whole < 0 ? "-" : "", count_text(size));
  }
  return fmt::format("{:.6g}", value);
}

std::string plural(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count_text(count), noun, count == 1 ? "" : "s");
}

std::string date_text(std::int64_t unix_ns) {
  std::int64_t seconds = unix_ns / 1'000'000'000;
  std::int64_t rest = unix_ns % 1'000'000'000;
  if (rest < 0) {
    rest += 1'000'000'000;
    --seconds;
  }
  const auto time = static_cast<std::time_t>(seconds);
  std::tm utc{};
  if (gmtime_r(&time, &utc) == nullptr) return fmt::format("{} ns", unix_ns);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:06} UTC",
                     utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec, rest / 1000);
}

std::size_t utf8_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) {
    return static_cast<unsigned>(static_cast<unsigned char>(text[i]));
  };
  if (text.empty()) return 0;
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  unsigned code = first & (0x7fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  const bool overlong = (size == 3 && code < 0x800) ||
                        (size == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return overlong || surrogate || code > 0x10ffff ? 0 : size;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = utf8_length(text);
    const auto first = static_cast<unsigned char>(text[0]);
    // U+0080 to U+009F steer terminals as C0 does.
    const bool control =
        size == 1 ? first < 0x20 || first == 0x7f
                  : size == 2 && first == 0xc2 &&
                        static_cast<unsigned char>(text[1]) < 0xa0;
    const std::size_t taken = size == 0 ? 1 : size;
    if (size == 0 || control) {
      for (const char c : text.substr(0, taken))
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += text.substr(0, taken);
    }
    text.remove_prefix(taken);
  }
  return out;
}

std::size_t text_width(std::string_view text) noexcept {
  std::size_t width = 0;
  for (const char c : text)
    width += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return width;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (text_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  const std::size_t front = (width - 1 + 1) / 2;
  const std::size_t back = width - 1 - front;
  const auto is_start = [&](std::size_t i) {
    return (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
  };
  std::size_t head = 0;
  for (std::size_t seen = 0; head < text.size(); ++head)
    if (is_start(head) && seen++ == front) break;
  std::size_t tail = text.size();
  for (std::size_t seen = 0; seen < back; --tail)
    if (is_start(tail - 1)) ++seen;
  return fmt::format("{}…{}", text.substr(0, head), text.substr(tail));
}

}  // namespace weft::tools
