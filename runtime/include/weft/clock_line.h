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
// Invariants:
//   L1  Within an epoch time never decreases with the tick: pieces meet at
//       their anchors, and a product is rounded down, so no piece passes its
//       end.
//   L2  Adding an anchor changes no time between two earlier anchors.
//   L3  No line crosses a break of the counter. Ticks between the last anchor
//       A of an epoch and the first B of the next belong to the old one up to
//       A + 1.5 usual pieces, else to the new; their times lie in [A, B] and
//       count as extrapolated.
//   L4  Anchors may come from a damaged or hostile file. Every answer is then
//       defined, if useless; what cannot be used is listed in corrections().
//
// How wrong a time can be is computed for each piece: what the two anchors
// leave open, and what a change of rate can hide between them, judged by the
// slopes of the neighbours. Slopes of less than 50 ms are noise (10 ns over
// their length) and are merged for that. It holds for clocks whose rate
// changes at most once within a piece.
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
#include "weft/internal/tick_scale.h"
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

class ClockLine {
 public:
  // The bound where nothing is known.
  static constexpr std::int64_t kNoBound =
      std::numeric_limits<std::int64_t>::max();
  // A file with more is damaged; anchors behind the last epoch are left out.
  static constexpr std::size_t kMaxEpochs = 1000;
  // More are counted only.
  static constexpr std::size_t kMaxCorrections = 1000;

  // Remembers where the last lookup was. One for each thread whose records are
  // converted: it is also what tells the ticks of two epochs apart when the
  // counter went back and they overlap. Starts at the first epoch.
  class Cursor {
   private:
    friend class ClockLine;
    std::size_t piece_ = 0;  // both count forgotten ones too
    std::size_t epoch_ = 0;
    Ticks last_tick_ = 0;
  };

  static constexpr std::size_t kKeepAll =
      std::numeric_limits<std::size_t>::max();

  // `tick_hz` is the rate to assume while fewer than two anchors are known;
  // 1 GHz if it is unknown or absurd. Who runs for months and converts only
  // what is new keeps the newest `keep_anchors` (and up to as many more);
  // 192 bytes each.
  explicit ClockLine(double tick_hz = 0, std::size_t keep_anchors = kKeepAll);

  // Takes the next anchor, in the order in which they were taken. Not
  // thread-safe: nobody may look up meanwhile. Amortised constant.
  void add(const ClockAnchor& anchor);

  // The time of a tick, in ns of `clock`. Thread-safe.
  std::int64_t to_ns(Ticks tick, ClockId clock = ClockId::kMonotonic) const;

  // The same for MONOTONIC, 2 to 5 ns when ticks mostly increase. Thread-safe
  // with a cursor for each thread. Hot: no allocation.
  std::int64_t to_ns(Ticks tick, Cursor& cursor) const noexcept {
    const Line& line = lines_[0];
    // Wraps to a huge number if the piece was forgotten.
    const std::size_t at = cursor.piece_ - line.forgotten_pieces;
    if (at < line.pieces.size()) {
      const Piece& piece = line.pieces[at];
      const Ticks into = tick - piece.tick;
      if (into < piece.ticks) {
        cursor.last_tick_ = tick;
        return piece.at(into);
      }
    }
    return seek(tick, cursor);
  }

  // Whether the time of `tick` is not between two anchors of one epoch.
  bool is_extrapolated(Ticks tick, ClockId clock = ClockId::kMonotonic) const;

  // How far to_ns(tick, clock) can be from the truth; kNoBound if that is
  // unknown. A duration can be off by two bounds.
  std::int64_t bound_ns(Ticks tick, ClockId clock = ClockId::kMonotonic) const;

  // The largest bound between the first and the last anchor; kNoBound with
  // fewer than two.
  std::int64_t max_bound_ns(ClockId clock = ClockId::kMonotonic) const;

  // The best estimate of the counter's present rate.
  double ns_per_tick() const;

  // Anchors of the line of MONOTONIC so far, and the last one's tick (0 if
  // none): older ticks have their final time.
  std::size_t anchors() const noexcept {
    return lines_[0].forgotten_pieces + lines_[0].pieces.size();
  }
  Ticks last_tick() const noexcept;

  // In the order of the anchors; `correction_count` counts those beyond
  // kMaxCorrections too.
  const std::vector<ClockCorrection>& corrections() const noexcept {
    return corrections_;
  }
  std::uint64_t correction_count() const noexcept { return correction_count_; }

 private:
  // From one anchor to the next of its epoch; the last anchor of an epoch is a
  // piece without ticks, and its bound is that of the gap behind it.
  struct Piece {
    Ticks tick = 0;
    Ticks ticks = 0;
    std::int64_t ns = 0;
    std::uint64_t scale = 0;
    std::int64_t bound = 0;
    std::uint16_t half_width = 0;

    // L1: rounded down, and scale <= ns / ticks, so this is at most the next
    // piece's ns. The sum is taken unsigned because a hostile piece may be
    // longer than a signed number can say.
    std::int64_t at(Ticks into) const noexcept {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(ns) +
                                       internal::scaled(into, scale));
    }
  };

  struct Slope {
    std::uint64_t scale = 0;
    bool good = false;  // measured over 50 ms or more
  };

  struct Epoch {
    std::size_t first = 0;  // piece
    Ticks lowest = 0;       // ticks that belong here, L3
    Ticks highest = 0;
    Slope first_slope;      // for ticks before it
    Slope last_slope;       // for ticks behind it
    bool has_slope = false; // its own, not taken over from the epoch before
  };

  // Consecutive pieces of one epoch that last 50 ms together.
  struct Group {
    std::size_t first = 0;
    std::size_t end = 0;  // one past its last piece
    std::uint64_t scale = 0;
  };

  struct Line {
    std::vector<Piece> pieces;
    std::vector<Epoch> epochs;
    Group before_last;  // closed groups of the present epoch; end 0: none
    Group last;
    std::size_t open = 0;  // first piece of the group that is not closed
    std::size_t forgotten_pieces = 0;
    std::size_t forgotten_epochs = 0;
    std::int64_t forgotten_bound = 0;  // the largest of them
  };

  struct Place;

  bool fits(const ClockAnchor& anchor) const;
  void describe(const ClockAnchor& anchor);
  void note(ClockCorrection::Kind kind, std::int64_t at_ns,
            std::int64_t amount_ns, std::string text);
  std::int64_t growth(const ClockAnchor& anchor, ClockId clock,
                      ClockId other) const;

  void begin_epoch(Line& line, const Piece& point) const;
  static void extend_epoch(Line& line, const Piece& point);
  static void close_gap(Line& line, const Piece& point);
  void forget(Line& line) const;
  static void set_bounds(Line& line, const Group& group, const Group* before,
                         const Group* after);

  std::int64_t seek(Ticks tick, Cursor& cursor) const noexcept;
  Place find(const Line& line, Ticks tick, std::size_t epoch) const noexcept;
  std::size_t epoch_of(const Line& line, Ticks tick,
                       const Cursor& cursor) const noexcept;
  std::int64_t time_at(const Line& line, const Place& place,
                       Ticks tick) const noexcept;

  std::array<Line, kClocks> lines_;
  std::size_t keep_anchors_;
  std::uint64_t nominal_scale_ = internal::kOneNsPerTick;
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
  std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::min();
  std::uint64_t corrections_ = 0;
};

}  // namespace weft

#endif  // WEFT_CLOCK_LINE_H_
