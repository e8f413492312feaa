// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_INTERNAL_TICK_COUNTER_H_
#define WEFT_INTERNAL_TICK_COUNTER_H_

// Takes the place of runtime's header of this name where the clock is a test's.

#include "runtime/manual_clock.h"

namespace weft::internal {

inline Ticks read_monotonic() noexcept {
  return test::ManualClock::monotonic();
}
inline Ticks read_ticks() noexcept { return test::ManualClock::counter(); }
inline Ticks read_ticks_ordered() noexcept {
  return test::ManualClock::ordered();
}
inline Ticks read_ticks_fenced() noexcept {
  return test::ManualClock::counter();
}

}  // namespace weft::internal

#endif  // WEFT_INTERNAL_TICK_COUNTER_H_
