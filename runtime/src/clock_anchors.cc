// SPDX-License-Identifier: Apache-2.0
#include "clock_anchors.h"

#include <algorithm>
#include <limits>

#include "weft/internal/tick_scale.h"

namespace weft {
namespace {

using internal::scale_of;
using internal::scaled;

constexpr std::size_t index_of(ClockId clock) {
  return static_cast<std::size_t>(clock);
}
constexpr std::size_t kMono = index_of(ClockId::kMonotonic);
constexpr std::size_t kRaw = index_of(ClockId::kMonotonicRaw);

// ---- taking one ------------------------------------------------------------

struct BestBracket {
  Ticks before = 0;
  Ticks width = std::numeric_limits<Ticks>::max();  // max: none yet
  std::int64_t ns = 0;
};
using BestBrackets = std::array<BestBracket, kClocks>;

void measure_round(const ClockSource& source, BestBrackets& best) {
  Ticks before = source.ticks_fenced();
  for (std::size_t clock = 0; clock < kClocks; ++clock) {
    const std::int64_t ns = source.ns(static_cast<ClockId>(clock));
    const Ticks after = source.ticks_fenced();
    // A counter that falls within a bracket says nothing about it.
    if (after >= before && after - before < best[clock].width)
      best[clock] = {before, after - before, ns};
    before = after;
  }
}

bool any_wider_than(const BestBrackets& best, Ticks limit) {
  return std::any_of(best.begin(), best.end(), [limit](const BestBracket& b) {
    return b.width > limit;
  });
}

// ---- judging ---------------------------------------------------------------

constexpr std::int64_t kSuspendNs = 1'000'000;
constexpr std::uint64_t kGoodPieceNs = 50'000'000;
constexpr std::uint64_t kFaultWindowNs = 60'000'000'000;

bool is_exact_enough(const ClockAnchor& anchor) {
  return std::none_of(
      anchor.half_width.begin(), anchor.half_width.end(),
      [](std::uint16_t width) { return width == kHalfWidthUnknown; });
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : b - a;
}

// `clock` less `other`, both at the tick of `other`.
std::int64_t offset(const ClockAnchor& anchor, std::size_t clock,
                    std::size_t other, std::uint64_t scale) {
  return internal::line_at(anchor.tick[other], anchor.tick[clock],
                           anchor.ns[clock], scale) -
         anchor.ns[other];
}

}  // namespace

ClockAnchor sample_clocks(const ClockSource& source) {
  constexpr int kRounds = 8;
  constexpr std::uint64_t kNarrowNs = 1000;
  const std::uint64_t scale = source.scale();
  const Ticks narrow = scale_of(kNarrowNs, scale);  // ns / scale
  BestBrackets best;

  BestBrackets dropped;
  measure_round(source, dropped);
  for (int round = 0; round < kRounds; ++round)
    measure_round(source, best);
  if (any_wider_than(best, narrow)) {
    for (int round = 0; round < kRounds; ++round)
      measure_round(source, best);
  }

  ClockAnchor anchor;
  for (std::size_t clock = 0; clock < kClocks; ++clock) {
    const BestBracket& bracket = best[clock];
    if (bracket.width == std::numeric_limits<Ticks>::max()) {
      anchor.tick[clock] = source.ticks_fenced();
      anchor.ns[clock] = source.ns(static_cast<ClockId>(clock));
      anchor.half_width[clock] = kHalfWidthUnknown;
      continue;
    }
    anchor.tick[clock] = bracket.before + bracket.width / 2;
    anchor.ns[clock] = bracket.ns;
    const std::uint64_t half =
        scaled(bracket.width, scale) / 2 + 1 + source.step_ns();
    anchor.half_width[clock] = static_cast<std::uint16_t>(
        std::min<std::uint64_t>(half, kHalfWidthUnknown));
  }
  if (any_wider_than(best, narrow))
    anchor.flags |= kAnchorWide;
  if (source.counter() == CounterKind::kMonotonic) {
    // The counter is this clock: nothing to measure, nothing to be wrong.
    anchor.flags |= kAnchorMonotonicTicks;
    anchor.tick[kMono] = static_cast<Ticks>(anchor.ns[kMono]);
    anchor.half_width[kMono] = 0;
  }
  return anchor;
}

void BreakDetector::observe(ClockAnchor& anchor, bool ring_fell) {
  anchor.epoch = epoch_;
  if (!has_last_) {
    last_ = anchor;
    has_last_ = is_exact_enough(anchor);
    return;
  }
  const bool fell = ring_fell || anchor.tick[kMono] < last_.tick[kMono];
  // An anchor that may be off by 65 us and more would look like anything.
  const bool exact = is_exact_enough(anchor);
  if (!fell && !exact)
    return;

  const bool missed = !fell && misses_prediction(anchor);
  const bool rate_known = !fell && !missed && old_scale_ == 0;
  const bool slept = exact && growth(anchor, ClockId::kBoottime,
                                     ClockId::kMonotonic, rate_known) >
                                  kSuspendNs;
  // Against BOOTTIME, because sleep moves REALTIME against MONOTONIC.
  const bool stepped = exact && growth(anchor, ClockId::kRealtime,
                                       ClockId::kBoottime, rate_known) != 0;

  if (slept) {
    anchor.flags |= kAnchorSuspend;
    ++breaks_.suspends;
  }
  if (fell) {
    anchor.flags |= kAnchorBackwards;
    ++breaks_.backwards;
  }
  if (missed && !slept) {
    anchor.flags |= kAnchorJump;
    ++breaks_.jumps;
  }
  if (stepped) {
    anchor.flags |= kAnchorRealtimeStep;
    ++breaks_.realtime_steps;
  }

  if (fell || missed || slept)
    anchor.epoch = ++epoch_;
  else
    learn_rate(anchor);
  if ((fell || missed) && !slept)
    count_fault(anchor.ns[kMono]);
  if (fell || missed) {
    // The piece up to here belongs to no epoch, so the rate must be learned
    // anew; until then nothing is predicted.
    if (scale_ != 0)
      old_scale_ = scale_;
    scale_ = 0;
  }
  last_ = anchor;
  has_last_ = exact;
}

void BreakDetector::restart(std::uint64_t nominal_scale) {
  nominal_scale_ = nominal_scale;
  scale_ = 0;
  old_scale_ = 0;
  has_last_ = false;
  ++epoch_;
  faults_ = 0;
  fallback_due_ = false;
}

// How far `clock` moved against `other` since the last anchor, in ns; 0 if the
// brackets of the two anchors can explain it.
std::int64_t BreakDetector::growth(const ClockAnchor& anchor, ClockId clock,
                                   ClockId other, bool rate_known) const {
  const std::size_t c = index_of(clock);
  const std::size_t o = index_of(other);
  const std::int64_t grown = offset(anchor, c, o, nominal_scale_) -
                             offset(last_, c, o, nominal_scale_);
  std::uint64_t unsure = std::uint64_t{anchor.half_width[c]} +
                         anchor.half_width[o] + last_.half_width[c] +
                         last_.half_width[o] + 1;
  // The two clocks of an anchor are read up to some us apart.
  if (!rate_known)
    unsure += scaled(distance(anchor.tick[c], anchor.tick[o]) +
                         distance(last_.tick[c], last_.tick[o]),
                     nominal_scale_);
  const auto limit = static_cast<std::int64_t>(unsure);
  return grown > limit || grown < -limit ? grown : 0;
}

// Against RAW, not MONOTONIC: NTP slews the latter, at times by much, and that
// is no fault of the counter.
bool BreakDetector::misses_prediction(const ClockAnchor& anchor) const {
  if (scale_ == 0 || anchor.ns[kRaw] < last_.ns[kRaw] ||
      anchor.tick[kRaw] < last_.tick[kRaw])
    return false;
  const std::uint64_t passed =
      internal::ns_between(last_.ns[kRaw], anchor.ns[kRaw]);
  const std::uint64_t predicted =
      scaled(anchor.tick[kRaw] - last_.tick[kRaw], scale_);
  const std::uint64_t unsure = std::uint64_t{anchor.half_width[kRaw]} +
                               last_.half_width[kRaw] + 1 +
                               passed / 2000;  // 500 ppm
  return distance(passed, predicted) > unsure;
}

void BreakDetector::learn_rate(ClockAnchor& anchor) {
  if (anchor.ns[kRaw] < last_.ns[kRaw] || anchor.tick[kRaw] <= last_.tick[kRaw])
    return;
  const std::uint64_t passed =
      internal::ns_between(last_.ns[kRaw], anchor.ns[kRaw]);
  if (passed < kGoodPieceNs)
    return;
  scale_ = scale_of(passed, anchor.tick[kRaw] - last_.tick[kRaw]);
  nominal_scale_ = scale_;
  if (old_scale_ == 0)
    return;
  if (distance(scale_, old_scale_) > old_scale_ / 1000) {  // 1000 ppm
    anchor.flags |= kAnchorRate;
    ++breaks_.rate_changes;
  }
  old_scale_ = 0;
}

void BreakDetector::count_fault(std::int64_t now_ns) {
  fault_ns_[faults_ % fault_ns_.size()] = now_ns;
  ++faults_;
  if (faults_ < fault_ns_.size())
    return;
  const std::int64_t oldest = fault_ns_[faults_ % fault_ns_.size()];
  if (now_ns >= oldest &&
      internal::ns_between(oldest, now_ns) <= kFaultWindowNs)
    fallback_due_ = true;
}

ClockAnchor AnchorTaker::take(bool ring_fell) {
  ClockAnchor anchor = sample_clocks(*source_);
  detector_.observe(anchor, ring_fell);
  return anchor;
}

ClockAnchor AnchorTaker::fall_back() {
  source_->fall_back("3 faults of the counter within 60 s");
  detector_.restart(source_->scale());
  return take();
}

}  // namespace weft
