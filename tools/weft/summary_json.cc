// SPDX-License-Identifier: Apache-2.0
#include "json_writer.h"
#include "summary_report.h"
#include "trace_file.h"

namespace weft::tools {
namespace {

using exporters::TraceInfo;

void write_spans(JsonWriter& json, const TraceInfo& info, const char* key,
                 const std::vector<const SpanFigures*>& spans, bool has_self) {
  json.open_array(key);
  for (const SpanFigures* span : spans) {
    const DurationHistogram& all = span->durations;
    json.open_object();
    json.member("name", info.text(span->name));
    json.member("count", all.count());
    json.member("total_ns", all.sum());
    if (has_self) json.member("self_ns", span->self_ns);
    json.member("mean_ns", all.mean());
    json.member("min_ns", all.min());
    json.member("p50_ns", all.percentile(5000));
    json.member("p90_ns", all.percentile(9000));
    json.member("p99_ns", all.percentile(9900));
    json.member("p99_9_ns", all.percentile(9990));
    json.member("max_ns", all.max());
    json.member("failed", span->failed);
    json.member("loss_inside", span->with_loss);
    if (has_self) json.member("not_nested", span->not_nested);
    json.member("clipped", span->clipped);
    json.member("begin_lost", span->begin_lost);
    json.member("never_ended", span->end_lost);
    json.close();
  }
  json.close();
}

void write_tree(JsonWriter& json, const SummaryReport& report,
                const SpanTree& tree) {
  const TraceInfo& info = *report.info;
  json.open_object();
  if (tree.request != 0) json.member("request", request_text(tree.id));
  json.member("begin_ns", tree.begin_ns - report.start_ns);
  json.member("duration_ns", tree.duration_ns());
  json.member("span_count", tree.span_count);
  json.open_array("spans");
  for (const PairedSpan& span : tree.spans) {
    json.open_object();
    json.member("name", info.text(span.name));
    json.member("thread", static_cast<std::uint32_t>(thread_of(span.line)));
    json.member("at_ns", span.begin_ns - tree.begin_ns);
    if (span.fate == SpanFate::kEndLost)
      json.null("duration_ns");
    else
      json.member("duration_ns", span.duration_ns());
    if (span.fate == SpanFate::kComplete) json.member("self_ns", span.self_ns);
    json.member("failed", span.failed);
    if (const std::string& arguments = report.trees->arguments(span);
        !arguments.empty())
      json.member("arguments", arguments);
    json.close();
  }
  json.close();
  json.close();
}

}  // namespace

std::string summary_json(const SummaryReport& report) {
  const TraceInfo& info = *report.info;
  JsonWriter json;
  json.open_object();
  json.member("file", *report.path);
  json.member("complete", info.complete);
  json.member("duration_ns", report.duration_ns);
  json.member("records", info.records);
  json.member("lost_records", lost_records(info));
  json.open_array("losses");
  for (const LossSum& sum : losses_by_reason(info)) {
    json.open_object();
    json.member("reason", drop_reason_text(sum.reason));
    json.member("records", sum.records);
    json.close();
  }
  json.close();
  write_spans(json, info, "spans", report.spans, true);
  write_spans(json, info, "async_spans", report.async_spans, false);
  const DurationHistogram requests = report.summary->requests().durations();
  json.open_object("requests");
  json.member("count", requests.count());
  json.member("mean_ns", requests.mean());
  json.member("p50_ns", requests.percentile(5000));
  json.member("p90_ns", requests.percentile(9000));
  json.member("p99_ns", requests.percentile(9900));
  json.member("p99_9_ns", requests.percentile(9990));
  json.member("max_ns", requests.max());
  json.close();
  json.open_array("counters");
  for (const CounterFigures& counter : report.summary->counters()) {
    json.open_object();
    json.member("name", info.text(counter.name));
    json.member("samples", counter.samples);
    json.member("min", static_cast<double>(counter.min));
    json.member("mean",
                static_cast<double>(
                    counter.sum / static_cast<long double>(counter.samples)));
    json.member("max", static_cast<double>(counter.max));
    json.member("last", static_cast<double>(counter.last));
    json.close();
  }
  json.close();
  json.open_array("instants");
  for (const InstantFigures& instant : report.summary->instants()) {
    json.open_object();
    json.member("name", info.text(instant.name));
    json.member("count", instant.count);
    json.close();
  }
  json.close();
  json.open_array("threads");
  for (const LineFigures& line : report.summary->lines()) {
    json.open_object();
    json.member("thread", static_cast<std::uint32_t>(thread_of(line.line)));
    json.member("signal_handlers", is_side_line(line.line));
    json.member("root_spans_ns", line.root_ns);
    json.close();
  }
  json.close();
  if (report.trees != nullptr) {
    json.open_array("slowest");
    for (const SpanTree& tree : report.trees->trees())
      write_tree(json, report, tree);
    json.close();
  }
  json.close();
  return json.take();
}

}  // namespace weft::tools
