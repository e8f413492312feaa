// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_SUMMARY_REPORT_H_
#define WEFT_TOOLS_WEFT_SUMMARY_REPORT_H_

// A summary as text for a person, as JSON and as CSV.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "span_trees.h"
#include "trace_summary.h"

namespace weft::tools {

enum class SpanOrder : std::uint8_t {
  kTotal, kSelf, kCount, kMean, kP50, kP99, kMax, kName
};

// What a report shows, already in order and cut to a limit.
struct SummaryReport {
  const std::string* path = nullptr;
  const exporters::TraceInfo* info = nullptr;
  const TraceSummary* summary = nullptr;
  const SpanTrees* trees = nullptr;  // null: none were asked for
  std::int64_t start_ns = 0;         // of the recording
  std::uint64_t duration_ns = 0;     // to its end, or its last record if cut
  std::vector<const SpanFigures*> spans;
  std::vector<const SpanFigures*> async_spans;
};

// Largest first, names in alphabetical order; equals by name.
std::vector<const SpanFigures*> ordered(const exporters::TraceInfo& info,
                                        const std::vector<SpanFigures>& spans,
                                        SpanOrder order);

std::string summary_text(const SummaryReport& report, std::size_t width);
std::string summary_json(const SummaryReport& report);
// Rows of spans and asynchronous spans. A CSV file has no room for what was
// lost; say it elsewhere.
std::string summary_csv(const SummaryReport& report);

// The slowest requests and roots, one tree each.
std::string trees_text(const SummaryReport& report, std::size_t width);

// "LOST: 12 records: 7 ring full, 5 writer too slow", or empty.
std::string loss_line(const exporters::TraceInfo& info);

std::string span_name(const exporters::TraceInfo& info, StringId name);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_SUMMARY_REPORT_H_
