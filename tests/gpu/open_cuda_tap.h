// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_GPU_OPEN_CUDA_TAP_H_
#define WEFT_TESTS_GPU_OPEN_CUDA_TAP_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "weft/gpu/device_tap.h"

namespace weft::test {

inline DeviceTap open_tap(const DeviceConfig& config = {}) {
  Result<DeviceTap> tap = DeviceTap::open(DeviceFamily::kCuda, config);
  if (!tap.ok()) {
    ADD_FAILURE() << tap.error().message;
    std::abort();
  }
  return std::move(tap).value();
}

}  // namespace weft::test

#endif  // WEFT_TESTS_GPU_OPEN_CUDA_TAP_H_
