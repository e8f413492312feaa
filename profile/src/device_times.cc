// SPDX-License-Identifier: Apache-2.0
#include "device_times.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "weft/internal/tick_scale.h"

namespace weft::profile {
namespace {

using internal::AnchoredLine;
using Point = AnchoredLine::Point;

Point point_of(const DeviceClockPair& pair, const ClockLine& host) {
  const std::int64_t before = host.to_ns(pair.ticks_before);
  const std::int64_t after = std::max(before, host.to_ns(pair.ticks_after));
  const std::uint64_t half = internal::ns_between(before, after) / 2;
  return {pair.device_time, before + static_cast<std::int64_t>(half),
          static_cast<std::uint16_t>(
              std::min<std::uint64_t>(half, kHalfWidthUnknown))};
}

// The longest chain in which both clocks go on. `points` are in the order of
// the host's clock.
std::vector<Point> longest_chain(const std::vector<Point>& points) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> ends;  // of the best chain of each length
  std::vector<std::size_t> before(points.size(), kNone);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto at = std::lower_bound(
        ends.begin(), ends.end(), points[i].tick,
        [&](std::size_t end, Ticks tick) { return points[end].tick < tick; });
    if (at != ends.begin()) before[i] = *std::prev(at);
    if (at == ends.end()) {
      ends.push_back(i);
    } else {
      *at = i;
    }
  }
  std::vector<Point> chain;
  for (std::size_t i = ends.empty() ? kNone : ends.back(); i != kNone;
       i = before[i])
    chain.push_back(points[i]);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

}  // namespace

DeviceTimes::DeviceTimes(const DeviceRecords& records, const ClockLine& host)
    : host_(host), clock_(records.abilities.clock) {
  if (clock_ != DeviceClock::kOwn) return;
  std::map<std::uint32_t, std::vector<Point>> points_of;
  for (const DeviceClockPair& pair : records.clock_pairs)
    points_of[pair.device].push_back(point_of(pair, host));
  for (auto& [device, points] : points_of) {
    std::stable_sort(
        points.begin(), points.end(),
        [](const Point& a, const Point& b) { return a.ns < b.ns; });
    const std::vector<Point> chain = longest_chain(points);
    bad_pairs_ += points.size() - chain.size();
    AnchoredLine line(internal::kOneNsPerTick, ClockLine::kKeepAll);
    for (const Point& point : chain) {
      if (line.points() == 0) {
        line.begin_epoch(point);
      } else {
        line.extend(point);
      }
    }
    lines_.emplace(device, std::move(line));
  }
}

std::optional<std::int64_t> DeviceTimes::to_ns(std::uint32_t device,
                                               std::uint64_t time) const {
  switch (clock_) {
    case DeviceClock::kHostTicks:
      return host_.to_ns(time);
    case DeviceClock::kMonotonicNs:
      return static_cast<std::int64_t>(time);
    case DeviceClock::kOwn:
      break;
  }
  auto line = lines_.find(device);
  if (line == lines_.end()) line = lines_.find(kAllDevices);
  if (line == lines_.end()) return std::nullopt;
  AnchoredLine::Cursor cursor;
  return line->second.to_ns(time, cursor);
}

}  // namespace weft::profile
