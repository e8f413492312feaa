// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_DEVICE_ACTIVITY_H_
#define WEFT_GPU_DEVICE_ACTIVITY_H_

// What a device source reports. It is taken as a claim, not as the truth: each
// is looked at before anybody sees it, and what cannot be right is counted.

#include <cstdint>
#include <string_view>

#include "weft/record.h"

namespace weft {

enum class ActivityKind : std::uint8_t {
  kKernel = 1,
  kCopy = 2,      // memory to memory
  kFill = 3,      // memory to one value
  kSync = 4,      // somebody waits for the device
  kApi = 5,       // a call of the vendor's library, on the host
  kOverhead = 6,  // what the vendor's tracer takes for itself
};

// For DeviceClockPair::device: one clock stamps all of them.
inline constexpr std::uint32_t kAllDevices = 0xffffffff;

struct DeviceActivity {
  ActivityKind kind = ActivityKind::kKernel;
  std::uint32_t device = 0;  // ordinal, below DeviceAbilities::devices
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  // In the clock that DeviceAbilities names. Both 0: it was not measured.
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t correlation = 0;  // as DeviceSink::launch was told; 0: unknown
  std::uint64_t bytes = 0;        // of copies and fills
  std::uint32_t graph = 0;        // that launched it; 0: none
  std::uint64_t graph_node = 0;   // in that graph
  StringId name = StringId::kNone;
  std::string_view text{};  // the name, where `name` is none; copied
};

// What the clock of a device read while the host's clock (weft/clock.h) went
// from one tick to another.
struct DeviceClockPair {
  std::uint32_t device = 0;
  std::uint64_t device_time = 0;
  Ticks ticks_before = 0;
  Ticks ticks_after = 0;
};

}  // namespace weft

#endif  // WEFT_GPU_DEVICE_ACTIVITY_H_
