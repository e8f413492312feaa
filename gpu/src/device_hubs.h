// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_SRC_DEVICE_HUBS_H_
#define WEFT_GPU_SRC_DEVICE_HUBS_H_

#include <memory>

#include "weft/gpu/device_family.h"

namespace weft {

class DeviceHub;

// Of the family's registered source, or of the one that weft brings; null if
// there is none. Thread-safe.
std::shared_ptr<DeviceHub> device_hub(DeviceFamily family);

}  // namespace weft

#endif  // WEFT_GPU_SRC_DEVICE_HUBS_H_
