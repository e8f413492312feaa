// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_CUPTI_VERSIONS_H_
#define WEFT_GPU_CUPTI_VERSIONS_H_

#include <cstdint>

namespace weft::cupti {

// When weft may stamp the host's side of activities itself.
enum class TimestampUse : std::uint8_t {
  kNever,
  kBeforeContexts,  // only if CUDA was not initialised when CUPTI was opened
  kAlways,
};

// What a version of CUPTI, as cuptiGetVersion() says it, can be trusted with.
struct VersionPolicy {
  bool refused = false;
  TimestampUse timestamp = TimestampUse::kNever;
  // A buffer request may be answered with none; older versions can crash.
  bool may_refuse_buffers = true;
  // Disabling kernels while CUDA runs can deadlock.
  bool may_disable_kernels = true;
  // Graph launches of the second session on have wrong numbers.
  bool graph_joins_unsure = false;
  // What users should know of it; empty: nothing.
  const char* reason = "";
};

VersionPolicy policy_for(std::uint32_t version) noexcept;

}  // namespace weft::cupti

#endif  // WEFT_GPU_CUPTI_VERSIONS_H_
