// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/quantity_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace weft {
namespace {

constexpr double kMicrosecondsPerMillisecond = 1e3;
constexpr double kMicrosecondsPerSecond = 1e6;

std::string format_bytes(std::int64_t bytes,
                         const std::array<const char*, 4>& units) {
  constexpr double kStep = 1024;
  // As doubles: the smallest integer has no positive counterpart.
  const double value = static_cast<double>(bytes);
  const double size = std::fabs(value);
  if (size < kStep) return fmt::format("{} {}", bytes, units[0]);
  if (size < kStep * kStep)
    return fmt::format("{:.2f} {}", value / kStep, units[1]);
  if (size < kStep * kStep * kStep) {
    return fmt::format("{:.2f} {}", value / (kStep * kStep), units[2]);
  }
  return fmt::format("{:.2f} {}", value / (kStep * kStep * kStep), units[3]);
}

}  // namespace

std::string format_time(double microseconds, TimeUnit unit) {
  if (unit == TimeUnit::kAuto) {
    unit = microseconds >= kMicrosecondsPerSecond ? TimeUnit::kSeconds
           : microseconds >= kMicrosecondsPerMillisecond
               ? TimeUnit::kMilliseconds
               : TimeUnit::kMicroseconds;
  }
  switch (unit) {
    case TimeUnit::kSeconds:
      return fmt::format("{:.3f}s", microseconds / kMicrosecondsPerSecond);
    case TimeUnit::kMilliseconds:
      return fmt::format("{:.3f}ms",
                         microseconds / kMicrosecondsPerMillisecond);
    case TimeUnit::kMicroseconds:
    case TimeUnit::kAuto:
      break;
  }
  return fmt::format("{:.3f}us", microseconds);
}

std::string format_time_share(std::int64_t part_ns, std::int64_t total_ns) {
  if (total_ns == 0) return "NaN";
  // Through microseconds, as the reference computes: the same digits.
  const double part_us = static_cast<double>(part_ns) / 1000.0;
  const double total_us = static_cast<double>(total_ns) / 1000.0;
  return fmt::format("{:.2f}%", part_us * 100.0 / total_us);
}

std::string format_memory(std::int64_t bytes) {
  return format_bytes(bytes, {"B", "KB", "MB", "GB"});
}

std::string format_memory_reference(std::int64_t bytes) {
  return format_bytes(bytes, {"b", "Kb", "Mb", "Gb"});
}

FlopsScale flops_scale(std::uint64_t smallest) noexcept {
  constexpr std::array<const char*, 6> kUnits = {"FLOPs",  "KFLOPs", "MFLOPs",
                                                 "GFLOPs", "TFLOPs", "PFLOPs"};
  if (smallest == 0) return {};
  const double thousands =
      std::clamp(std::log10(static_cast<double>(smallest)) / 3, 0.0,
                 static_cast<double>(kUnits.size() - 1));
  const double unit = std::floor(thousands);
  return {std::pow(10.0, -3.0 * unit), kUnits[static_cast<std::size_t>(unit)]};
}

std::string format_flops(std::optional<std::uint64_t> flops,
                         const FlopsScale& scale) {
  if (flops.value_or(0) == 0) return "--";
  return fmt::format("{:8.3f}", static_cast<double>(*flops) * scale.factor);
}

}  // namespace weft
