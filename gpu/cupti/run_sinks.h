// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_CUPTI_RUN_SINKS_H_
#define WEFT_GPU_CUPTI_RUN_SINKS_H_

#include <cstdint>
#include <memory>

#include "weft/gpu/device_source.h"

namespace weft::cupti {

// Where the buffers of each run belong. A buffer may come back when its run is
// long over, and must not land in the next one's sink. The newest 64 runs are
// remembered. Thread-safe. Cold; not for callbacks.
void remember_run(std::uint32_t run, std::shared_ptr<DeviceSink> sink);
// Null if it was forgotten.
std::shared_ptr<DeviceSink> sink_of_run(std::uint32_t run);
// When CUPTI holds no buffer, older runs have nothing to come.
void forget_runs_before(std::uint32_t run);

}  // namespace weft::cupti

#endif  // WEFT_GPU_CUPTI_RUN_SINKS_H_
