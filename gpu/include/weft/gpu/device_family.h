// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_DEVICE_FAMILY_H_
#define WEFT_GPU_DEVICE_FAMILY_H_

#include <cstddef>
#include <cstdint>

namespace weft {

// Devices whose times are added up in one column. kCustom is the one slot for
// a backend that nobody here knows; it goes by the name it was registered with.
enum class DeviceFamily : std::uint8_t { kCuda, kXpu, kMtia, kCustom };
inline constexpr std::size_t kDeviceFamilies = 4;

constexpr const char* name_of(DeviceFamily family) noexcept {
  switch (family) {
    case DeviceFamily::kCuda:
      return "cuda";
    case DeviceFamily::kXpu:
      return "xpu";
    case DeviceFamily::kMtia:
      return "mtia";
    case DeviceFamily::kCustom:
      return "custom";
  }
  return "?";
}

}  // namespace weft

#endif  // WEFT_GPU_DEVICE_FAMILY_H_
