// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_INTERNAL_GPU_STATE_H_
#define WEFT_INTERNAL_GPU_STATE_H_

#include <string>

#include "weft/internal/api.h"

namespace weft::internal {

// What RuntimeStatus::gpu says from now on. The sources of devices lie above
// the runtime, so they tell. Thread-safe. Cold.
WEFT_API void set_gpu_state(std::string state);
WEFT_API std::string gpu_state();

}  // namespace weft::internal

#endif  // WEFT_INTERNAL_GPU_STATE_H_
