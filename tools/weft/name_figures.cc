// SPDX-License-Identifier: Apache-2.0
#include "name_figures.h"

#include <utility>

#include "imported_trace.h"
#include "line_clock.h"
#include "summary_report.h"
#include "terminal.h"
#include "trace_file.h"
#include "trace_kind.h"
#include "trace_summary.h"

namespace weft::tools {
namespace {

// In bounded memory, however long the trace.
std::optional<NameFigures> figures_of_weft(const std::string& path) {
  auto reader = open_trace(path);
  if (!reader) return std::nullopt;
  LineClock clock(reader->info());
  TraceSummary summary(reader->info(), {}, 0);
  Progress progress("reading");
  exporters::DecodedRecord record;
  while (reader->next(&record)) {
    summary.add(record, clock.time_of(record));
    progress.step([&] { return reader->progress(); });
  }
  summary.finish();
  remark(path, reader->info());
  if (const std::string lost = loss_line(reader->info()); !lost.empty())
    complain(path + ": note: " + lost);
  NameFigures figures;
  for (const auto* spans : {&summary.spans(), &summary.async_spans()})
    for (const SpanFigures& span : *spans)
      if (span.durations.count() > 0)
        figures[span_name(reader->info(), span.name)].merge(span.durations);
  return figures;
}

}  // namespace

std::optional<NameFigures> name_figures(const std::string& path) {
  if (trace_kind(path) == TraceKind::kWeft) return figures_of_weft(path);
  const auto events = import_trace(path);
  if (!events) return std::nullopt;
  NameFigures figures;
  for (const FunctionEvent& event : *events) {
    if (event.is_instant() || event.is_user_annotation) continue;
    const std::int64_t ns = event.duration_ns();
    figures[event.is_host() ? event.name : event.name + " [device]"].add(
        ns < 0 ? 0 : static_cast<std::uint64_t>(ns));
  }
  return figures;
}

}  // namespace weft::tools
