// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_CHROME_JSON_COUNTS_H_
#define WEFT_EXPORT_SRC_CHROME_JSON_COUNTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft::exporters {

// What became of the records of one conversion, in all its files. A file's
// "weft" object tells those that are not 0: what it shows differently from what
// was recorded, and what it does not show.
struct ChromeJsonCounts {
  std::uint64_t spans = 0;
  std::uint64_t async_spans = 0;
  std::uint64_t instants = 0;
  std::uint64_t counter_values = 0;
  std::uint64_t arrows = 0;

  std::uint64_t times_moved_apart = 0;   // by 1 ns a record of the same tick
  std::uint64_t times_backwards = 0;     // earlier than the record before
  std::uint64_t spans_open_at_start = 0;
  std::uint64_t spans_open_at_end = 0;
  std::uint64_t spans_incomplete = 0;    // records were lost inside
  std::uint64_t spans_out_of_order = 0;  // shown as async spans
  std::uint64_t spans_ended_elsewhere = 0;  // likewise
  std::uint64_t async_unfinished = 0;
  std::uint64_t async_open_at_start = 0;
  std::uint64_t async_evicted = 0;       // more were open than the table holds
  std::uint64_t async_ended_twice = 0;
  std::uint64_t ends_without_begin = 0;  // not shown: no room on their track
  std::uint64_t spans_too_deep = 0;      // not shown
  std::uint64_t arguments_without_span = 0;  // not shown
  std::uint64_t flows_alone = 0;         // shown as instants
  std::uint64_t flow_ends_moved = 0;     // behind their begin
  std::uint64_t counters_not_finite = 0; // shown as instants
  std::uint64_t invalid_utf8_bytes = 0;
  std::uint64_t records_dropped = 0;     // as the recorder says
  std::uint64_t records_not_shown = 0;   // kinds that have no place in JSON

  // Mistakes of the traced program, in words; the first kMaxMessages of them.
  static constexpr std::size_t kMaxMessages = 100;
  std::vector<std::string> messages;
  std::uint64_t messages_left_out = 0;

  void message(std::string text) {
    if (messages.size() < kMaxMessages) {
      messages.push_back(std::move(text));
    } else {
      ++messages_left_out;
    }
  }
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_CHROME_JSON_COUNTS_H_
