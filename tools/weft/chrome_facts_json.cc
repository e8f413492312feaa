// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "foreign_facts.h"

namespace weft::tools {
namespace {

constexpr std::size_t kShownSeries = 3;

const char* form_text(ChromeFileForm form) {
  switch (form) {
    case ChromeFileForm::kEmpty: return "empty";
    case ChromeFileForm::kArray: return "array";
    case ChromeFileForm::kObject: return "object";
    case ChromeFileForm::kLines: break;
  }
  return "lines";
}

const char* state_text(ChromeFileState state) {
  switch (state) {
    case ChromeFileState::kEmpty: return "empty";
    case ChromeFileState::kValid: return "valid";
    case ChromeFileState::kRepaired: return "repaired";
    case ChromeFileState::kUnterminated: return "unterminated";
    case ChromeFileState::kBroken: break;
  }
  return "cut or broken";
}

void write_complete(JsonWriter& json, const ChromeFacts& facts) {
  json.member("complete_events", facts.complete_events);
  if (facts.complete_with_bad_time > 0) {
    json.member("complete_with_bad_ts", facts.complete_with_bad_time);
  }
  if (facts.complete_without_duration > 0) {
    json.member("complete_without_dur", facts.complete_without_duration);
  }
  write_map(json, "complete_by_cat", facts.complete_by_category);
  json.member("total_complete_time_us",
              microseconds_text(facts.total_complete_ns));
  if (facts.first_ns) {
    json.member("min_ts_us", microseconds_text(*facts.first_ns));
    json.member("max_end_us", microseconds_text(*facts.last_ns));
    json.member("negative_ts", facts.negative_times);
  }
  json.member("pids", facts.pids);
  json.member("threads", facts.threads);
  write_counts(json, "top3_complete_names", facts.top_names);
  if (!facts.busiest_thread) return;
  json.open_object("busiest_thread");
  json.member("pid", facts.busiest_thread->pid);
  json.member("tid", facts.busiest_thread->tid);
  json.member("complete_events", facts.busiest_thread->events);
  json.member("max_depth", facts.busiest_thread->max_depth);
  json.member("partial_overlaps", facts.busiest_thread->partial_overlaps);
  json.close();
}

void write_pairs(JsonWriter& json, const ChromeFacts& facts) {
  if (const auto& pairs = facts.begin_end) {
    json.open_object("begin_end");
    json.member("matched_pairs", pairs->pairs);
    json.member("unmatched_B", pairs->begins_alone);
    json.member("unmatched_E", pairs->ends_alone);
    json.member("pairs_whose_names_differ", pairs->names_differ);
    json.member("max_depth", pairs->max_depth);
    json.member("total_time_us", microseconds_text(pairs->total_ns));
    json.close();
  }
  if (const auto& pairs = facts.async) {
    json.open_object("async_b_e");
    json.member("pairs", pairs->pairs);
    json.member("unmatched_b", pairs->begins_alone);
    json.member("unmatched_e", pairs->ends_alone);
    json.member("total_us", microseconds_text(pairs->total_ns));
    json.member("n", facts.async_instants);
    json.close();
  }
  if (const auto& pairs = facts.legacy_async) {
    json.open_object("async_S_F");
    json.member("pairs", pairs->pairs);
    json.member("unmatched_S", pairs->begins_alone);
    json.member("unmatched_F", pairs->ends_alone);
    json.close();
  }
}

void write_flows(JsonWriter& json, const ChromeFacts& facts) {
  if (facts.flows.empty()) return;
  json.open_object("flows");
  for (const auto& [category, flow] : facts.flows) {
    json.open_object(category);
    json.member("s", flow.starts);
    json.member("t", flow.steps);
    json.member("f", flow.ends);
    json.member("ids_with_s_and_f", flow.ids_with_both);
    json.member("ids_f_only", flow.ids_end_only);
    json.member("ids_s_only", flow.ids_start_only);
    json.member("arrows_in_time_order", flow.arrows);
    json.close();
  }
  json.close();
}

void write_counters(JsonWriter& json, const ChromeFacts& facts) {
  if (facts.series.empty()) return;
  std::uint64_t samples = 0;
  for (const ChromeSeriesFacts& series : facts.series) {
    samples += series.samples;
  }
  json.open_object("counters");
  json.member("series", facts.series.size());
  json.member("samples", samples);
  json.open_array("first_series");
  for (std::size_t i = 0; i < facts.series.size() && i < kShownSeries; ++i) {
    const ChromeSeriesFacts& series = facts.series[i];
    json.open_array();
    json.element(series.pid);
    json.element(series.name);
    json.element(series.key);
    json.member({}, series.samples);
    json.element(series.min);
    json.element(series.max);
    json.close();
  }
  json.close();
  json.close();
}

void write_skipped(JsonWriter& json, const ChromeFacts& facts) {
  if (facts.skipped.empty()) return;
  json.open_array("skipped");
  for (const std::string& line : facts.skipped) json.element(line);
  json.close();
}

}  // namespace

std::string microseconds_text(std::int64_t ns) {
  const bool negative = ns < 0;
  const std::uint64_t size = negative ? 0 - static_cast<std::uint64_t>(ns)
                                      : static_cast<std::uint64_t>(ns);
  std::string text = fmt::format("{}{}", negative ? "-" : "", size / 1000);
  if (size % 1000 == 0) return text;
  text += fmt::format(".{:03}", size % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

void write_digest(JsonWriter& json, const FileDigest& digest) {
  json.member("bytes", digest.bytes);
  json.member("sha256", digest.sha256);
}

void write_counts(JsonWriter& json, const char* key,
                  const std::vector<NameCount>& counts) {
  json.open_array(key);
  for (const auto& [name, count] : counts) {
    json.open_array();
    json.element(name);
    json.member({}, count);
    json.close();
  }
  json.close();
}

std::string chrome_facts_json(const FileDigest& digest,
                              const ChromeFacts& facts) {
  JsonWriter json;
  json.open_object();
  write_digest(json, digest);
  json.member("inflated_bytes", facts.inflated_bytes);
  json.member("form", form_text(facts.form));
  json.member("json", state_text(facts.state));
  if (facts.invalid_utf8_at) {
    json.member("invalid_utf8_at", *facts.invalid_utf8_at);
  }
  if (!facts.is_trace) {
    json.member("not_a_trace", true);
    json.close();
    return json.take();
  }
  if (facts.broken_at) json.member("error_char_offset", *facts.broken_at);
  json.member("array_entries", facts.entries);
  json.member("event_objects", facts.event_objects);
  write_map(json, "by_ph", facts.by_phase);
  write_complete(json, facts);
  write_pairs(json, facts);
  write_flows(json, facts);
  write_counters(json, facts);
  if (!facts.instants_by_scope.empty()) {
    write_map(json, "instants_by_scope", facts.instants_by_scope);
  }
  if (!facts.metadata_by_name.empty()) {
    write_map(json, "metadata_by_name", facts.metadata_by_name);
  }
  if (facts.samples) json.member("top_level_samples", *facts.samples);
  if (facts.stack_frames) {
    json.member("top_level_stackFrames", *facts.stack_frames);
  }
  if (facts.pytorch) write_pytorch(json, *facts.pytorch);
  write_skipped(json, facts);
  json.close();
  return json.take();
}

}  // namespace weft::tools
