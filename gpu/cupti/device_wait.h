// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_CUPTI_DEVICE_WAIT_H_
#define WEFT_GPU_CUPTI_DEVICE_WAIT_H_

#include "cupti/library.h"

namespace weft::cupti {

// Waits for each device on which the program has its context, and makes none
// where there is none. Captures of streams that other threads are in the middle
// of go on. Cold.
void wait_for_devices(const DriverCalls& driver);

// Devices of a driver that was initialised; -1: it was not, and is not now.
int device_count(const DriverCalls& driver);

}  // namespace weft::cupti

#endif  // WEFT_GPU_CUPTI_DEVICE_WAIT_H_
