// SPDX-License-Identifier: Apache-2.0
#include "weft/internal/gpu_state.h"

#include <mutex>
#include <utility>

namespace weft::internal {
namespace {

struct GpuState {
  std::mutex mutex;
  std::string text = "off: no session has asked for a GPU";
};

// Never destroyed: sources may end in destructors of other statics.
GpuState& state() {
  static GpuState& only = *new GpuState;
  return only;
}

}  // namespace

void set_gpu_state(std::string text) {
  GpuState& gpu = state();
  const std::scoped_lock lock(gpu.mutex);
  gpu.text = std::move(text);
}

std::string gpu_state() {
  GpuState& gpu = state();
  const std::scoped_lock lock(gpu.mutex);
  return gpu.text;
}

}  // namespace weft::internal
