// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "quantity_text.h"
#include "summary_report.h"
#include "text_table.h"
#include "trace_file.h"

namespace weft::tools {
namespace {

using exporters::TraceInfo;
using Column = TextTable::Column;

std::string span_table(const SummaryReport& report,
                       const std::vector<const SpanFigures*>& spans,
                       const char* head, bool has_self, std::size_t width) {
  std::vector<Column> columns{{head, Align::kLeft}, {"count"}, {"total"}};
  if (has_self) columns.push_back({"self"});
  for (const char* column : {"mean", "p50", "p90", "p99", "p99.9", "max"})
    columns.push_back({column});
  TextTable table(columns);
  for (const SpanFigures* span : spans) {
    const DurationHistogram& all = span->durations;
    const auto time = [&](std::uint64_t ns) {
      return all.count() == 0 ? std::string("-") : duration_text(ns);
    };
    std::vector<std::string> row{span_name(*report.info, span->name),
                                 count_text(all.count()), time(all.sum())};
    if (has_self) row.push_back(time(span->self_ns));
    row.push_back(time(all.mean()));
    for (const std::uint32_t p : {5000u, 9000u, 9900u, 9990u})
      row.push_back(time(all.percentile(p)));
    row.push_back(time(all.max()));
    table.add_row(std::move(row));
  }
  return table.text(width);
}

// What the table of times cannot show, a row for each name that has any.
std::string remarks_table(const SummaryReport& report,
                          const std::vector<const SpanFigures*>& spans,
                          std::size_t width) {
  struct Remark {
    const char* head;
    std::uint64_t SpanFigures::* count;
  };
  constexpr Remark kRemarks[] = {{"failed", &SpanFigures::failed},
                                 {"loss inside", &SpanFigures::with_loss},
                                 {"not nested", &SpanFigures::not_nested},
                                 {"clipped", &SpanFigures::clipped},
                                 {"begin lost", &SpanFigures::begin_lost},
                                 {"never ended", &SpanFigures::end_lost}};
  std::vector<Column> columns{{"remarks", Align::kLeft}};
  std::vector<std::uint64_t SpanFigures::*> shown;
  for (const Remark& remark : kRemarks) {
    if (std::none_of(spans.begin(), spans.end(), [&](const SpanFigures* s) {
          return s->*remark.count != 0;
        }))
      continue;
    columns.push_back({remark.head});
    shown.push_back(remark.count);
  }
  if (shown.empty()) return {};
  TextTable table(columns);
  for (const SpanFigures* span : spans) {
    std::vector<std::string> row{span_name(*report.info, span->name)};
    bool is_remarkable = false;
    for (const auto count : shown) {
      is_remarkable |= span->*count != 0;
      row.push_back(span->*count == 0 ? "-" : count_text(span->*count));
    }
    if (is_remarkable) table.add_row(std::move(row));
  }
  const bool has_incomplete = std::any_of(
      spans.begin(), spans.end(),
      [](const SpanFigures* s) { return s->incomplete() != 0; });
  return "\n" + table.text(width) +
         (has_incomplete ? "Clipped spans and those without begin or end are "
                           "in no other figure.\n"
                         : "");
}

std::string counter_table(const SummaryReport& report, std::size_t width) {
  const auto& counters = report.summary->counters();
  if (counters.empty()) return {};
  TextTable table({{"counter", Align::kLeft},
                   {"samples"}, {"min"}, {"mean"}, {"max"}, {"last"}});
  for (const CounterFigures& counter : counters)
    table.add_row({span_name(*report.info, counter.name),
                   count_text(counter.samples), value_text(counter.min),
                   value_text(counter.sum /
                              static_cast<long double>(counter.samples)),
                   value_text(counter.max), value_text(counter.last)});
  return "\n" + table.text(width);
}

std::string instant_table(const SummaryReport& report, std::size_t width) {
  const auto& instants = report.summary->instants();
  if (instants.empty()) return {};
  TextTable table({{"instant", Align::kLeft}, {"count"}});
  for (const InstantFigures& instant : instants)
    table.add_row({span_name(*report.info, instant.name),
                   count_text(instant.count)});
  return "\n" + table.text(width);
}

std::string thread_table(const SummaryReport& report, std::size_t width) {
  TextTable table({{"thread", Align::kLeft}, {"in spans"}});
  std::size_t shown = 0;
  auto lines = report.summary->lines();
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
    return a.root_ns > b.root_ns;
  });
  constexpr std::size_t kMostThreads = 20;
  for (const LineFigures& line : lines) {
    if (line.root_ns == 0) continue;
    if (shown++ == kMostThreads) break;
    table.add_row({thread_text(*report.info, thread_of(line.line)) +
                       (is_side_line(line.line) ? ", signal handlers" : ""),
                   duration_text(line.root_ns)});
  }
  if (table.empty()) return {};
  std::string out = "\n" + table.text(width);
  if (shown > kMostThreads)
    out += fmt::format("{} busiest threads of {}\n", kMostThreads,
                       count_text(lines.size()));
  return out;
}

std::string request_table(const SummaryReport& report, std::size_t width) {
  const DurationHistogram all = report.summary->requests().durations();
  if (all.count() == 0) return {};
  TextTable table({{"requests", Align::kRight},
                   {"mean"}, {"p50"}, {"p90"}, {"p99"}, {"p99.9"}, {"max"}});
  std::vector<std::string> row{count_text(all.count()),
                               duration_text(all.mean())};
  for (const std::uint32_t p : {5000u, 9000u, 9900u, 9990u})
    row.push_back(duration_text(all.percentile(p)));
  row.push_back(duration_text(all.max()));
  table.add_row(std::move(row));
  return "\n" + table.text(width);
}

std::string heading(const SummaryReport& report) {
  const TraceInfo& info = *report.info;
  return fmt::format("{}: {}, {}, {}, {}\n\n", printable(*report.path),
                     printable(info.process.executable.empty()
                                   ? "unknown program"
                                   : info.process.executable),
                     duration_text(report.duration_ns),
                     plural(info.records, "record"),
                     plural(info.threads.size(), "thread"));
}

}  // namespace

std::string summary_text(const SummaryReport& report, std::size_t width) {
  std::string out;
  if (const std::string lost = loss_line(*report.info); !lost.empty())
    out += lost + "\n";
  out += heading(report);
  if (report.spans.empty() && report.async_spans.empty())
    out += "no spans\n";
  if (!report.spans.empty())
    out += span_table(report, report.spans, "span", true, width);
  if (const std::size_t all = report.summary->spans().size();
      report.spans.size() < all)
    out += fmt::format("{} of {} names\n", report.spans.size(),
                       count_text(all));
  out += remarks_table(report, report.spans, width);
  if (!report.async_spans.empty()) {
    out += "\n" + span_table(report, report.async_spans, "async span", false,
                             width);
  }
  out += request_table(report, width);
  out += counter_table(report, width);
  out += instant_table(report, width);
  out += thread_table(report, width);
  if (report.trees != nullptr) out += trees_text(report, width);
  return out;
}

}  // namespace weft::tools
