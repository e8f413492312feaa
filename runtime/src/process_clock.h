// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_PROCESS_CLOCK_H_
#define WEFT_SRC_PROCESS_CLOCK_H_

// What now_ticks() and ticks_to_ns() of weft/clock.h show, seen from the side
// that sets it.

#include "clock_source.h"
#include "weft/clock_anchor.h"

namespace weft {

// Makes the chosen counter the process's clock; again after a fallback. A line
// that was frozen by an earlier call for the counter stays.
//
// One thread at a time. Cold.
void publish_process_clock(const ClockSource& source, const ClockAnchor& first);

// Freezes the line as soon as `anchor` lies 50 ms behind the first anchor of
// its epoch; does nothing once it is frozen. True when this call did it.
//
// One thread at a time: that which takes anchors.
bool offer_to_frozen_line(const ClockAnchor& anchor);

}  // namespace weft

#endif  // WEFT_SRC_PROCESS_CLOCK_H_
