// SPDX-License-Identifier: Apache-2.0
#include "summary_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "quantity_text.h"
#include "trace_file.h"

namespace weft::tools {
namespace {

using exporters::TraceInfo;

std::uint64_t rank_of(const SpanFigures& span, SpanOrder order) {
  switch (order) {
    case SpanOrder::kTotal: return span.durations.sum();
    case SpanOrder::kSelf: return span.self_ns;
    case SpanOrder::kCount: return span.durations.count();
    case SpanOrder::kMean: return span.durations.mean();
    case SpanOrder::kP50: return span.durations.percentile(5000);
    case SpanOrder::kP99: return span.durations.percentile(9900);
    case SpanOrder::kMax: return span.durations.max();
    case SpanOrder::kName: break;
  }
  return 0;
}

}  // namespace

std::vector<const SpanFigures*> ordered(const TraceInfo& info,
                                        const std::vector<SpanFigures>& spans,
                                        SpanOrder order) {
  std::vector<std::pair<std::uint64_t, const SpanFigures*>> ranked;
  for (const SpanFigures& span : spans)
    ranked.emplace_back(rank_of(span, order), &span);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&](const auto& a, const auto& b) {
                     if (a.first != b.first) return a.first > b.first;
                     return info.text(a.second->name) <
                            info.text(b.second->name);
                   });
  std::vector<const SpanFigures*> out;
  for (const auto& [rank, span] : ranked) out.push_back(span);
  return out;
}

std::string span_name(const TraceInfo& info, StringId name) {
  const std::string_view text = info.text(name);
  return text.empty() ? "(unnamed)" : printable(text);
}

std::string loss_line(const TraceInfo& info) {
  const std::uint64_t lost = lost_records(info);
  if (lost == 0) return {};
  std::string reasons;
  for (const LossSum& sum : losses_by_reason(info))
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ",
                           count_text(sum.records),
                           drop_reason_text(sum.reason));
  return fmt::format("LOST: {}: {}", plural(lost, "record"), reasons);
}

}  // namespace weft::tools
