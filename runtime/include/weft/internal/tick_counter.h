// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_INTERNAL_TICK_COUNTER_H_
#define WEFT_INTERNAL_TICK_COUNTER_H_

// The processor's counter, read as cheaply as it can be.
//
//   read_ticks          nothing waits: the read may happen some ns early. For
//                       begins, ends, instants and the start of an arrow.
//   read_ticks_ordered  waits for the instructions before it. For the end of an
//                       arrow (flow in, lock taken): a stamp there must not be
//                       older than what it follows. 7 ns more.
//   read_ticks_fenced   also holds back what comes after. For calibration only:
//                       in front of an unlock it makes the order worse.
//   read_monotonic      ns of CLOCK_MONOTONIC, for machines without a usable
//                       counter.
//
// Hot: one or two instructions, no call but for read_monotonic (the vdso).

#include <time.h>

#include <cstdint>

#include "weft/record.h"

namespace weft::internal {

inline Ticks read_monotonic() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<Ticks>(now.tv_sec) * 1'000'000'000u +
         static_cast<Ticks>(now.tv_nsec);
}

#if defined(__x86_64__)

// `rdtscp` is not used: processors exist that do not announce it, and it orders
// no better than `lfence; rdtsc`.
inline Ticks read_ticks() noexcept { return __builtin_ia32_rdtsc(); }

inline Ticks read_ticks_ordered() noexcept {
  std::uint32_t low, high;
  asm volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
  return Ticks{high} << 32 | low;
}

inline Ticks read_ticks_fenced() noexcept {
  std::uint32_t low, high;
  asm volatile("lfence\n\trdtsc\n\tlfence"
               : "=a"(low), "=d"(high)
               :
               : "memory");
  return Ticks{high} << 32 | low;
}

#elif defined(__aarch64__)

inline Ticks read_ticks() noexcept {
  Ticks ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}

inline Ticks read_ticks_ordered() noexcept {
  Ticks ticks;
  asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
  return ticks;
}

inline Ticks read_ticks_fenced() noexcept {
  Ticks ticks;
  asm volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
  return ticks;
}

#else

// No counter is known for this processor; the choice of clock never picks it.
inline Ticks read_ticks() noexcept { return read_monotonic(); }
inline Ticks read_ticks_ordered() noexcept { return read_monotonic(); }
inline Ticks read_ticks_fenced() noexcept { return read_monotonic(); }

#endif

}  // namespace weft::internal

#endif  // WEFT_INTERNAL_TICK_COUNTER_H_
