// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_CLOCK_H_
#define WEFT_CLOCK_H_

// The clock that stamps records, for programs that want to compare with it.
//
//   weft::Ticks begin = weft::now_ticks();
//   ...
//   std::int64_t ns =
//       weft::ticks_to_ns(weft::now_ticks()) - weft::ticks_to_ns(begin);
//
// Two conversions exist. `ticks_to_ns` is one straight line, frozen about 50 ms
// after the start and never changed again: right for live durations, good to
// 0.2 ppm plus whatever NTP slews. `ClockLine` (weft/clock_line.h) goes through
// the anchors of a trace with a stated bound: right for files.

#include <atomic>
#include <cstdint>

#include "weft/internal/api.h"
#include "weft/internal/tick_counter.h"
#include "weft/internal/tick_scale.h"
#include "weft/record.h"

namespace weft {

namespace internal {

struct FrozenLine {
  Ticks tick = 0;
  std::int64_t ns = 0;
  std::uint64_t scale = kOneNsPerTick;
};

// Edge [L]: a line is complete before its address is stored with release, and
// is not written afterwards. Readers load with acquire.
extern WEFT_API std::atomic<const FrozenLine*> frozen_line;

// Whether ticks are ns of CLOCK_MONOTONIC. Alone it orders nothing, so it is
// read relaxed: a thread that sees it late stamps some more records with the
// old clock, and those say so.
extern WEFT_API std::atomic<bool> ticks_are_monotonic;

}  // namespace internal

// The present tick of the clock that stamps records.
//
// Before the first init() ticks are ns of CLOCK_MONOTONIC; init() may choose
// the processor's counter, and a counter that proves bad is given up for
// CLOCK_MONOTONIC. Do not subtract ticks from two sides of such a change.
//
// Thread-safe. Hot: one relaxed load and the read.
inline Ticks now_ticks() noexcept {
  return internal::ticks_are_monotonic.load(std::memory_order_relaxed)
             ? internal::read_monotonic()
             : internal::read_ticks();
}

// `tick` in ns, near CLOCK_MONOTONIC. In the first 50 ms after init() the line
// is a provisional one (good to about 100 ppm); when the final one replaces it
// the result may step by some microseconds, once.
//
// Thread-safe. Hot: one load and one multiplication.
inline std::int64_t ticks_to_ns(Ticks tick) noexcept {
  const internal::FrozenLine* line =
      internal::frozen_line.load(std::memory_order_acquire);  // [L]
  return internal::line_at(tick, line->tick, line->ns, line->scale);
}

}  // namespace weft

#endif  // WEFT_CLOCK_H_
