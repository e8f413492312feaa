// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_DEVICE_REGISTRY_H_
#define WEFT_GPU_DEVICE_REGISTRY_H_

// The device sources of this process: one a family. Where none is registered
// for kCuda, weft's own ("cupti") is there, which opens nothing until it is
// asked.

#include <memory>
#include <string>

#include "weft/gpu/device_family.h"
#include "weft/gpu/device_source.h"
#include "weft/internal/api.h"
#include "weft/result.h"

namespace weft {

struct RegisteredDevice {
  DeviceFamily family = DeviceFamily::kCustom;
  std::string name;
  std::shared_ptr<DeviceSource> source;
};

// `name` is what messages say; of kCustom it is also what users ask for and
// what tables show. 1 to 32 of a-z, 0-9, '_' and '-'.
// Errors: kInvalidArgument  the name has other characters or another length, or
//                           is a word for another device; or there is no source
//         kBusy             the family has a source, which the message names
// Thread-safe. Cold.
WEFT_API Result<void> register_device_source(
    DeviceFamily family, std::string name,
    std::shared_ptr<DeviceSource> source);

// False if none was registered. Sessions that use it go on. Thread-safe. Cold.
WEFT_API bool unregister_device_source(DeviceFamily family);

// Errors: kUnavailable  nobody registered one
// Thread-safe. Cold.
[[nodiscard]] WEFT_API Result<RegisteredDevice> device_source(
    DeviceFamily family);

// What the source says of itself. If there is none, or it throws, it can do
// nothing, and `reason` says why. Thread-safe. Cold.
WEFT_API DeviceAbilities probe_device_source(DeviceFamily family);

}  // namespace weft

#endif  // WEFT_GPU_DEVICE_REGISTRY_H_
