// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_NEWEST_RECORDS_H_
#define WEFT_SRC_NEWEST_RECORDS_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "weft/exporter.h"
#include "weft/session.h"

namespace weft {

// The newest records of a subscription whose limit keeps those: copies, dropped
// from the old end, handed to the exporter when the subscription ends.
//
//   oldest [ run of A | run of B | run of A | ... ] newest
//             ^ dropped record by record
//
// Whatever the limit, the copies take no more than kMaxBytes, so that they fit
// an exporter's blocks at once. Drainer only.
class NewestRecords {
 public:
  static constexpr std::uint64_t kMaxBytes = 16u << 20;

  // `ticks_per_ns` turns the limit's duration into ticks.
  NewestRecords(const Limits& limits, double ticks_per_ns);

  // Copies a run of `records` records; returns how many old ones had to go.
  std::uint64_t add(const Run& run, std::uint64_t records);

  // Hands everything to `exporter` and forgets it. Returns the records that it
  // refused.
  std::uint64_t release_to(Exporter& exporter);

 private:
  // A run of one piece that owns its slots; those before `begin` are dropped.
  struct Piece {
    Run run;
    std::vector<Slot> slots;
    std::uint32_t begin = 0;
    Ticks oldest_tick() const noexcept;
  };

  bool over_limit() const noexcept;
  std::uint64_t drop_oldest();

  std::uint64_t max_records_;
  std::uint64_t max_slots_;
  Ticks max_age_;
  std::deque<Piece> pieces_;
  std::uint64_t records_ = 0;
  std::uint64_t slots_ = 0;
  Ticks newest_tick_ = 0;
};

}  // namespace weft

#endif  // WEFT_SRC_NEWEST_RECORDS_H_
