// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_CLOCK_LINE_H_
#define WEFT_CLOCK_LINE_H_

// From ticks to time, through the anchors of a trace.
//
//   ns  |                         . after: last good slope, "extrapolated"
//       |                    B3 .
//       |               ___/
//       |        B2 __/                 B1..B3 anchors, pieces between them
//       |   B1 /
//       | . before: first good slope, "extrapolated"
//       +------------------------------------------------ ticks
//
// Trace time is CLOCK_MONOTONIC. The other clocks have lines of their own,
// which may step; durations and order come from MONOTONIC only.
//
// Times between two anchors are final: more anchors do not change them. Time
// never decreases with the tick, except where the counter itself broke (it
// fell, jumped, or the machine slept); there, times are kept between the
// anchors on both sides, flagged as extrapolated, and corrections() says what
// happened. Each time has a bound, computed from the anchors, not assumed;
// weft/internal/anchored_line.h says how.
//
// Anchors may come from a damaged or hostile file. Every answer is then
// defined, if useless; what cannot be right is left out and listed.
//
// Ticks that already are ns of CLOCK_MONOTONIC need nothing special: their
// anchors make the identity. When a session gives its counter up for
// CLOCK_MONOTONIC half way, the line stays that of the counter; records with
// kFlagMonotonic then carry their ns themselves.

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "weft/clock_anchor.h"
#include "weft/internal/anchored_line.h"
#include "weft/internal/api.h"
#include "weft/record.h"

namespace weft {

// What happened to the clocks during a trace, for its metadata.
struct ClockCorrection {
  enum class Kind : std::uint8_t {
    kSuspend,       // amount: how long the machine slept
    kBackwards,     // amount: by how much the counter fell, if anchors show it
    kJump,          // amount: by how much the counter missed its prediction
    kRateChange,
    kRealtimeStep,  // amount: by how much CLOCK_REALTIME stepped
    kBreak,         // a new epoch without a stated reason
    kFallback,      // from here CLOCK_MONOTONIC stamps records
    kDamaged,       // an anchor that cannot be right was left out
  };
  Kind kind = Kind::kBreak;
  std::int64_t at_ns = 0;  // MONOTONIC of the anchor that showed it
  std::int64_t amount_ns = 0;
  std::string text;        // for a person
};

class WEFT_API ClockLine {
 public:
  // The bound where nothing is known.
  static constexpr std::int64_t kNoBound = internal::AnchoredLine::kNoBound;
  // A file with more is damaged; anchors behind the last epoch are left out.
  static constexpr std::size_t kMaxEpochs = internal::AnchoredLine::kMaxEpochs;
  // More are counted only.
  static constexpr std::size_t kMaxCorrections = 1000;

  // Remembers where the last lookup was. One for each thread whose records are
  // converted: it is also what tells the ticks of two epochs apart when the
  // counter went back and they overlap. Starts at the first epoch.
  using Cursor = internal::AnchoredLine::Cursor;

  static constexpr std::size_t kKeepAll =
      (std::numeric_limits<std::size_t>::max)();

  // `tick_hz` is the rate to assume while fewer than two anchors are known;
  // 1 GHz if it is unknown or absurd. Who runs for months and converts only
  // what is new keeps the newest `keep_anchors` (and up to as many more);
  // 192 bytes each.
  explicit ClockLine(double tick_hz = 0, std::size_t keep_anchors = kKeepAll);

  // Takes the next anchor, in the order in which they were taken. Not
  // thread-safe: nobody may look up meanwhile. Amortised constant.
  void add(const ClockAnchor& anchor);

  // The time of a tick, in ns of `clock`. Thread-safe.
  std::int64_t to_ns(Ticks tick,
                     ClockId clock = ClockId::kMonotonic) const noexcept {
    Cursor fresh;
    return line_of(clock).to_ns(tick, fresh);
  }

  // The same for MONOTONIC, 2 to 5 ns when ticks mostly increase. Thread-safe
  // with a cursor for each thread. Hot: no allocation.
  std::int64_t to_ns(Ticks tick, Cursor& cursor) const noexcept {
    return lines_[0].to_ns(tick, cursor);
  }

  // Whether the time of `tick` is not between two anchors of one epoch.
  bool is_extrapolated(Ticks tick, ClockId clock = ClockId::kMonotonic) const {
    return line_of(clock).is_extrapolated(tick);
  }

  // How far to_ns(tick, clock) can be from the truth; kNoBound if that is
  // unknown. A duration can be off by two bounds.
  std::int64_t bound_ns(Ticks tick,
                        ClockId clock = ClockId::kMonotonic) const {
    return line_of(clock).bound_ns(tick);
  }

  // The largest bound between the first and the last anchor; kNoBound with
  // fewer than two.
  std::int64_t max_bound_ns(ClockId clock = ClockId::kMonotonic) const {
    return line_of(clock).max_bound_ns();
  }

  // The best estimate of the counter's present rate.
  double ns_per_tick() const;

  // Anchors of the line of MONOTONIC so far, and the last one's tick (0 if
  // none): older ticks have their final time.
  std::size_t anchors() const noexcept { return lines_[0].points(); }
  Ticks last_tick() const noexcept { return lines_[0].last_tick(); }

  // In the order of the anchors; `correction_count` counts those beyond
  // kMaxCorrections too.
  const std::vector<ClockCorrection>& corrections() const noexcept {
    return corrections_;
  }
  std::uint64_t correction_count() const noexcept { return correction_count_; }

 private:
  using Line = internal::AnchoredLine;

  const Line& line_of(ClockId clock) const noexcept {
    return lines_[static_cast<std::size_t>(clock)];
  }
  bool fits(const ClockAnchor& anchor) const;
  void add_to(ClockId clock, const ClockAnchor& anchor, bool new_epoch);
  void describe(const ClockAnchor& anchor);
  void note(ClockCorrection::Kind kind, std::int64_t at_ns,
            std::int64_t amount_ns, std::string text);
  std::int64_t growth(const ClockAnchor& anchor, ClockId clock,
                      ClockId other) const;

  std::array<Line, kClocks> lines_;
  ClockAnchor last_anchor_;
  bool monotonic_ticks_ = false;
  bool fell_back_ = false;
  std::vector<ClockCorrection> corrections_;
  std::uint64_t correction_count_ = 0;
};

// The times of one thread's records in ring order: never decreasing, whatever
// the clock did. One thread at a time.
class MonotoneTime {
 public:
  // `line` must outlive this and may grow between calls.
  explicit MonotoneTime(const ClockLine& line) : line_(&line) {}

  // The time of the next record. A time before that of the record before is
  // replaced by it and counted.
  std::int64_t next(Ticks tick) noexcept {
    return next_ns(line_->to_ns(tick, cursor_));
  }

  // The same for a record whose ticks are ns of MONOTONIC (kFlagMonotonic).
  std::int64_t next_ns(std::int64_t ns) noexcept {
    if (ns < last_ns_) {
      ++corrections_;
      return last_ns_;
    }
    last_ns_ = ns;
    return ns;
  }

  std::uint64_t corrections() const noexcept { return corrections_; }

 private:
  const ClockLine* line_;
  ClockLine::Cursor cursor_;
  std::int64_t last_ns_ = (std::numeric_limits<std::int64_t>::min)();
  std::uint64_t corrections_ = 0;
};

}  // namespace weft

#endif  // WEFT_CLOCK_LINE_H_
