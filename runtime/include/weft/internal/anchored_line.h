// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_INTERNAL_ANCHORED_LINE_H_
#define WEFT_INTERNAL_ANCHORED_LINE_H_

// One clock as a function of the tick: straight pieces from anchor to anchor.
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
//   L4  Anchors may be hostile: any tick, any time. Every answer is defined.
//
// How wrong a time can be is computed for each piece: what its two anchors
// leave open, and what a change of rate can hide between them, judged by the
// slopes of the neighbours. Slopes of less than 50 ms are noise (10 ns over
// their length), so short pieces are judged in groups. It holds for clocks
// whose rate changes at most once within a piece.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "weft/internal/api.h"
#include "weft/internal/tick_scale.h"
#include "weft/record.h"

namespace weft::internal {

class WEFT_API AnchoredLine {
 public:
  static constexpr std::int64_t kNoBound =
      (std::numeric_limits<std::int64_t>::max)();
  static constexpr std::size_t kMaxEpochs = 1000;

  struct Point {
    Ticks tick = 0;
    std::int64_t ns = 0;
    std::uint16_t half_width = 0;  // +- ns
  };

  // See ClockLine::Cursor.
  class Cursor {
   private:
    friend class AnchoredLine;
    std::size_t piece_ = 0;  // both count forgotten ones too
    std::size_t epoch_ = 0;
    Ticks last_tick_ = 0;
  };

  AnchoredLine(std::uint64_t nominal_scale, std::size_t keep_points)
      : nominal_scale_(nominal_scale), keep_points_(keep_points) {}

  // Goes on behind a break; false, and nothing is changed, if there were too
  // many. The first point begins an epoch too.
  bool begin_epoch(const Point& point);

  // Goes on within the epoch. Requires one, and point.tick > last_tick() and
  // point.ns >= last_ns().
  void extend(const Point& point);

  std::int64_t to_ns(Ticks tick, Cursor& cursor) const noexcept {
    // Wraps to a huge number if the piece was forgotten.
    const std::size_t at = cursor.piece_ - forgotten_pieces_;
    if (at < pieces_.size()) {
      const Piece& piece = pieces_[at];
      const Ticks into = tick - piece.tick;
      if (into < piece.ticks) {
        cursor.last_tick_ = tick;
        return piece.at(into);
      }
    }
    return seek(tick, cursor);
  }

  bool is_extrapolated(Ticks tick) const;
  std::int64_t bound_ns(Ticks tick) const;
  std::int64_t max_bound_ns() const;

  std::size_t points() const noexcept {
    return forgotten_pieces_ + pieces_.size();
  }
  bool full() const noexcept { return epochs_.size() >= kMaxEpochs; }
  Ticks last_tick() const noexcept {
    return pieces_.empty() ? 0 : pieces_.back().tick;
  }
  std::int64_t last_ns() const noexcept {
    return pieces_.empty() ? 0 : pieces_.back().ns;
  }
  // The latest slope that was measured over 50 ms, or the best there is.
  std::uint64_t scale() const noexcept {
    return epochs_.empty() ? nominal_scale_ : epochs_.back().last_slope.scale;
  }

 private:
  // From one anchor to the next of its epoch. The last anchor of an epoch is a
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
                                       scaled(into, scale));
    }
  };

  struct Slope {
    std::uint64_t scale = 0;
    bool good = false;  // measured over 50 ms or more
  };

  struct Epoch {
    std::size_t first = 0;   // piece
    Ticks lowest = 0;        // ticks that belong here, L3
    Ticks highest = 0;
    Slope first_slope;       // for ticks before it
    Slope last_slope;        // for ticks behind it
    bool has_slope = false;  // its own, not taken over from the epoch before
  };

  // Consecutive pieces of one epoch that last 50 ms together.
  struct Group {
    std::size_t first = 0;
    std::size_t end = 0;  // one past its last piece; 0: no group
    std::uint64_t scale = 0;
  };

  struct Place;

  static Piece piece_from(const Point& point);
  void close_gap(const Point& point);
  void judge_rate();
  void set_bounds(const Group& group, const Group* before, const Group* after);
  void forget();

  std::int64_t seek(Ticks tick, Cursor& cursor) const noexcept;
  std::size_t epoch_of(Ticks tick, const Cursor& cursor) const noexcept;
  Place find(Ticks tick, std::size_t epoch) const noexcept;
  std::int64_t time_at(const Place& place, Ticks tick) const noexcept;

  std::uint64_t nominal_scale_;
  std::size_t keep_points_;
  std::vector<Piece> pieces_;
  std::vector<Epoch> epochs_;
  Group before_last_;  // closed groups of the present epoch
  Group last_;
  std::size_t open_ = 0;  // first piece of the group that is not closed
  std::size_t forgotten_pieces_ = 0;
  std::size_t forgotten_epochs_ = 0;
  std::int64_t forgotten_bound_ = 0;  // the largest of them
};

}  // namespace weft::internal

#endif  // WEFT_INTERNAL_ANCHORED_LINE_H_
