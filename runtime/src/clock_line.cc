// SPDX-License-Identifier: Apache-2.0
#include "weft/clock_line.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft {
namespace {

using internal::add_clamped;
using internal::line_at;
using internal::ns_between;
using internal::scale_of;
using internal::scaled;

constexpr std::uint64_t kGoodPieceNs = 50'000'000;
constexpr std::uint64_t kUsualPieceNs = 100'000'000;

// NTP slews by 500 ppm at most, so two rates differ by 1000 at most.
constexpr std::uint64_t kMostSlewDivisor = 2000;
constexpr std::uint64_t kMostBendDivisor = 1000;

// A thread's stamps may fall by this without the counter having fallen.
constexpr std::uint64_t kFallNs = 2000;

constexpr std::size_t index_of(ClockId clock) {
  return static_cast<std::size_t>(clock);
}
constexpr std::size_t kMono = index_of(ClockId::kMonotonic);

std::uint64_t distance(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : b - a;
}

std::uint64_t distance(std::int64_t a, std::int64_t b) {
  return a > b ? ns_between(b, a) : ns_between(a, b);
}

Ticks plus_clamped(Ticks tick, Ticks more) {
  return tick > std::numeric_limits<Ticks>::max() - more
             ? std::numeric_limits<Ticks>::max()
             : tick + more;
}

Ticks minus_clamped(Ticks tick, Ticks less) {
  return tick < less ? 0 : tick - less;
}

// b - a, clamped.
std::int64_t difference(std::int64_t a, std::int64_t b) {
  return b >= a ? add_clamped(0, ns_between(a, b))
                : internal::subtract_clamped(0, ns_between(b, a));
}

std::int64_t bound_of(std::uint64_t half_width, std::uint64_t bend) {
  return add_clamped(static_cast<std::int64_t>(half_width) + 1, bend);
}

std::string in_words(std::int64_t ns) {
  const bool negative = ns < 0;
  const std::uint64_t size = distance(ns, std::int64_t{0});
  std::string fraction = std::to_string(size % 1'000'000'000);
  fraction.insert(0, 9 - fraction.size(), '0');
  return (negative ? "-" : "") + std::to_string(size / 1'000'000'000) + "." +
         fraction + " s";
}

}  // namespace

// Where a tick lies: in a piece, or beyond the outer anchors of an epoch.
struct ClockLine::Place {
  enum class Side : std::uint8_t { kInside, kBefore, kBehind };
  Side side;
  std::size_t epoch;
  std::size_t piece;  // for kBefore and kBehind the anchor next to the tick
};

ClockLine::ClockLine(double tick_hz, std::size_t keep_anchors)
    : keep_anchors_(keep_anchors) {
  constexpr double kLeastHz = 1e3;  // 2^40 * 1e9 / this still fits
  constexpr double kMostHz = 1e12;
  if (tick_hz >= kLeastHz && tick_hz <= kMostHz)
    nominal_scale_ = static_cast<std::uint64_t>(
        1e9 / tick_hz * static_cast<double>(internal::kOneNsPerTick));
}

// ---- growing ---------------------------------------------------------------

void ClockLine::add(const ClockAnchor& anchor) {
  const bool first = lines_[kMono].pieces.empty();
  const bool monotonic = (anchor.flags & kAnchorMonotonicTicks) != 0;
  if (first)
    monotonic_ticks_ = monotonic;
  if (monotonic != monotonic_ticks_) {
    if (!fell_back_)
      note(ClockCorrection::Kind::kFallback, anchor.ns[kMono], 0,
           "the counter was given up; from here CLOCK_MONOTONIC stamps records");
    fell_back_ = true;
    return;
  }
  if (!fits(anchor)) {
    note(ClockCorrection::Kind::kDamaged, anchor.ns[kMono], 0,
         "an anchor at tick " + std::to_string(anchor.tick[kMono]) +
             " contradicts the one before and was left out");
    return;
  }

  const bool new_epoch = !first && anchor.epoch != last_anchor_.epoch;
  if (!first)
    describe(anchor);
  for (std::size_t clock = 0; clock < kClocks; ++clock) {
    Line& line = lines_[clock];
    Piece point;
    point.tick = anchor.tick[clock];
    point.ns = anchor.ns[clock];
    point.half_width = anchor.half_width[clock];
    const bool breaks =
        line.pieces.empty() || new_epoch ||
        (clock == index_of(ClockId::kRealtime) &&
         (anchor.flags & kAnchorRealtimeStep) != 0);
    if (breaks) {
      if (line.epochs.size() < kMaxEpochs)
        begin_epoch(line, point);
      continue;
    }
    const Piece& last = line.pieces.back();
    // Twice the same anchor is no damage: files repeat what they define. One
    // that is off by an unknown amount is worse than none.
    if (point.tick <= last.tick || point.half_width == kHalfWidthUnknown)
      continue;
    if (point.ns < last.ns) {
      if (line.epochs.size() < kMaxEpochs)
        begin_epoch(line, point);
      continue;
    }
    extend_epoch(line, point);
  }
  for (Line& line : lines_)
    forget(line);
  last_anchor_ = anchor;
}

// Whether the line of MONOTONIC can go on to `anchor`.
bool ClockLine::fits(const ClockAnchor& anchor) const {
  const Line& line = lines_[kMono];
  if (line.pieces.empty())
    return true;
  const Piece& last = line.pieces.back();
  if (anchor.epoch < last_anchor_.epoch || anchor.ns[kMono] < last.ns)
    return false;
  if (anchor.epoch > last_anchor_.epoch)
    return line.epochs.size() < kMaxEpochs;
  return anchor.tick[kMono] > last.tick ||
         (anchor.tick[kMono] == last.tick && anchor.ns[kMono] == last.ns);
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
    const std::uint64_t scale = lines_[kMono].epochs.back().last_slope.scale;
    const std::int64_t fell =
        tick < last ? add_clamped(0, scaled(last - tick, scale)) : 0;
    note(Kind::kBackwards, at, fell,
         tick < last ? "the counter went back, by " + in_words(fell) + " or more"
                     : "the counter went back between two anchors");
  }
  if ((anchor.flags & kAnchorJump) != 0) {
    const Epoch& epoch = lines_[kMono].epochs.back();
    const Piece& from = lines_[kMono].pieces.back();
    const std::int64_t missed = difference(
        anchor.ns[kMono],
        line_at(tick, from.tick, from.ns, epoch.last_slope.scale));
    note(Kind::kJump, at, missed,
         "the counter jumped, by " + in_words(missed));
  }
  if ((anchor.flags & kAnchorRate) != 0)
    note(Kind::kRateChange, at, 0, "the counter's rate changed");
  if ((anchor.flags & kAnchorRealtimeStep) != 0) {
    const std::int64_t step = growth(anchor, ClockId::kRealtime, ClockId::kBoottime);
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
  const std::uint64_t scale = lines_[kMono].epochs.back().last_slope.scale;
  const auto offset = [&](const ClockAnchor& a) {
    return difference(a.ns[o], line_at(a.tick[o], a.tick[c], a.ns[c], scale));
  };
  return difference(offset(last_anchor_), offset(anchor));
}

void ClockLine::begin_epoch(Line& line, const Piece& point) const {
  Epoch epoch;
  epoch.first = line.pieces.size();
  epoch.first_slope = epoch.last_slope = {nominal_scale_, false};
  epoch.lowest = 0;
  epoch.highest = std::numeric_limits<Ticks>::max();
  if (!line.epochs.empty()) {
    close_gap(line, point);
    Epoch& old = line.epochs.back();
    epoch.first_slope = epoch.last_slope = old.last_slope;
    const Ticks end = line.pieces.back().tick;
    const Ticks usual =
        line.last.end != 0
            ? line.pieces[line.last.end - 1].ticks
            : scale_of(kUsualPieceNs, std::max<std::uint64_t>(
                                          old.last_slope.scale, 1));
    const Ticks reach = plus_clamped(usual, usual / 2);
    old.highest = plus_clamped(end, reach);
    if (point.tick > end) {
      old.highest = std::min(old.highest, point.tick - 1);
      epoch.lowest = old.highest + 1;
    } else {
      epoch.lowest = minus_clamped(point.tick, reach);
    }
  }
  line.epochs.push_back(epoch);
  line.open = line.pieces.size();
  line.before_last = line.last = Group{};
  line.pieces.push_back(point);
}

void ClockLine::extend_epoch(Line& line, const Piece& point) {
  Piece& tail = line.pieces.back();
  tail.ticks = point.tick - tail.tick;
  tail.scale = scale_of(ns_between(tail.ns, point.ns), tail.ticks);
  line.pieces.push_back(point);

  const Piece& start = line.pieces[line.open];
  const std::uint64_t length = ns_between(start.ns, point.ns);
  Group group{line.open, line.pieces.size() - 1,
              scale_of(length, point.tick - start.tick)};
  const Group* before = line.last.end != 0 ? &line.last : nullptr;
  Epoch& epoch = line.epochs.back();
  if (length < kGoodPieceNs) {
    // Not closed: its slope is good enough for its own short pieces, and it
    // tells nothing about the long ones before.
    group.first = group.end - 1;
    set_bounds(line, group, before, nullptr);
    if (!epoch.has_slope) {
      epoch.first_slope = epoch.last_slope = {group.scale, false};
      epoch.has_slope = true;
    }
    return;
  }
  set_bounds(line, group, before, nullptr);
  if (before != nullptr)
    set_bounds(line, line.last,
               line.before_last.end != 0 ? &line.before_last : nullptr, &group);
  line.before_last = line.last;
  line.last = group;
  line.open = group.end;
  if (!epoch.has_slope || !epoch.first_slope.good)
    epoch.first_slope = {group.scale, true};
  epoch.last_slope = {group.scale, true};
  epoch.has_slope = true;
}

// The largest error inside the pieces of `group`. A bend by s at the place x of
// a piece of length L costs s * x * (L - x) / L. Both neighbours see s divided
// between them, so the larger share is at least s / 2, and s * L / 4 at most is
// missing; one neighbour sees s * (L - x) / L.
void ClockLine::set_bounds(Line& line, const Group& group, const Group* before,
                           const Group* after) {
  for (std::size_t i = group.first; i < group.end; ++i) {
    Piece& piece = line.pieces[i];
    const Piece& next = line.pieces[i + 1];
    std::uint64_t bend = 0;
    if (before != nullptr && after != nullptr) {
      bend = scaled(piece.ticks,
                    std::max(distance(group.scale, before->scale),
                             distance(group.scale, after->scale))) / 2;
    } else if (before != nullptr || after != nullptr) {
      const Group& neighbour = before != nullptr ? *before : *after;
      bend = scaled(piece.ticks, distance(group.scale, neighbour.scale));
    } else {
      // Nothing to compare with: the most that NTP may do.
      bend = ns_between(piece.ns, next.ns) / kMostSlewDivisor / 4;
    }
    piece.bound = bound_of(std::max(piece.half_width, next.half_width), bend);
  }
}

// Waits until there is twice as much as must be kept, so that the cost of an
// anchor stays constant. What the bounds of later pieces need is kept.
void ClockLine::forget(Line& line) const {
  if (line.pieces.size() / 2 < keep_anchors_)
    return;
  std::size_t oldest_needed = line.open;
  if (line.last.end != 0)
    oldest_needed = line.last.first;
  if (line.before_last.end != 0)
    oldest_needed = line.before_last.first;
  const std::size_t count =
      std::min(line.pieces.size() - keep_anchors_, oldest_needed);

  const auto end = line.pieces.begin() + static_cast<std::ptrdiff_t>(count);
  for (auto piece = line.pieces.begin(); piece != end; ++piece)
    line.forgotten_bound = std::max(line.forgotten_bound, piece->bound);
  line.pieces.erase(line.pieces.begin(), end);
  line.forgotten_pieces += count;

  const auto moved = [count](std::size_t i) { return i < count ? 0 : i - count; };
  while (line.epochs.size() > 1 && line.epochs[1].first <= count) {
    line.epochs.erase(line.epochs.begin());
    ++line.forgotten_epochs;
  }
  for (Epoch& epoch : line.epochs)
    epoch.first = moved(epoch.first);
  line.open = moved(line.open);
  for (Group* group : {&line.before_last, &line.last}) {
    group->first = moved(group->first);
    group->end = moved(group->end);
  }
}

// The bound between the end of an epoch and `point`, which begins the next: the
// time is one of two that differ by what the prediction missed, and lies
// between the anchors.
void ClockLine::close_gap(Line& line, const Piece& point) {
  Piece& end = line.pieces.back();
  const std::uint64_t scale = line.epochs.back().last_slope.scale;
  const std::uint64_t missed =
      distance(line_at(point.tick, end.tick, end.ns, scale), point.ns);
  end.bound = bound_of(std::max(end.half_width, point.half_width),
                       std::min(missed, distance(end.ns, point.ns)));
}

// ---- looking up ------------------------------------------------------------

std::int64_t ClockLine::to_ns(Ticks tick, ClockId clock) const {
  const Line& line = lines_[index_of(clock)];
  if (line.pieces.empty())
    return line_at(tick, 0, 0, nominal_scale_);
  return time_at(line, find(line, tick, epoch_of(line, tick, Cursor{})), tick);
}

std::int64_t ClockLine::seek(Ticks tick, Cursor& cursor) const noexcept {
  const Line& line = lines_[kMono];
  if (line.pieces.empty())
    return line_at(tick, 0, 0, nominal_scale_);
  const Place place = find(line, tick, epoch_of(line, tick, cursor));
  cursor.epoch_ = line.forgotten_epochs + place.epoch;
  cursor.piece_ = line.forgotten_pieces + place.piece;
  cursor.last_tick_ = tick;
  return time_at(line, place, tick);
}

// The epoch that a tick belongs to. Without a past, the first that claims it.
// With one, the present epoch or a later one; and a tick that fell means that
// the counter was set back, so a later one if any claims it.
std::size_t ClockLine::epoch_of(const Line& line, Ticks tick,
                                const Cursor& cursor) const noexcept {
  const auto claims = [tick](const Epoch& epoch) {
    return tick >= epoch.lowest && tick <= epoch.highest;
  };
  const std::vector<Epoch>& epochs = line.epochs;
  // A cursor in a forgotten epoch goes on in the oldest that is left.
  const std::size_t start = std::min(
      std::max(cursor.epoch_, line.forgotten_epochs) - line.forgotten_epochs,
      epochs.size() - 1);
  const bool fell =
      tick < cursor.last_tick_ &&
      scaled(cursor.last_tick_ - tick, epochs[start].last_slope.scale) >
          kFallNs;
  for (std::size_t i = start + 1; fell && i < epochs.size(); ++i)
    if (claims(epochs[i]))
      return i;
  for (std::size_t i = start; i < epochs.size(); ++i)
    if (claims(epochs[i]))
      return i;
  // Nobody's: beyond the reach of every break. The nearest from `start` on.
  const auto away = [tick](const Epoch& epoch) {
    return tick < epoch.lowest ? epoch.lowest - tick : tick - epoch.highest;
  };
  std::size_t nearest = start;
  for (std::size_t i = start; i < epochs.size(); ++i)
    if (away(epochs[i]) < away(epochs[nearest]))
      nearest = i;
  return nearest;
}

ClockLine::Place ClockLine::find(const Line& line, Ticks tick,
                                 std::size_t epoch) const noexcept {
  using Side = Place::Side;
  const std::size_t first = line.epochs[epoch].first;
  const std::size_t end = epoch + 1 < line.epochs.size()
                              ? line.epochs[epoch + 1].first
                              : line.pieces.size();
  if (tick < line.pieces[first].tick)
    return {Side::kBefore, epoch, first};
  const auto at = [&line](std::size_t i) {
    return line.pieces.begin() + static_cast<std::ptrdiff_t>(i);
  };
  const auto above = std::upper_bound(
      at(first), at(end), tick,
      [](Ticks t, const Piece& piece) { return t < piece.tick; });
  const auto piece =
      static_cast<std::size_t>(above - line.pieces.begin()) - 1;
  // On the last anchor itself nothing is extrapolated.
  const bool behind = piece + 1 == end && tick != line.pieces[piece].tick;
  return {behind ? Side::kBehind : Side::kInside, epoch, piece};
}

std::int64_t ClockLine::time_at(const Line& line, const Place& place,
                                Ticks tick) const noexcept {
  const Epoch& epoch = line.epochs[place.epoch];
  const Piece& piece = line.pieces[place.piece];
  if (place.side == Place::Side::kInside)
    return piece.at(tick - piece.tick);

  // L3: into the gap, but not past the anchor on its other side. REALTIME may
  // have stepped back there; then there is nothing to keep.
  if (place.side == Place::Side::kBehind) {
    const std::int64_t ns =
        line_at(tick, piece.tick, piece.ns, epoch.last_slope.scale);
    const std::size_t next = place.piece + 1;
    const bool gap = next < line.pieces.size() &&
                     line.pieces[next].ns >= piece.ns;
    return gap ? std::min(ns, line.pieces[next].ns) : ns;
  }
  const std::int64_t ns =
      line_at(tick, piece.tick, piece.ns, epoch.first_slope.scale);
  const bool gap =
      place.piece > 0 && line.pieces[place.piece - 1].ns <= piece.ns;
  return gap ? std::max(ns, line.pieces[place.piece - 1].ns) : ns;
}

bool ClockLine::is_extrapolated(Ticks tick, ClockId clock) const {
  const Line& line = lines_[index_of(clock)];
  if (line.pieces.empty())
    return true;
  const Place place = find(line, tick, epoch_of(line, tick, Cursor{}));
  return place.side != Place::Side::kInside;
}

std::int64_t ClockLine::bound_ns(Ticks tick, ClockId clock) const {
  const Line& line = lines_[index_of(clock)];
  if (line.pieces.empty())
    return kNoBound;
  const Place place = find(line, tick, epoch_of(line, tick, Cursor{}));
  const Piece& piece = line.pieces[place.piece];
  const Epoch& epoch = line.epochs[place.epoch];
  if (place.side == Place::Side::kInside)
    return piece.ticks != 0 ? piece.bound : bound_of(piece.half_width, 0);
  const bool behind = place.side == Place::Side::kBehind;
  if (behind && place.epoch + 1 < line.epochs.size())
    return piece.bound;
  if (!behind && place.epoch > 0)
    return line.pieces[place.piece - 1].bound;

  const Slope& slope = behind ? epoch.last_slope : epoch.first_slope;
  if (!slope.good)
    return kNoBound;
  const std::uint64_t away = distance(
      line_at(tick, piece.tick, piece.ns, slope.scale), piece.ns);
  return bound_of(piece.half_width, away / kMostBendDivisor);
}

std::int64_t ClockLine::max_bound_ns(ClockId clock) const {
  const Line& line = lines_[index_of(clock)];
  const std::vector<Piece>& pieces = line.pieces;
  if (pieces.size() < 2)
    return kNoBound;
  std::int64_t most = line.forgotten_bound;
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i)
    most = std::max(most, pieces[i].bound);
  return most;
}

double ClockLine::ns_per_tick() const {
  const std::vector<Epoch>& epochs = lines_[kMono].epochs;
  const std::uint64_t scale =
      epochs.empty() ? nominal_scale_ : epochs.back().last_slope.scale;
  return static_cast<double>(scale) /
         static_cast<double>(internal::kOneNsPerTick);
}

Ticks ClockLine::last_tick() const noexcept {
  const std::vector<Piece>& pieces = lines_[kMono].pieces;
  return pieces.empty() ? 0 : pieces.back().tick;
}

}  // namespace weft
