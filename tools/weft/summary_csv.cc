// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "csv_field.h"
#include "summary_report.h"

namespace weft::tools {
std::string summary_csv(const SummaryReport& report) {
  std::string out =
      "kind,name,count,total_ns,self_ns,mean_ns,min_ns,p50_ns,p90_ns,p99_ns,"
      "p99_9_ns,max_ns,failed,loss_inside,not_nested,clipped,begin_lost,"
      "never_ended\r\n";
  const auto add = [&](const char* kind, const SpanFigures& span,
                       const std::string& self, const std::string& nested) {
    const DurationHistogram& all = span.durations;
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n",
                       kind, csv_field(report.info->text(span.name)), all.count(),
                       all.sum(), self, all.mean(), all.min(),
                       all.percentile(5000), all.percentile(9000),
                       all.percentile(9900), all.percentile(9990), all.max(),
                       span.failed, span.with_loss, nested, span.clipped,
                       span.begin_lost, span.end_lost);
  };
  for (const SpanFigures* span : report.spans)
    add("span", *span, std::to_string(span->self_ns),
        std::to_string(span->not_nested));
  for (const SpanFigures* span : report.async_spans)
    add("async_span", *span, "", "");
  return out;
}

}  // namespace weft::tools
