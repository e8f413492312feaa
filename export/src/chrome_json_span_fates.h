// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_CHROME_JSON_SPAN_FATES_H_
#define WEFT_EXPORT_SRC_CHROME_JSON_SPAN_FATES_H_

// Which spans of a file do not fit on their thread's stack, found by reading it
// once before it is written. A viewer draws one stack a thread, so a span must
// be known not to nest when its begin is written, long before its end is seen.

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "weft/export/decoded_record.h"
#include "weft/export/trace_reader.h"

namespace weft::exporters {

enum class SpanFate : std::uint8_t {
  kNests,      // ends as the innermost open span of its thread
  kAsync,      // ends out of order, or on another thread
  kNeverEnds,  // its end is not in the file
};

// Deeper spans are counted and not shown; no viewer draws that many rows.
inline constexpr std::size_t kMaxOpenSpans = 10'000;

// What an async_id() names.
struct SpanPlace {
  ThreadIndex thread = ThreadIndex::kNone;
  bool side = false;
  std::uint64_t position = 0;  // without kSidePosition
};

constexpr std::uint64_t kIdPositionMask =
    (std::uint64_t{1} << kAsyncPositionBits) - 1;

constexpr SpanPlace place_of(std::uint64_t id) noexcept {
  return {static_cast<ThreadIndex>(
              static_cast<std::uint32_t>(id >> (kAsyncPositionBits + 1))),
          (id >> kAsyncPositionBits & 1) != 0, id & kIdPositionMask};
}

// By async_id(). Only spans that do not nest are in the table.
class SpanFates {
 public:
  // At most this many are remembered, in about 32 MB. A file with more of them
  // is still written as strict JSON: the rest are cut where they do not nest.
  static constexpr std::size_t kMaxFates = 500'000;

  SpanFate of(std::uint64_t id) const noexcept {
    if (fates_.empty()) return SpanFate::kNests;
    const auto found = fates_.find(id);
    return found == fates_.end() ? SpanFate::kNests : found->second;
  }

 private:
  friend class SpanFateFinder;
  std::unordered_map<std::uint64_t, SpanFate> fates_;
};

// Follows the stacks of all threads. Memory: open spans, and the table.
class SpanFateFinder {
 public:
  explicit SpanFateFinder(const TraceInfo& info) : info_(info) {}

  void add(const DecodedRecord& record);
  SpanFates finish();

 private:
  // Positions of open spans, which only grow from bottom to top.
  using Stack = std::vector<std::uint64_t>;

  void begin(const DecodedRecord& record);
  void end(const DecodedRecord& record);
  void end_elsewhere(const DecodedRecord& record);
  void set(std::uint64_t id, SpanFate fate);

  const TraceInfo& info_;
  std::unordered_map<std::uint32_t, Stack> stacks_;       // by thread
  std::unordered_map<std::uint32_t, Stack> side_stacks_;  // in signal handlers
  Stack* last_stack_ = nullptr;  // runs are long: mostly the same as before
  ThreadIndex last_thread_ = ThreadIndex::kNone;
  bool last_side_ = false;

  // Spans that were open above one that ended. If their end comes after all
  // they ended out of order, else never.
  std::unordered_set<std::uint64_t> passed_over_;

  // Ends whose begin lies later in the file: blocks interleave threads.
  std::unordered_set<std::uint64_t> early_ends_;
  std::deque<std::uint64_t> early_order_;

  SpanFates fates_;

  Stack& stack_of(ThreadIndex thread, bool side);
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_CHROME_JSON_SPAN_FATES_H_
