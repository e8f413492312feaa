// SPDX-License-Identifier: Apache-2.0
#include "trace_rows.h"

#include <algorithm>
#include <utility>

namespace weft::tools {

TraceRows::TraceRows(const exporters::TraceInfo& info)
    : info_(info),
      pairing_(info, requests_, *this),
      async_(info, [this](const PairedSpan& paired) { span(paired); }) {}

void TraceRows::add(const exporters::DecodedRecord& record, std::int64_t ns) {
  pairing_.add(record, ns);
  if (record.kind == RecordKind::kAsyncBegin ||
      record.kind == RecordKind::kAsyncEnd) {
    async_.add(record, ns, 0);
  }
}

void TraceRows::finish() {
  pairing_.finish();
  async_.finish();
}

void TraceRows::span(const PairedSpan& span) {
  if (span.fate != SpanFate::kComplete && span.fate != SpanFate::kNotNested) {
    ++incomplete_;
    return;
  }
  FunctionEvent& row = rows_.emplace_back();
  row.id = static_cast<std::int64_t>(rows_.size());
  row.name = info_.text(span.name);
  if (row.name.empty()) row.name = "(unnamed)";
  row.trace_name = row.name;
  row.scope = RecordScope::kUserScope;
  row.thread = static_cast<std::int64_t>(span.line);
  row.start_ns = span.begin_ns;
  row.end_ns = std::max(span.begin_ns, span.end_ns);
  row.is_async = span.fate == SpanFate::kNotNested;
}

EventList TraceRows::take() {
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const FunctionEvent& a, const FunctionEvent& b) {
                     return a.start_ns != b.start_ns ? a.start_ns < b.start_ns
                                                     : a.end_ns > b.end_ns;
                   });
  if (!rows_.empty()) {
    const std::int64_t first_ns = rows_.front().start_ns;
    for (FunctionEvent& row : rows_) {
      subtract_wrapping(row.start_ns, first_ns);
      subtract_wrapping(row.end_ns, first_ns);
    }
  }
  EventListOptions options;
  options.remove_duplicates = false;  // a row for every span
  return EventList(std::move(rows_), options);
}

}  // namespace weft::tools
