// SPDX-License-Identifier: Apache-2.0
#include "async_pairing.h"

#include <algorithm>

namespace weft::tools {

void AsyncPairing::add(const exporters::DecodedRecord& record, std::int64_t ns,
                       RequestNumber request) {
  if (record.kind == RecordKind::kAsyncEnd) {
    if (info_.site(record.site).kind == SiteKind::kSpan) return;
    const End end{ns, record.flags, line_of(record), record.position};
    const auto begun = open_.find(record.target);
    if (begun == open_.end()) {
      early_[record.target] = end;
      return;
    }
    const PairedSpan span = begun->second;
    open_.erase(begun);
    return report(span, end);
  }

  PairedSpan span;
  span.line = line_of(record);
  span.position = record.position;
  span.site = record.site;
  span.name = record.name != StringId::kNone ? record.name
                                             : info_.site(record.site).name;
  span.request = request;
  span.begin_ns = span.end_ns = ns;
  span.fate = (record.flags & kFlagClipped) != 0 ? SpanFate::kClipped
                                                 : SpanFate::kNotNested;
  const std::uint64_t id = async_id(record.thread, record.position);
  const auto early = early_.find(id);
  if (early == early_.end()) {
    open_[id] = span;
    return;
  }
  const End end = early->second;
  early_.erase(early);
  report(span, end);
}

void AsyncPairing::report(PairedSpan span, const End& end) {
  // Clocks of two threads may differ by their error bounds.
  span.end_ns = std::max(span.begin_ns, end.ns);
  if ((end.flags & kFlagClipped) != 0) span.fate = SpanFate::kClipped;
  sink_(span);
}

void AsyncPairing::finish() {
  for (auto& [id, span] : open_) {
    if (span.fate != SpanFate::kClipped) span.fate = SpanFate::kEndLost;
    sink_(span);
  }
  for (const auto& [id, end] : early_) {
    PairedSpan span;
    span.line = end.line;
    span.end_position = end.position;
    span.begin_ns = span.end_ns = end.ns;
    span.fate = SpanFate::kBeginLost;
    sink_(span);
  }
  open_.clear();
  early_.clear();
}

}  // namespace weft::tools
