// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_SIDE_CHANNEL_H_
#define WEFT_SRC_SIDE_CHANNEL_H_

#include <cstdint>

#include "weft/ringbuf/platform.h"
#include "weft/ringbuf/side_ring.h"

namespace weft {

// Records of signal handlers that interrupted a record of their own thread, and
// of threads that are past their end. 1024 records of up to 8 slots, 144 KiB:
// at a 10 kHz timer in which every tenth signal hits a record, that is a second
// of them.
using SideChannel = ringbuf::BasicSideRing<ringbuf::Platform, 1024>;

}  // namespace weft

#endif  // WEFT_SRC_SIDE_CHANNEL_H_
