// SPDX-License-Identifier: Apache-2.0
#include "weft/live.h"

#include <cstdio>
#include <mutex>

#include "immortal.h"
#include "session_control.h"
#include "snapshot_request.h"
#include "weft/status.h"

namespace weft {
namespace {

constexpr auto kMaxLimit = std::chrono::hours(1);

std::shared_ptr<LiveFigures> live_figures() {
  std::shared_ptr<LiveFigures> live;
  (void)with_session([&](const RunningSession& session) { live = session.live; });
  return live;
}

// As the text format wants label values.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

std::string seconds(std::int64_t ns) {
  char text[40];
  std::snprintf(text, sizeof text, "%lld.%09lld",
                static_cast<long long>(ns / 1'000'000'000),
                static_cast<long long>(ns % 1'000'000'000));
  return text;
}

void add_summary(std::string* text, const Latency& latency) {
  const std::string name = "{name=\"" + escaped(latency.name) + "\"";
  const std::pair<const char*, std::int64_t> quantiles[] = {
      {"0.5", latency.p50_ns},
      {"0.9", latency.p90_ns},
      {"0.99", latency.p99_ns},
      {"0.999", latency.p999_ns},
      {"1", latency.greatest_ns}};
  for (const auto& [share, ns] : quantiles)
    *text += "weft_span_seconds" + name + ",quantile=\"" + share + "\"} " +
             seconds(ns) + "\n";
  *text += "weft_span_seconds_sum" + name + "} " + seconds(latency.total_ns) +
           "\n";
  *text += "weft_span_seconds_count" + name + "} " +
           std::to_string(latency.count) + "\n";
}

}  // namespace

SpanBudgets& span_budgets() {
  static Immortal<SpanBudgets> all;
  return *all;
}

std::optional<Latency> latency(std::string_view name) {
  const std::shared_ptr<LiveFigures> live = live_figures();
  return live == nullptr ? std::nullopt : live->latency(name);
}

std::vector<Latency> latencies() {
  const std::shared_ptr<LiveFigures> live = live_figures();
  return live == nullptr ? std::vector<Latency>() : live->latencies();
}

std::string metrics_text() {
  const RuntimeStatus now = status();
  std::string text;
  text += "# HELP weft_records_delivered_total Records given to the output.\n";
  text += "# TYPE weft_records_delivered_total counter\n";
  text += "weft_records_delivered_total " + std::to_string(now.delivered) + "\n";
  text += "# HELP weft_records_dropped_total Records that are missing.\n";
  text += "# TYPE weft_records_dropped_total counter\n";
  text += "weft_records_dropped_total " + std::to_string(now.total_dropped()) +
          "\n";
  const std::vector<Latency> all = latencies();
  if (all.empty()) return text;
  text += "# HELP weft_spans_over_budget_total Spans longer than allowed.\n";
  text += "# TYPE weft_spans_over_budget_total counter\n";
  text += "weft_spans_over_budget_total " + std::to_string(spans_over_budget()) +
          "\n";
  text += "# HELP weft_span_seconds Durations of spans by name.\n";
  text += "# TYPE weft_span_seconds summary\n";
  for (const Latency& latency : all) add_summary(&text, latency);
  return text;
}

Result<void> set_span_budget(std::string_view name,
                             std::chrono::nanoseconds limit) {
  if (limit.count() < 0 || limit > kMaxLimit)
    return Error{ErrorCode::kInvalidArgument,
                 "budget of \"" + std::string(name) + "\" = " +
                     std::to_string(limit.count()) +
                     " ns: must lie between 0 and 1 h"};
  static Immortal<std::mutex> one_at_a_time;
  const std::scoped_lock lock(*one_at_a_time);
  if (!span_budgets().set(name, limit.count()))
    return Error{ErrorCode::kLimit,
                 "budget of \"" + std::string(name) + "\": " +
                     std::to_string(SpanBudgets::kMaxBudgets) +
                     " names have one already"};
  return {};
}

std::uint64_t spans_over_budget() {
  const std::shared_ptr<LiveFigures> live = live_figures();
  return live == nullptr ? 0 : live->over_budget();
}

}  // namespace weft
