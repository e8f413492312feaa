// SPDX-License-Identifier: Apache-2.0

// libcuda, as far as weft calls it.

#include <cuda.h>

#include <cstdlib>
#include <vector>

#include "gpu/cupti_stand_in/library.h"

namespace weft::test {
namespace {

// A handle is the address of one of these.
char g_contexts[64];
thread_local std::vector<int> t_contexts;

}  // namespace
}  // namespace weft::test

using weft::test::library;

extern "C" {

#define WEFT_STAND_IN __attribute__((visibility("default")))

WEFT_STAND_IN CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}
WEFT_STAND_IN CUresult cuDeviceGetCount(int* count) {
  if (!library().cuda_initialised) return CUDA_ERROR_NOT_INITIALIZED;
  *count = library().devices;
  return CUDA_SUCCESS;
}
WEFT_STAND_IN CUresult cuDevicePrimaryCtxGetState(CUdevice device,
                                                  unsigned* flags,
                                                  int* active) {
  *flags = 0;
  *active = library().contexts.count(device) != 0 ? 1 : 0;
  return CUDA_SUCCESS;
}
WEFT_STAND_IN CUresult cuDevicePrimaryCtxRetain(CUcontext* context,
                                                CUdevice device) {
  if (library().contexts.count(device) == 0) std::abort();  // would make one
  *context = reinterpret_cast<CUcontext>(&weft::test::g_contexts[device]);
  return CUDA_SUCCESS;
}
WEFT_STAND_IN CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  return CUDA_SUCCESS;
}
WEFT_STAND_IN CUresult cuCtxPushCurrent_v2(CUcontext context) {
  weft::test::t_contexts.push_back(static_cast<int>(
      reinterpret_cast<const char*>(context) - weft::test::g_contexts));
  return CUDA_SUCCESS;
}
WEFT_STAND_IN CUresult cuCtxPopCurrent_v2(CUcontext*) {
  weft::test::t_contexts.pop_back();
  return CUDA_SUCCESS;
}
WEFT_STAND_IN CUresult cuCtxSynchronize() {
  library().wait_for(weft::test::t_contexts.back());
  return CUDA_SUCCESS;
}
}  // extern "C"
