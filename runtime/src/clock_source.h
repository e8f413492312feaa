// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_CLOCK_SOURCE_H_
#define WEFT_SRC_CLOCK_SOURCE_H_

// Which counter stamps records: the processor's, if it can be trusted, or else
// CLOCK_MONOTONIC, whose ns are then the ticks (1 GHz).
//
// The counter is used if it is invariant, may be read, and passes a self-test.
// The name of the kernel's clock source is *not* the question: guests with a
// perfect counter run on "kvm-clock". Only the sources that a kernel turns to
// when it gave up on the counter speak against it.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "weft/clock_anchor.h"
#include "weft/record.h"

namespace weft {

enum class Processor : std::uint8_t { kX86, kArm, kOther };

// What the system says about the counter before it is read.
struct CpuFacts {
  Processor processor = Processor::kOther;
  bool invariant = false;  // one rate in all power states
  bool readable = false;   // reading does not fault
  std::string kernel_clock_source;
};

// All that weft reads of time, behind one seam, so that tests run on virtual
// time. The hot path does not come through here.
class ClockHardware {
 public:
  virtual ~ClockHardware() = default;
  virtual Ticks ticks() = 0;
  virtual Ticks ticks_fenced() = 0;  // nothing moves across it
  virtual std::int64_t ns(ClockId clock) = 0;
  virtual CpuFacts facts() = 0;      // asked once; cpuid may trap and take 7 us
};

// The machine itself. Thread-safe.
ClockHardware& system_clock_hardware();

enum class ClockRequest : std::uint8_t { kAuto, kTsc, kMonotonic };
enum class CounterKind : std::uint8_t { kTsc, kCntvct, kMonotonic };

class ClockSource {
 public:
  // Decides. Cold: the self-test takes 0.9 ms; none with kMonotonic, which also
  // never reads the counter. kTsc skips the questions about the processor and
  // the kernel but not the self-test: time that runs backwards is not what
  // anybody asks for.
  //
  // `hardware` must outlive this.
  ClockSource(ClockHardware& hardware, ClockRequest request);

  // All that describes the source may be read while the drainer gives it up.
  // Relaxed: each a figure of its own.
  CounterKind counter() const noexcept {
    return counter_.load(std::memory_order_relaxed);
  }
  const char* name() const noexcept;  // "tsc", "cntvct" or "monotonic"
  std::string reason() const;

  // From the self-test, good to some 100 ppm. Anchors know it better.
  double tick_hz() const noexcept {
    return tick_hz_.load(std::memory_order_relaxed);
  }
  std::uint64_t scale() const noexcept;  // ns per tick * 2^40
  // How long the counter stands still between two values.
  std::uint32_t step_ns() const noexcept {
    return step_ns_.load(std::memory_order_relaxed);
  }

  Ticks ticks_fenced() const;
  std::int64_t ns(ClockId clock) const { return hardware_->ns(clock); }

  // Gives the counter up for CLOCK_MONOTONIC. One thread at a time.
  void fall_back(std::string reason);

 private:
  void choose_counter(ClockRequest request);

  ClockHardware* hardware_;
  std::atomic<CounterKind> counter_{CounterKind::kMonotonic};
  mutable std::mutex mutex_;  // for reason_, after construction
  std::string reason_;
  std::atomic<double> tick_hz_{1e9};
  std::atomic<std::uint32_t> step_ns_{1};
};

}  // namespace weft

#endif  // WEFT_SRC_CLOCK_SOURCE_H_
