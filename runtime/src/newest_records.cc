// SPDX-License-Identifier: Apache-2.0
#include "newest_records.h"

#include <algorithm>
#include <unordered_map>

#include "pipeline.h"
#include "run_slice.h"

namespace weft {
namespace {

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

}  // namespace

NewestRecords::NewestRecords(const Limits& limits, double ticks_per_ns)
    : max_records_(limits.records != 0 ? limits.records : kNoLimit),
      max_slots_((limits.bytes != 0 ? std::min(limits.bytes, kMaxBytes)
                                    : kMaxBytes) /
                 sizeof(Slot)),
      max_age_(limits.duration.count() != 0
                   ? static_cast<Ticks>(
                         static_cast<double>(limits.duration.count()) *
                         ticks_per_ns)
                   : kNoLimit) {}

Ticks NewestRecords::Piece::oldest_tick() const noexcept {
  return unwrap_tick(payload_of(slots[begin]), run.reference);
}

std::uint64_t NewestRecords::add(const Run& run, std::uint64_t records) {
  Piece piece;
  piece.run = run;
  piece.slots.reserve(size_of(run));
  piece.slots.assign(run.first, run.first + run.first_count);
  piece.slots.insert(piece.slots.end(), run.second,
                     run.second + run.second_count);
  newest_tick_ = std::max(newest_tick_, piece.oldest_tick());
  slots_ += piece.slots.size();
  records_ += records;
  pieces_.push_back(std::move(piece));
  std::uint64_t dropped = 0;
  while (over_limit()) dropped += drop_oldest();
  return dropped;
}

bool NewestRecords::over_limit() const noexcept {
  if (pieces_.empty()) return false;
  const Ticks oldest = pieces_.front().oldest_tick();
  return records_ > max_records_ || slots_ > max_slots_ ||
         (newest_tick_ > oldest && newest_tick_ - oldest > max_age_);
}

// The oldest record of the oldest run.
std::uint64_t NewestRecords::drop_oldest() {
  Piece& piece = pieces_.front();
  const auto size = static_cast<std::uint32_t>(piece.slots.size());
  std::uint32_t end = piece.begin + 1;
  while (end < size && is_continuation(piece.slots[end])) ++end;
  const std::uint64_t records =
      is_mark(kind_of(piece.slots[piece.begin])) ? 0 : 1;
  slots_ -= end - piece.begin;
  records_ -= records;
  piece.begin = end;
  if (end == size) pieces_.pop_front();
  return records;
}

std::uint64_t NewestRecords::release_to(Exporter& exporter) {
  std::uint64_t refused = 0;
  std::unordered_map<ThreadIndex, std::uint64_t> handed_over;  // position
  for (const Piece& piece : pieces_) {
    Run run = piece.run;
    run.position += piece.begin;
    run.first = piece.slots.data() + piece.begin;
    run.first_count = static_cast<std::uint32_t>(piece.slots.size()) - piece.begin;
    run.second = nullptr;
    run.second_count = 0;
    if ((run.position & kSidePosition) == 0) {
      // What was dropped in between was left out, not lost.
      const auto before = handed_over.find(run.thread);
      run.skipped = before == handed_over.end() ? 0 : run.position - before->second;
      handed_over[run.thread] = run.position + run.first_count;
    }
    if (exporter.consume(run)) continue;
    const std::uint64_t records = count_records(run);
    exporter.lose({run.thread, run.position, records, DropReason::kSlowSink});
    refused += records;
  }
  pieces_.clear();
  return refused;
}

}  // namespace weft
