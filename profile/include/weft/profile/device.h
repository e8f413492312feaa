// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_DEVICE_H_
#define WEFT_PROFILE_DEVICE_H_

// Where work ran or memory lies, and the groups that tables show columns for.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "weft/gpu/device_family.h"
#include "weft/profile/wrapping_sum.h"

namespace weft {

// kCpu, kMkldnn and kIdeep are the host's memory; only kCpu is a host row.
enum class DeviceType : std::uint8_t {
  kCpu,
  kMkldnn,
  kIdeep,
  kCuda,
  kHip,
  kXpu,
  kMtia,
  kCustom,  // the one out-of-tree backend, known by EventListOptions' name
};

// None for the host.
constexpr std::optional<DeviceFamily> family_of(DeviceType type) noexcept {
  switch (type) {
    case DeviceType::kCpu:
    case DeviceType::kMkldnn:
    case DeviceType::kIdeep:
      return std::nullopt;
    case DeviceType::kCuda:
    case DeviceType::kHip:
      return DeviceFamily::kCuda;
    case DeviceType::kXpu:
      return DeviceFamily::kXpu;
    case DeviceType::kMtia:
      return DeviceFamily::kMtia;
    case DeviceType::kCustom:
      return DeviceFamily::kCustom;
  }
  return std::nullopt;
}

// One number a device family: nanoseconds or bytes.
class PerFamily {
 public:
  std::int64_t& operator[](DeviceFamily family) noexcept {
    return values_[static_cast<std::size_t>(family)];
  }
  std::int64_t operator[](DeviceFamily family) const noexcept {
    return values_[static_cast<std::size_t>(family)];
  }
  PerFamily& operator+=(const PerFamily& other) noexcept {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      add_wrapping(values_[i], other.values_[i]);
    }
    return *this;
  }
  PerFamily& operator-=(const PerFamily& other) noexcept {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      subtract_wrapping(values_[i], other.values_[i]);
    }
    return *this;
  }
  std::int64_t sum() const noexcept {
    std::int64_t total = 0;
    for (const std::int64_t value : values_) add_wrapping(total, value);
    return total;
  }

 private:
  std::array<std::int64_t, kDeviceFamilies> values_{};
};

}  // namespace weft

#endif  // WEFT_PROFILE_DEVICE_H_
