// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_SRC_BUILT_IN_SOURCES_H_
#define WEFT_GPU_SRC_BUILT_IN_SOURCES_H_

#include <memory>

#include "weft/gpu/device_family.h"

namespace weft {

class DeviceHub;

// The source that weft brings for a family that nobody registered one for; null
// if it brings none. Nothing is opened. Thread-safe. Cold.
std::shared_ptr<DeviceHub> built_in_hub(DeviceFamily family);

}  // namespace weft

#endif  // WEFT_GPU_SRC_BUILT_IN_SOURCES_H_
