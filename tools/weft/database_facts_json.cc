// SPDX-License-Identifier: Apache-2.0
#include "foreign_facts.h"

namespace weft::tools {
namespace {

void write_work(JsonWriter& json, const DatabaseWork& work) {
  json.member("count", work.count);
  json.member("bytes", work.bytes);
  json.member("time_ns", work.time_ns);
}

void write_copies(JsonWriter& json, const DatabaseFacts& facts) {
  json.open_object("memcpy");
  for (const auto& [kind, work] : facts.copies) {
    json.open_object(kind);
    write_work(json, work);
    json.close();
  }
  json.close();
}

void write_texts(JsonWriter& json, const char* key,
                 const std::vector<std::string>& texts) {
  json.open_array(key);
  for (const std::string& text : texts) json.element(text);
  json.close();
}

void write_number_pairs(
    JsonWriter& json, const char* key,
    const std::vector<std::pair<std::int64_t, std::int64_t>>& pairs) {
  json.open_array(key);
  for (const auto& [first, second] : pairs) {
    json.open_array();
    json.member({}, first);
    json.member({}, second);
    json.close();
  }
  json.close();
}

void write_kernels(JsonWriter& json, const DatabaseFacts& facts) {
  json.member("kernels", facts.kernels.count);
  json.member("kernel_time_ns", facts.kernels.time_ns);
  write_counts(json, "top3_kernels_by_time_ns", facts.top_kernels_ns);
  write_number_pairs(json, "streams", facts.streams);
}

void write_time_span(JsonWriter& json, const DatabaseFacts& facts) {
  if (!facts.first_ns) return;
  json.member("min_ts_ns", *facts.first_ns);
  json.member("max_ts_ns", *facts.last_ns);
}

void write_markers(JsonWriter& json, const MarkerFacts& markers) {
  json.open_object("markers");
  json.member("rows", markers.rows);
  json.member("ranges", markers.ranges);
  json.member("instantaneous", markers.instants);
  json.member("unmatched_start", markers.starts_alone);
  json.member("unmatched_end", markers.ends_alone);
  json.member("total_range_time_ns", markers.total_ns);
  if (markers.main_thread) {
    const MarkerFacts::Thread& main = *markers.main_thread;
    json.member("threads", markers.threads);
    json.open_object("main_thread");
    json.member("pid", main.pid);
    json.member("tid_in_objectId", main.tid);
    json.member("tid_as_int32", static_cast<std::int32_t>(main.tid));
    json.member("ranges", main.ranges);
    json.member("max_depth", main.max_depth);
    json.member("partial_overlaps", main.partial_overlaps);
    json.close();
    write_counts(json, "top3_names", markers.top_names);
    write_map(json, "domains", markers.domains);
  }
  json.close();
}

void write_nvprof(JsonWriter& json, const DatabaseFacts& facts) {
  json.member("page_size", facts.page_bytes);
  if (facts.schema_version) json.member("schema_version", *facts.schema_version);
  json.member("kernels_with_runtime_call", facts.kernels_with_runtime_call);
  json.member("kernels_with_driver_call", facts.kernels_with_driver_call);
  json.member("kernels_with_any_call", facts.kernels_with_any_call);
  write_copies(json, facts);
  json.open_object("memset");
  write_work(json, facts.sets);
  json.close();
  json.member("runtime_calls", facts.runtime_calls.count);
  json.member("runtime_time_ns", facts.runtime_calls.time_ns);
  json.member("driver_calls", facts.driver_calls.count);
  json.member("driver_time_ns", facts.driver_calls.time_ns);
  write_number_pairs(json, "top3_runtime_cbids", facts.top_callbacks);
  json.member("api_threads", facts.call_threads);
  write_markers(json, facts.markers);
  write_texts(json, "devices", facts.devices);
  write_time_span(json, facts);
}

void write_nsys_calls(JsonWriter& json, const DatabaseFacts& facts) {
  json.member("runtime_calls", facts.runtime_calls.count);
  json.member("runtime_time_ns", facts.runtime_calls.time_ns);
  json.member("kernels_with_launch", facts.kernels_with_launch);
  write_counts(json, "top3_runtime_by_count", facts.top_calls);
  write_copies(json, facts);
}

void write_nsys_ranges(JsonWriter& json, const DatabaseFacts& facts) {
  write_map(json, "nvtx_rows_by_eventType", facts.ranges_by_type);
  json.member("nvtx_push_pop_ranges", facts.push_pop_ranges.count);
  json.member("nvtx_push_pop_time_ns", facts.push_pop_ranges.time_ns);
  write_counts(json, "nvtx_top3_names", facts.top_ranges);
  json.member("nvtx_names_from_textId", facts.ranges_named_by_id);
}

void write_nsys(JsonWriter& json, const DatabaseFacts& facts) {
  if (facts.meta_table.empty()) {
    json.null("meta_table");
  } else {
    json.member("meta_table", facts.meta_table);
    write_map(json, "export", facts.export_information);
  }
  if (facts.capture_start_unix_ns) {
    json.member("capture_start_utc_ns", *facts.capture_start_unix_ns);
  }
  if (facts.has_runtime_calls) write_nsys_calls(json, facts);
  if (facts.has_ranges) write_nsys_ranges(json, facts);
  if (facts.has_system_calls) {
    json.member("osrt_calls", facts.system_calls.count);
    json.member("osrt_time_ns", facts.system_calls.time_ns);
  }
  write_texts(json, "gpus", facts.devices);
  json.member("text_values_not_utf8", facts.texts_not_utf8);
  json.member("text_values_with_nul", facts.texts_with_nul);
  write_time_span(json, facts);
}

}  // namespace

std::string database_facts_json(const FileDigest& digest,
                                const DatabaseFacts& facts) {
  JsonWriter json;
  json.open_object();
  write_digest(json, digest);
  json.member("form", "sqlite");
  json.member("tables", facts.tables);
  write_map(json, "rows", facts.rows);
  write_kernels(json, facts);
  if (facts.kind == DatabaseKind::kNvprof) {
    write_nvprof(json, facts);
  } else {
    write_nsys(json, facts);
  }
  if (!facts.skipped.empty()) write_texts(json, "skipped", facts.skipped);
  json.close();
  return json.take();
}

}  // namespace weft::tools
