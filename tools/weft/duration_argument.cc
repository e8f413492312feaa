// SPDX-License-Identifier: Apache-2.0
#include "duration_argument.h"

#include <charconv>
#include <utility>

namespace weft::tools {

std::optional<std::chrono::nanoseconds> duration_argument(
    std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ns", 1},   {"us", 1e3},  {"ms", 1e6},
      {"s", 1e9},  {"m", 60e9},  {"h", 3600e9}};
  constexpr double kMost = 9e18;  // about what 64 bits hold

  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  for (const auto& [name, ns] : kUnits) {
    if (unit != name) continue;
    const double product = number * ns;
    if (!(product >= 1 && product <= kMost)) return std::nullopt;
    return std::chrono::nanoseconds(static_cast<std::int64_t>(product));
  }
  return std::nullopt;
}

}  // namespace weft::tools
