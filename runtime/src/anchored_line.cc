// SPDX-License-Identifier: Apache-2.0
#include "weft/internal/anchored_line.h"

#include <algorithm>

namespace weft::internal {
namespace {

constexpr std::uint64_t kGoodPieceNs = 50'000'000;
constexpr std::uint64_t kUsualPieceNs = 100'000'000;

// NTP slews by 500 ppm at most, so two rates differ by 1000 at most.
constexpr std::uint64_t kMostSlewDivisor = 2000;
constexpr std::uint64_t kMostBendDivisor = 1000;

// A thread's stamps may fall by this without the counter having fallen.
constexpr std::uint64_t kFallNs = 2000;

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

std::int64_t bound_of(std::uint64_t half_width, std::uint64_t bend) {
  return add_clamped(static_cast<std::int64_t>(half_width) + 1, bend);
}

}  // namespace

// Where a tick lies: in a piece, or beyond the outer anchors of an epoch.
struct AnchoredLine::Place {
  enum class Side : std::uint8_t { kInside, kBefore, kBehind };
  Side side;
  std::size_t epoch;
  std::size_t piece;  // for kBefore and kBehind the anchor next to the tick
};

// ---- growing ---------------------------------------------------------------

AnchoredLine::Piece AnchoredLine::piece_from(const Point& point) {
  Piece piece;
  piece.tick = point.tick;
  piece.ns = point.ns;
  piece.half_width = point.half_width;
  return piece;
}

bool AnchoredLine::begin_epoch(const Point& point) {
  if (epochs_.size() >= kMaxEpochs)
    return false;
  Epoch epoch;
  epoch.first = pieces_.size();
  epoch.first_slope = epoch.last_slope = {nominal_scale_, false};
  epoch.lowest = 0;
  epoch.highest = std::numeric_limits<Ticks>::max();
  if (!epochs_.empty()) {
    close_gap(point);
    Epoch& old = epochs_.back();
    epoch.first_slope = epoch.last_slope = old.last_slope;
    const Ticks end = pieces_.back().tick;
    const Ticks usual =
        last_.end != 0
            ? pieces_[last_.end - 1].ticks
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
  epochs_.push_back(epoch);
  open_ = pieces_.size();
  before_last_ = last_ = Group{};
  pieces_.push_back(piece_from(point));
  forget();
  return true;
}

void AnchoredLine::extend(const Point& point) {
  Piece& tail = pieces_.back();
  tail.ticks = point.tick - tail.tick;
  tail.scale = scale_of(ns_between(tail.ns, point.ns), tail.ticks);
  pieces_.push_back(piece_from(point));
  judge_rate();
  forget();
}

// Bounds of what is new, and of the group before, which has a second neighbour
// now.
void AnchoredLine::judge_rate() {
  const Piece& end = pieces_.back();
  const Piece& start = pieces_[open_];
  const std::uint64_t length = ns_between(start.ns, end.ns);
  Group group{open_, pieces_.size() - 1,
              scale_of(length, end.tick - start.tick)};
  const Group* before = last_.end != 0 ? &last_ : nullptr;
  Epoch& epoch = epochs_.back();
  if (length < kGoodPieceNs) {
    // Not closed: its slope is good enough for its own short pieces, and it
    // tells nothing about the long ones before.
    group.first = group.end - 1;
    set_bounds(group, before, nullptr);
    if (!epoch.has_slope) {
      epoch.first_slope = epoch.last_slope = {group.scale, false};
      epoch.has_slope = true;
    }
    return;
  }
  set_bounds(group, before, nullptr);
  if (before != nullptr)
    set_bounds(last_,
               before_last_.end != 0 ? &before_last_ : nullptr, &group);
  before_last_ = last_;
  last_ = group;
  open_ = group.end;
  if (!epoch.has_slope || !epoch.first_slope.good)
    epoch.first_slope = {group.scale, true};
  epoch.last_slope = {group.scale, true};
  epoch.has_slope = true;
}

// The largest error inside the pieces of `group`. A bend by s at the place x of
// a piece of length L costs s * x * (L - x) / L. Both neighbours see s divided
// between them, so the larger share is at least s / 2, and s * L / 4 at most is
// missing; one neighbour sees s * (L - x) / L.
void AnchoredLine::set_bounds(const Group& group, const Group* before,
                           const Group* after) {
  for (std::size_t i = group.first; i < group.end; ++i) {
    Piece& piece = pieces_[i];
    const Piece& next = pieces_[i + 1];
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
void AnchoredLine::forget() {
  if (pieces_.size() / 2 < keep_points_)
    return;
  std::size_t oldest_needed = open_;
  if (last_.end != 0)
    oldest_needed = last_.first;
  if (before_last_.end != 0)
    oldest_needed = before_last_.first;
  const std::size_t count =
      std::min(pieces_.size() - keep_points_, oldest_needed);

  const auto end = pieces_.begin() + static_cast<std::ptrdiff_t>(count);
  for (auto piece = pieces_.begin(); piece != end; ++piece)
    forgotten_bound_ = std::max(forgotten_bound_, piece->bound);
  pieces_.erase(pieces_.begin(), end);
  forgotten_pieces_ += count;

  const auto moved = [count](std::size_t i) {
    return i < count ? 0 : i - count;
  };
  while (epochs_.size() > 1 && epochs_[1].first <= count) {
    epochs_.erase(epochs_.begin());
    ++forgotten_epochs_;
  }
  for (Epoch& epoch : epochs_)
    epoch.first = moved(epoch.first);
  open_ = moved(open_);
  for (Group* group : {&before_last_, &last_}) {
    group->first = moved(group->first);
    group->end = moved(group->end);
  }
}

// The bound between the end of an epoch and `point`, which begins the next: the
// time is one of two that differ by what the prediction missed, and lies
// between the anchors.
void AnchoredLine::close_gap(const Point& point) {
  Piece& end = pieces_.back();
  const std::uint64_t scale = epochs_.back().last_slope.scale;
  const std::uint64_t missed =
      distance(line_at(point.tick, end.tick, end.ns, scale), point.ns);
  end.bound = bound_of(std::max(end.half_width, point.half_width),
                       std::min(missed, distance(end.ns, point.ns)));
}

// ---- looking up ------------------------------------------------------------

std::int64_t AnchoredLine::seek(Ticks tick, Cursor& cursor) const noexcept {
  if (pieces_.empty())
    return line_at(tick, 0, 0, nominal_scale_);
  const Place place = find(tick, epoch_of(tick, cursor));
  cursor.epoch_ = forgotten_epochs_ + place.epoch;
  cursor.piece_ = forgotten_pieces_ + place.piece;
  cursor.last_tick_ = tick;
  return time_at(place, tick);
}

// The epoch that a tick belongs to. Without a past, the first that claims it.
// With one, the present epoch or a later one; and a tick that fell means that
// the counter was set back, so a later one if any claims it.
std::size_t AnchoredLine::epoch_of(Ticks tick,
                                const Cursor& cursor) const noexcept {
  const auto claims = [tick](const Epoch& epoch) {
    return tick >= epoch.lowest && tick <= epoch.highest;
  };
  // A cursor in a forgotten epoch goes on in the oldest that is left.
  const std::size_t start = std::min(
      std::max(cursor.epoch_, forgotten_epochs_) - forgotten_epochs_,
      epochs_.size() - 1);
  const bool fell =
      tick < cursor.last_tick_ &&
      scaled(cursor.last_tick_ - tick, epochs_[start].last_slope.scale) >
          kFallNs;
  for (std::size_t i = start + 1; fell && i < epochs_.size(); ++i)
    if (claims(epochs_[i]))
      return i;
  for (std::size_t i = start; i < epochs_.size(); ++i)
    if (claims(epochs_[i]))
      return i;
  // Nobody's: beyond the reach of every break. The nearest from `start` on.
  const auto away = [tick](const Epoch& epoch) {
    return tick < epoch.lowest ? epoch.lowest - tick : tick - epoch.highest;
  };
  std::size_t nearest = start;
  for (std::size_t i = start; i < epochs_.size(); ++i)
    if (away(epochs_[i]) < away(epochs_[nearest]))
      nearest = i;
  return nearest;
}

AnchoredLine::Place AnchoredLine::find(Ticks tick,
                                 std::size_t epoch) const noexcept {
  using Side = Place::Side;
  const std::size_t first = epochs_[epoch].first;
  const std::size_t end = epoch + 1 < epochs_.size()
                              ? epochs_[epoch + 1].first
                              : pieces_.size();
  if (tick < pieces_[first].tick)
    return {Side::kBefore, epoch, first};
  const auto at = [this](std::size_t i) {
    return pieces_.begin() + static_cast<std::ptrdiff_t>(i);
  };
  const auto above = std::upper_bound(
      at(first), at(end), tick,
      [](Ticks t, const Piece& piece) { return t < piece.tick; });
  const auto piece =
      static_cast<std::size_t>(above - pieces_.begin()) - 1;
  // On the last anchor itself nothing is extrapolated.
  const bool behind = piece + 1 == end && tick != pieces_[piece].tick;
  return {behind ? Side::kBehind : Side::kInside, epoch, piece};
}

std::int64_t AnchoredLine::time_at(const Place& place,
                                Ticks tick) const noexcept {
  const Epoch& epoch = epochs_[place.epoch];
  const Piece& piece = pieces_[place.piece];
  if (place.side == Place::Side::kInside)
    return piece.at(tick - piece.tick);

  // L3: into the gap, but not past the anchor on its other side. REALTIME may
  // have stepped back there; then there is nothing to keep.
  if (place.side == Place::Side::kBehind) {
    const std::int64_t ns =
        line_at(tick, piece.tick, piece.ns, epoch.last_slope.scale);
    const std::size_t next = place.piece + 1;
    const bool gap = next < pieces_.size() &&
                     pieces_[next].ns >= piece.ns;
    return gap ? std::min(ns, pieces_[next].ns) : ns;
  }
  const std::int64_t ns =
      line_at(tick, piece.tick, piece.ns, epoch.first_slope.scale);
  const bool gap =
      place.piece > 0 && pieces_[place.piece - 1].ns <= piece.ns;
  return gap ? std::max(ns, pieces_[place.piece - 1].ns) : ns;
}

bool AnchoredLine::is_extrapolated(Ticks tick) const {
  if (pieces_.empty())
    return true;
  const Place place = find(tick, epoch_of(tick, Cursor{}));
  return place.side != Place::Side::kInside;
}

std::int64_t AnchoredLine::bound_ns(Ticks tick) const {
  if (pieces_.empty())
    return kNoBound;
  const Place place = find(tick, epoch_of(tick, Cursor{}));
  const Piece& piece = pieces_[place.piece];
  const Epoch& epoch = epochs_[place.epoch];
  if (place.side == Place::Side::kInside)
    return piece.ticks != 0 ? piece.bound : bound_of(piece.half_width, 0);
  const bool behind = place.side == Place::Side::kBehind;
  if (behind && place.epoch + 1 < epochs_.size())
    return piece.bound;
  if (!behind && place.epoch > 0)
    return pieces_[place.piece - 1].bound;

  const Slope& slope = behind ? epoch.last_slope : epoch.first_slope;
  if (!slope.good)
    return kNoBound;
  const std::uint64_t away = distance(
      line_at(tick, piece.tick, piece.ns, slope.scale), piece.ns);
  return bound_of(piece.half_width, away / kMostBendDivisor);
}

std::int64_t AnchoredLine::max_bound_ns() const {
  if (pieces_.size() < 2)
    return kNoBound;
  std::int64_t most = forgotten_bound_;
  for (std::size_t i = 0; i + 1 < pieces_.size(); ++i)
    most = std::max(most, pieces_[i].bound);
  return most;
}

}  // namespace weft::internal
