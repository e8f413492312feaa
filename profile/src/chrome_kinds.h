// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_CHROME_KINDS_H_
#define WEFT_PROFILE_SRC_CHROME_KINDS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "chrome_event.h"

namespace weft::profile {

// What a complete event is to the importers.
enum class ChromeKind : std::uint8_t {
  kHost,
  kCall,              // of a device's runtime or driver
  kDeviceWork,
  kDeviceAnnotation,  // a range or a wait drawn on a device row
  kProfiler,          // the profiler's own span
};
ChromeKind kind_of(const ChromeEvent& event) noexcept;

// The end of a complete event that has usable times.
std::optional<std::int64_t> end_of(const ChromeEvent& event) noexcept;

// A step's name without its number.
std::string_view row_name(std::string_view name) noexcept;

// The device that a row of device work names, or 0.
int device_index_of(const ChromeEvent& event) noexcept;

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_CHROME_KINDS_H_
