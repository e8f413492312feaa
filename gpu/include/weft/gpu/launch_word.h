// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_LAUNCH_WORD_H_
#define WEFT_GPU_LAUNCH_WORD_H_

#include <cstdint>

#include "weft/gpu/device_family.h"

namespace weft {

// What a launch record (RecordKind::kLaunch) says as its call: the device
// family in the upper 8 bits, since the numbers of two families may be equal,
// and the source's own number of the call below.
constexpr std::uint32_t launch_word(DeviceFamily family,
                                    std::uint32_t call) noexcept {
  return (static_cast<std::uint32_t>(family) + 1) << 24 | (call & 0xffffff);
}

}  // namespace weft

#endif  // WEFT_GPU_LAUNCH_WORD_H_
