// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_CLOCK_ANCHORS_H_
#define WEFT_SRC_CLOCK_ANCHORS_H_

// Takes the anchors that turn ticks into time, and notices when the counter
// cannot be trusted across two of them.
//
//   round:  tick MONOTONIC tick RAW tick REALTIME tick BOOTTIME tick
//               `--bracket--'
//
// For each clock the narrowest bracket of 8 rounds counts; its middle is the
// tick, half of it and one step of the counter is what can be wrong. The first
// round is cold and dropped. 5 us in all, of which one pays for every clock.
//
// A break ends an epoch, and no line of time crosses one:
//
//   suspend      BOOTTIME grew 1 ms more than MONOTONIC   explained
//   backwards    the counter fell                         a fault
//   jump         the counter missed its prediction        a fault
//   rate         after a fault it runs at another rate    (no epoch of its own)
//   step         REALTIME moved against BOOTTIME          only its own map
//
// Three faults within 60 s and the counter should be given up.

#include <array>
#include <cstdint>
#include <string>

#include "clock_source.h"
#include "weft/clock_anchor.h"

namespace weft {

// One anchor, without judgement: flags can be kAnchorWide and
// kAnchorMonotonicTicks, the epoch is 0. Cold: 5 us.
ClockAnchor sample_clocks(const ClockSource& source);

struct ClockBreaks {
  std::uint64_t suspends = 0;
  std::uint64_t backwards = 0;
  std::uint64_t jumps = 0;
  std::uint64_t rate_changes = 0;
  std::uint64_t realtime_steps = 0;
};

// The state machine behind the table above. Reads no clock.
class BreakDetector {
 public:
  // `nominal_scale` (ns per tick * 2^40) serves until the anchors know better,
  // and only to compare clocks that were read within microseconds.
  explicit BreakDetector(std::uint64_t nominal_scale)
      : nominal_scale_(nominal_scale) {}

  // Judges `anchor` against the ones before: sets its epoch and adds flags.
  // `ring_fell`: a thread's stamps went back by more than 2 us since the last
  // anchor, which the anchors themselves may not show.
  void observe(ClockAnchor& anchor, bool ring_fell = false);

  // The counter's ticks end here and CLOCK_MONOTONIC's begin.
  void restart(std::uint64_t nominal_scale);

  bool fallback_due() const noexcept { return fallback_due_; }
  const ClockBreaks& breaks() const noexcept { return breaks_; }

 private:
  std::int64_t growth(const ClockAnchor& anchor, ClockId clock, ClockId other,
                      bool rate_known) const;
  bool misses_prediction(const ClockAnchor& anchor) const;
  void learn_rate(ClockAnchor& anchor);
  void count_fault(std::int64_t now_ns);

  std::uint64_t nominal_scale_;
  std::uint64_t scale_ = 0;      // of the last good piece; 0: none in this run
  std::uint64_t old_scale_ = 0;  // before the last fault; 0: nothing to compare
  bool has_last_ = false;
  ClockAnchor last_;             // the last that is exact enough to judge by
  std::uint32_t epoch_ = 0;
  ClockBreaks breaks_;
  std::array<std::int64_t, 3> fault_ns_{};  // the last three, a ring
  std::uint64_t faults_ = 0;
  bool fallback_due_ = false;
};

// Both together, for the drainer. One thread at a time.
class AnchorTaker {
 public:
  // `source` must outlive this.
  explicit AnchorTaker(ClockSource& source)
      : source_(&source), detector_(source.scale()) {}

  ClockAnchor take(bool ring_fell = false);

  // True once three faults came within 60 s, until fall_back().
  bool fallback_due() const noexcept { return detector_.fallback_due(); }

  // Switches the source to CLOCK_MONOTONIC and takes the first anchor of the
  // new epoch. What is stamped afterwards must carry kFlagMonotonic.
  ClockAnchor fall_back();

  const ClockBreaks& breaks() const noexcept { return detector_.breaks(); }

 private:
  ClockSource* source_;
  BreakDetector detector_;
};

}  // namespace weft

#endif  // WEFT_SRC_CLOCK_ANCHORS_H_
