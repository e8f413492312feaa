// SPDX-License-Identifier: Apache-2.0
#include "weft/clock_line.h"

#include <utility>

namespace weft {
namespace {

using internal::add_clamped;
using internal::line_at;
using internal::ns_between;
using internal::scaled;

constexpr std::size_t index_of(ClockId clock) {
  return static_cast<std::size_t>(clock);
}
constexpr std::size_t kMono = index_of(ClockId::kMonotonic);

// b - a, clamped.
std::int64_t difference(std::int64_t a, std::int64_t b) {
  return b >= a ? add_clamped(0, ns_between(a, b))
                : internal::subtract_clamped(0, ns_between(b, a));
}

std::string in_words(std::int64_t ns) {
  const bool negative = ns < 0;
  const std::uint64_t size = negative ? ns_between(ns, 0) : ns_between(0, ns);
  std::string fraction = std::to_string(size % 1'000'000'000);
  fraction.insert(0, 9 - fraction.size(), '0');
  return (negative ? "-" : "") + std::to_string(size / 1'000'000'000) + "." +
         fraction + " s";
}

std::uint64_t nominal_scale(double tick_hz) {
  constexpr double kLeastHz = 1e3;  // 2^40 * 1e9 / this still fits
  constexpr double kMostHz = 1e12;
  if (tick_hz >= kLeastHz && tick_hz <= kMostHz)
    return static_cast<std::uint64_t>(
        1e9 / tick_hz * static_cast<double>(internal::kOneNsPerTick));
  return internal::kOneNsPerTick;
}

}  // namespace

ClockLine::ClockLine(double tick_hz, std::size_t keep_anchors)
    : lines_{Line(nominal_scale(tick_hz), keep_anchors),
             Line(nominal_scale(tick_hz), keep_anchors),
             Line(nominal_scale(tick_hz), keep_anchors),
             Line(nominal_scale(tick_hz), keep_anchors)} {}

void ClockLine::add(const ClockAnchor& anchor) {
  const bool first = anchors() == 0;
  const bool monotonic = (anchor.flags & kAnchorMonotonicTicks) != 0;
  if (first)
    monotonic_ticks_ = monotonic;
  if (monotonic != monotonic_ticks_) {
    if (!fell_back_)
      note(ClockCorrection::Kind::kFallback, anchor.ns[kMono], 0,
           "the counter was given up; from here CLOCK_MONOTONIC stamps");
    fell_back_ = true;
    return;
  }
  if (!fits(anchor)) {
    note(ClockCorrection::Kind::kDamaged, anchor.ns[kMono], 0,
         "an anchor at tick " + std::to_string(anchor.tick[kMono]) +
             " contradicts the one before and was left out");
    return;
  }

  const bool new_epoch = first || anchor.epoch != last_anchor_.epoch;
  // Twice the same anchor is no damage: files repeat what they define.
  if (!new_epoch && anchor.tick[kMono] == last_tick())
    return;
  if (!first)
    describe(anchor);
  for (std::size_t clock = 0; clock < kClocks; ++clock)
    add_to(static_cast<ClockId>(clock), anchor, new_epoch);
  last_anchor_ = anchor;
}

void ClockLine::add_to(ClockId clock, const ClockAnchor& anchor,
                       bool new_epoch) {
  const std::size_t c = index_of(clock);
  Line& line = lines_[c];
  const Line::Point point{anchor.tick[c], anchor.ns[c], anchor.half_width[c]};
  const bool stepped = clock == ClockId::kRealtime &&
                       (anchor.flags & kAnchorRealtimeStep) != 0;
  if (new_epoch || stepped) {
    line.begin_epoch(point);
    return;
  }
  // Worse than none: off by an unknown amount, or no later than the last.
  if (point.half_width == kHalfWidthUnknown || point.tick <= line.last_tick())
    return;
  if (point.ns < line.last_ns())
    line.begin_epoch(point);
  else
    line.extend(point);
}

// Whether the line of MONOTONIC can go on to `anchor`.
bool ClockLine::fits(const ClockAnchor& anchor) const {
  if (anchors() == 0)
    return true;
  const Line& line = lines_[kMono];
  if (anchor.epoch < last_anchor_.epoch || anchor.ns[kMono] < line.last_ns())
    return false;
  if (anchor.epoch > last_anchor_.epoch)
    return !line.full();
  return anchor.tick[kMono] > line.last_tick() ||
         (anchor.tick[kMono] == line.last_tick() &&
          anchor.ns[kMono] == line.last_ns());
}

void ClockLine::describe(const ClockAnchor& anchor) {
  using Kind = ClockCorrection::Kind;
  const std::int64_t at = anchor.ns[kMono];
  const Ticks tick = anchor.tick[kMono];
  const Ticks last = last_anchor_.tick[kMono];
  if ((anchor.flags & kAnchorSuspend) != 0) {
    const std::int64_t slept =
        growth(anchor, ClockId::kBoottime, ClockId::kMonotonic);
    note(Kind::kSuspend, at, slept,
         "the machine was suspended for " + in_words(slept));
  }
  if ((anchor.flags & kAnchorBackwards) != 0) {
    const std::uint64_t scale = lines_[kMono].scale();
    const std::int64_t fell =
        tick < last ? add_clamped(0, scaled(last - tick, scale)) : 0;
    note(Kind::kBackwards, at, fell,
         tick < last
             ? "the counter went back, by " + in_words(fell) + " or more"
             : "the counter went back between two anchors");
  }
  if ((anchor.flags & kAnchorJump) != 0) {
    const Line& line = lines_[kMono];
    const std::int64_t missed = difference(
        anchor.ns[kMono],
        line_at(tick, line.last_tick(), line.last_ns(), line.scale()));
    note(Kind::kJump, at, missed,
         "the counter jumped, by " + in_words(missed));
  }
  if ((anchor.flags & kAnchorRate) != 0)
    note(Kind::kRateChange, at, 0, "the counter's rate changed");
  if ((anchor.flags & kAnchorRealtimeStep) != 0) {
    const std::int64_t step =
        growth(anchor, ClockId::kRealtime, ClockId::kBoottime);
    note(Kind::kRealtimeStep, at, step,
         "CLOCK_REALTIME stepped by " + in_words(step));
  }
  constexpr unsigned kReasons = kAnchorSuspend | kAnchorBackwards | kAnchorJump;
  if (anchor.epoch != last_anchor_.epoch && (anchor.flags & kReasons) == 0)
    note(Kind::kBreak, at, 0, "the line of time broke");
}

void ClockLine::note(ClockCorrection::Kind kind, std::int64_t at_ns,
                     std::int64_t amount_ns, std::string text) {
  ++correction_count_;
  if (corrections_.size() < kMaxCorrections)
    corrections_.push_back({kind, at_ns, amount_ns, std::move(text)});
}

// How far `clock` moved against `other` since the last anchor. The clocks of an
// anchor are read within microseconds, for which any recent rate will do.
std::int64_t ClockLine::growth(const ClockAnchor& anchor, ClockId clock,
                               ClockId other) const {
  const std::size_t c = index_of(clock);
  const std::size_t o = index_of(other);
  const std::uint64_t scale = lines_[kMono].scale();
  const auto offset = [&](const ClockAnchor& a) {
    return difference(a.ns[o], line_at(a.tick[o], a.tick[c], a.ns[c], scale));
  };
  return difference(offset(last_anchor_), offset(anchor));
}

double ClockLine::ns_per_tick() const {
  return static_cast<double>(lines_[kMono].scale()) /
         static_cast<double>(internal::kOneNsPerTick);
}

}  // namespace weft
