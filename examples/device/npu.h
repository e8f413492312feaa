// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXAMPLES_DEVICE_NPU_H_
#define WEFT_EXAMPLES_DEVICE_NPU_H_

// The library of an accelerator that does not exist: a thread plays the device.

#include <memory>

#include "weft/gpu/device_source.h"

extern "C" {

// Queues a kernel that runs for so long; returns at once. Thread-safe.
void npu_launch(const char* kernel, unsigned microseconds);

// What the vendor gives to profilers. Looked up by name in the library, so that
// a program without the device needs nothing of it.
void npu_device_source(std::shared_ptr<weft::DeviceSource>* source);
}

#endif  // WEFT_EXAMPLES_DEVICE_NPU_H_
