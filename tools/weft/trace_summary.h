// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_TRACE_SUMMARY_H_
#define WEFT_TOOLS_WEFT_TRACE_SUMMARY_H_

// What a trace comes to: figures per name, per thread and per request.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_set>
#include <vector>

#include "async_pairing.h"
#include "duration_histogram.h"
#include "requests.h"
#include "slowest_roots.h"
#include "span_pairing.h"
#include "weft/export/trace_reader.h"

namespace weft::tools {

// Spans of one name. Only complete ones and such that do not nest have their
// duration in the histogram.
struct SpanFigures {
  StringId name = StringId::kNone;
  DurationHistogram durations;
  std::uint64_t self_ns = 0;     // of those that nest
  std::uint64_t not_nested = 0;  // ended out of order or on another thread
  std::uint64_t failed = 0;
  std::uint64_t with_loss = 0;   // records were lost inside
  std::uint64_t clipped = 0;     // these have no duration
  std::uint64_t begin_lost = 0;
  std::uint64_t end_lost = 0;

  std::uint64_t incomplete() const noexcept {
    return clipped + begin_lost + end_lost;
  }
  std::uint64_t seen() const noexcept {
    return durations.count() + incomplete();
  }
  void add(const PairedSpan& span);
};

struct CounterFigures {
  StringId name = StringId::kNone;
  std::uint64_t samples = 0;
  long double min = 0;
  long double max = 0;
  long double sum = 0;
  long double last = 0;
  std::int64_t last_ns = 0;

  void add(long double value, std::int64_t ns);
};

struct InstantFigures {
  StringId name = StringId::kNone;
  std::uint64_t count = 0;
};

// Which spans, instants, counters and lines are counted. Self times and
// requests are those of the whole trace all the same.
struct SummaryFilter {
  std::unordered_set<std::uint32_t> categories;  // StringId; empty: all
  std::unordered_set<std::uint32_t> threads;     // ThreadIndex; empty: all
};

struct LineFigures {
  LineKey line = 0;
  std::uint64_t root_ns = 0;  // sum of the durations of its roots
};

class TraceSummary : private SpanSink {
 public:
  // `info` must outlive this. Keeps the `slowest` longest roots.
  TraceSummary(const exporters::TraceInfo& info, SummaryFilter filter,
               std::size_t slowest);

  // Every record, in the order of the file; then finish(), once.
  void add(const exporters::DecodedRecord& record, std::int64_t ns);
  void finish();

  // In the order of their names' ids.
  const std::vector<SpanFigures>& spans() const noexcept { return spans_; }
  const std::vector<SpanFigures>& async_spans() const noexcept {
    return async_spans_;
  }
  const std::vector<CounterFigures>& counters() const noexcept {
    return counters_;
  }
  const std::vector<InstantFigures>& instants() const noexcept {
    return instants_;
  }
  const std::vector<LineFigures>& lines() const noexcept { return lines_; }
  const Requests& requests() const noexcept { return requests_; }
  // Of the last record; the least number if there is none.
  std::int64_t last_ns() const noexcept { return last_ns_; }
  // Roots outside all requests, longest first.
  const std::vector<PairedSpan>& slowest_roots() const noexcept {
    return slowest_roots_;
  }

 private:
  void span(const PairedSpan& span) override;
  void left_stack(LineKey line, std::size_t depth) override;
  void add_async(const PairedSpan& span);
  void add_counter(const exporters::DecodedRecord& record, std::int64_t ns);
  bool is_counted(ThreadIndex thread) const;
  bool is_counted(ThreadIndex thread, SiteId site) const;
  std::uint32_t name_index(StringId name) const noexcept;

  const exporters::TraceInfo& info_;
  SummaryFilter filter_;
  std::size_t slowest_;
  Requests requests_;
  SpanPairing pairing_;
  AsyncPairing async_pairing_;
  SlowestRoots roots_;
  std::unordered_set<LineKey> seen_lines_;
  LineKey last_line_ = ~LineKey{0};
  std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::min();

  // By StringId until finish() takes the unused ones out.
  std::vector<SpanFigures> spans_;
  std::vector<SpanFigures> async_spans_;
  std::vector<CounterFigures> counters_;
  std::vector<InstantFigures> instants_;
  std::vector<LineFigures> lines_;
  std::vector<PairedSpan> slowest_roots_;
};

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_TRACE_SUMMARY_H_
