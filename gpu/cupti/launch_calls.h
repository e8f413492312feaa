// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_CUPTI_LAUNCH_CALLS_H_
#define WEFT_GPU_CUPTI_LAUNCH_CALLS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "cupti/library.h"

namespace weft::cupti {

struct LaunchCall {
  Domain domain;
  std::uint32_t call;
};

// Whether a call of that name hands work to a device.
bool is_launch_name(std::string_view name) noexcept;

// The calls that this library knows and that hand work to a device. Chosen by
// name: a list of numbers misses what the next release of CUDA adds. Cold:
// 0.3 ms.
std::vector<LaunchCall> launch_calls(const CuptiCalls& calls);

}  // namespace weft::cupti

#endif  // WEFT_GPU_CUPTI_LAUNCH_CALLS_H_
