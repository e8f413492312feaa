// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_RUNTIME_MANUAL_CLOCK_H_
#define WEFT_TESTS_RUNTIME_MANUAL_CLOCK_H_

// The clock of a runtime that was compiled with manual_clock/ in front of its
// own headers: the counter and CLOCK_MONOTONIC show what a test sets. Spans,
// slow paths, the drainer and its anchors all read this one.
//
//   CLOCK_MONOTONIC = ns, the counter = ns + ahead, at 1 tick a ns
//
// Time passes by 100 ns with each read of CLOCK_MONOTONIC for an anchor or the
// self-test, half before and half after, so that an anchor is exact. Otherwise
// it stands still.

#include <atomic>
#include <cstdint>

#include "weft/record.h"

namespace weft::test {

struct ManualClock {
  static constexpr std::int64_t kMs = 1'000'000;

  static constexpr std::int64_t kStartNs = 18'000'000 * kMs;  // five hours up

  static inline std::atomic<std::int64_t> ns{kStartNs};
  static inline std::atomic<Ticks> ahead{0};
  static inline std::atomic<bool> invariant{true};
  static inline std::atomic<std::uint64_t> counter_reads{0};
  // What the calling thread reads instead; 0: nothing else.
  static inline thread_local Ticks stamp = 0;
  // Called after each ordered read, which is what an interval ends with.
  static inline std::atomic<void (*)()> after_ordered_read{nullptr};

  static void reset() {
    ns = kStartNs;
    ahead = 0;
    invariant = true;
  }
  static void advance(std::int64_t by_ns) { ns += by_ns; }
  // The counter alone.
  static void jump(std::int64_t ticks) { ahead += static_cast<Ticks>(ticks); }

  static Ticks monotonic() noexcept {
    return stamp != 0 ? stamp : static_cast<Ticks>(ns.load());
  }
  static Ticks counter() noexcept {
    ++counter_reads;
    return stamp != 0 ? stamp : static_cast<Ticks>(ns.load()) + ahead;
  }
  static Ticks ordered() noexcept {
    const Ticks now = counter();
    if (void (*call)() = after_ordered_read.exchange(nullptr)) call();
    return now;
  }
};

}  // namespace weft::test

#endif  // WEFT_TESTS_RUNTIME_MANUAL_CLOCK_H_
