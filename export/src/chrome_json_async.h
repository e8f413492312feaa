// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_CHROME_JSON_ASYNC_H_
#define WEFT_EXPORT_SRC_CHROME_JSON_ASYNC_H_

// Spans that belong to no thread's stack, from their begin to their end. Both
// ends are written together, when both are known; either may come first, since
// a file interleaves threads by blocks.

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

#include "chrome_json_names.h"

namespace weft::exporters {

struct AsyncBegin {
  std::int64_t ns = 0;
  std::uint32_t tid = 0;
  EventName name;
  std::string members;    // of "args"
  bool is_slice = false;  // was shown on its thread, up to where it fitted
};

struct AsyncEnd {
  std::int64_t ns = 0;
  std::uint32_t tid = 0;
  EventName name;
  std::string members;
};

class AsyncTable {
 public:
  // About 40 MB. The oldest gives way, see evict().
  static constexpr std::size_t kMaxOpen = 131'072;
  static constexpr std::size_t kMaxEarly = 32'768;

  // A begin or an end that is full is refused: evict first.
  bool full() const noexcept { return open_.size() >= kMaxOpen; }
  bool early_full() const noexcept { return early_.size() >= kMaxEarly; }

  void begin(std::uint64_t id, AsyncBegin begin);
  AsyncBegin* find(std::uint64_t id);
  // Removes and returns.
  std::optional<AsyncBegin> take(std::uint64_t id);
  struct Open {
    std::uint64_t id;
    AsyncBegin begin;
  };
  std::optional<Open> take_oldest();

  // Ends whose begin was not seen yet.
  void early_end(std::uint64_t id, AsyncEnd end);
  bool has_early() const noexcept { return !early_.empty(); }
  std::optional<AsyncEnd> take_early(std::uint64_t id);
  struct EarlyEnd {
    std::uint64_t id;
    AsyncEnd end;
  };
  std::optional<EarlyEnd> take_oldest_early();

  // The last ends, so that a second one of the same span can be told from the
  // end of a span that began before the trace.
  struct Ended {
    std::uint64_t id = 0;
    std::uint64_t number = 0;  // of the span in the file
    std::uint32_t tid = 0;
  };
  void note_ended(const Ended& ended) noexcept;
  // Null if `id` was not ended lately.
  const Ended* ended(std::uint64_t id) const noexcept;

 private:
  static constexpr std::size_t kEndedSlots = 4096;
  static std::size_t slot_of(std::uint64_t id) noexcept;

  std::unordered_map<std::uint64_t, AsyncBegin> open_;
  std::deque<std::uint64_t> open_order_;  // may name ids that are gone
  std::unordered_map<std::uint64_t, AsyncEnd> early_;
  std::deque<std::uint64_t> early_order_;
  std::array<Ended, kEndedSlots> ended_{};
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_CHROME_JSON_ASYNC_H_
