// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_CHROME_JSON_FLOWS_H_
#define WEFT_EXPORT_SRC_CHROME_JSON_FLOWS_H_

// Turns flow records into arrows. An arrow's begin may be written only if its
// end is known to exist, must come before it in time, and shares its id with no
// other arrow; records come thread by thread and programs use ids again. So the
// ends of an id are collected, and become arrows when the id is settled.

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "weft/record.h"

namespace weft::exporters {

// A flow record where it stands on its track: inside a span.
struct FlowPoint {
  std::int64_t ns = 0;      // since the base of the file
  std::int64_t raw_ns = 0;  // before it was moved, see FlowTable::add
  std::uint32_t tid = 0;
  SiteId site = SiteId::kNone;
  bool is_out = false;
};

// What a point turned out to be.
enum class FlowRole : std::uint8_t { kStart, kStep, kFinish, kAlone };

struct SettledPoint {
  FlowPoint point;
  FlowRole role = FlowRole::kAlone;
  std::uint64_t arrow = 0;         // its number, from 1; 0 if alone
  SiteId arrow_site = SiteId::kNone;  // of its start: names the whole arrow
};

class FlowTable {
 public:
  // kWholeChains: an id is settled when it is evicted or all are, so that all
  // ends of one begin are known: start, steps, finish.
  // kFirstPair: as soon as it has a begin and an end, so that little is lost
  // when the process dies; a later end of the same begin stays alone.
  enum class Settling : std::uint8_t { kWholeChains, kFirstPair };

  // Ids held at most, in about 30 MB; the oldest is settled to make room.
  static constexpr std::size_t kMaxIds = 131'072;
  static constexpr std::size_t kMaxPoints = 256;  // of one id

  // An end this little before its begin was written by a core whose counter
  // lags; more is no pair.
  static constexpr std::int64_t kSkewNs = 1000;

  explicit FlowTable(Settling settling) : settling_(settling) {}

  // The latest begin of `id` that is not after `ns` by more than the skew, or
  // `ns`: an end must not be shown before that.
  std::int64_t earliest_end(std::uint64_t id, std::int64_t ns) const;

  // Appends to `*settled` what this settles.
  void add(std::uint64_t id, const FlowPoint& point,
           std::vector<SettledPoint>* settled);
  std::size_t points() const noexcept { return points_; }  // not settled yet
  // Settles everything.
  void drain(std::vector<SettledPoint>* settled);

 private:
  using Points = std::vector<FlowPoint>;
  void settle(Points* points, std::vector<SettledPoint>* settled);

  Settling settling_;
  std::unordered_map<std::uint64_t, Points> open_;
  std::deque<std::uint64_t> order_;  // ids of open_, oldest first
  std::uint64_t arrows_ = 0;
  std::size_t points_ = 0;
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_CHROME_JSON_FLOWS_H_
