// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_CHROME_JSON_TRACK_H_
#define WEFT_EXPORT_SRC_CHROME_JSON_TRACK_H_

// One row of nested spans: a thread, or what its signal handlers recorded.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "chrome_json_names.h"
#include "weft/clock_line.h"
#include "weft/exporter.h"

namespace weft::exporters {

struct OpenSpan {
  std::uint64_t position = 0;
  std::int64_t begin_ns = 0;
  EventName name;
  std::string members;        // of its "args" so far
  std::size_t members_written = 0;  // of these, in the "B" event
  bool never_ends = false;    // known from reading ahead
  bool clipped = false;       // began before, or ends after, what is shown
  bool incomplete = false;    // records of its thread were lost inside it
  bool ended_elsewhere = false;  // shown as an async span too
};

// The stack of open spans. Popped entries keep their strings' memory for the
// next one, so that a thread in its usual depth allocates nothing.
class SpanStack {
 public:
  bool empty() const noexcept { return depth_ == 0; }
  std::size_t depth() const noexcept { return depth_; }
  OpenSpan& operator[](std::size_t i) { return spans_[i]; }
  OpenSpan& top() { return spans_[depth_ - 1]; }
  OpenSpan& push();
  void pop();
  // Index of the span that began at `position`, or npos.
  std::size_t find(std::uint64_t position) const noexcept;
  static constexpr std::size_t npos = ~std::size_t{0};

 private:
  std::vector<OpenSpan> spans_;
  std::size_t depth_ = 0;
};

// One number for each track of a process.
constexpr std::uint64_t track_key(ThreadIndex thread, bool side) noexcept {
  return std::uint64_t{static_cast<std::uint32_t>(thread)} << 1 | (side ? 1 : 0);
}

// Times are ns since the base of the file. Every event of a track gets a time
// later than the one before, see ChromeJsonWriter.
struct Track {
  ThreadIndex thread = ThreadIndex::kNone;
  bool side = false;  // records of signal handlers
  std::uint32_t tid = 0;
  ClockLine::Cursor cursor;
  std::string ids;    // text from the quote after the phase to "ts":
  bool named = false;  // its names are in the present file
  StringId name_shown = StringId::kNone;

  SpanStack stack;
  bool held = false;  // the "B" of the top waits: its end may come next
  std::int64_t last_ns = 0;   // of the last event
  std::int64_t raw_ns = 0;    // of the last record, before it was moved
  // Where a span is taken to begin whose begin is missing. last_ns was moved
  // past it, so that such a span encloses all that came later.
  std::int64_t open_from_ns = 0;
  bool started = false;       // open_from_ns is set

  std::string request;  // as a JSON value; empty: none

  std::deque<Loss> losses;  // not yet reached, by position

  bool cut = false;          // its open spans are to be opened again
  std::int64_t cut_ns = 0;   // in the present file, from here on
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_CHROME_JSON_TRACK_H_
