// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "json_writer.h"
#include "quantity_text.h"
#include "trace_facts.h"
#include "trace_file.h"

namespace weft::tools {
namespace {

using exporters::TraceInfo;

void write_process(JsonWriter& json, const ProcessInfo& process) {
  json.open_object("process");
  json.member("pid", process.pid);
  json.member("executable", process.executable);
  json.member("command_line", process.command_line);
  json.member("build_id", process.build_id);
  json.member("host", process.host);
  json.member("kernel", process.kernel);
  json.member("boot_id", process.boot_id);
  json.member("cpus", process.cpus);
  json.member("weft_version", process.weft_version);
  json.close();
}

void write_clock(JsonWriter& json, const TraceInfo& info,
                 const ClockLine& line) {
  json.open_object("clock");
  json.member("name", info.process.clock);
  json.member("reason", info.process.clock_reason);
  json.member("tick_hz", info.process.tick_hz);
  json.member("anchors", info.anchors.size());
  if (line.max_bound_ns() == ClockLine::kNoBound)
    json.null("max_error_ns");
  else
    json.member("max_error_ns", line.max_bound_ns());
  json.open_array("corrections");
  for (const ClockCorrection& correction : line.corrections())
    json.element(correction.text);
  json.close();
  json.close();
}

void write_times(JsonWriter& json, const TraceFacts& facts,
                 const ClockLine& line) {
  const RecordingTimes times = recording_times(facts, line);
  json.open_object("recording");
  if (times.is_known) {
    json.member("began", date_text(times.begin_unix_ns));
    json.member("began_unix_ns", times.begin_unix_ns);
    json.member("began_monotonic_ns", times.begin_ns);
    json.member("duration_ns", times.duration_ns());
  }
  json.member("end_reason", facts.info().end.reason);
  json.member("filter", facts.info().subscription.filter);
  json.close();
}

void write_losses(JsonWriter& json, const TraceInfo& info) {
  json.open_array("losses");
  for (const LossSum& sum : losses_by_thread(info)) {
    json.open_object();
    json.member("thread", static_cast<std::uint32_t>(sum.thread));
    json.member("reason", drop_reason_text(sum.reason));
    json.member("records", sum.records);
    json.close();
  }
  json.close();
}

}  // namespace

std::string facts_json(const std::string& path, const TraceFacts& facts,
                       const ClockLine& line) {
  const TraceInfo& info = facts.info();
  JsonWriter json;
  json.open_object();
  json.member("file", path);
  json.member("format_version", info.format_version);
  json.member("complete", info.complete);
  json.member("file_bytes", info.file_bytes);
  json.member("blocks", info.blocks);
  json.member("records", info.records);
  json.member("slots", info.slots);
  json.member("strings", info.strings.empty() ? 0 : info.strings.size() - 1);
  json.member("sites", info.sites.empty() ? 0 : info.sites.size() - 1);
  write_process(json, info.process);
  write_clock(json, info, line);
  write_times(json, facts, line);
  json.member("lost_records", lost_records(info));
  write_losses(json, info);
  json.open_object("records_by_kind");
  for (unsigned i = 0; i < 128; ++i) {
    const auto kind = static_cast<RecordKind>(i);
    const std::string name = kind_text(kind);
    if (facts.of_kind(kind) != 0)
      json.member(name.empty() ? "kind " + std::to_string(i) : name,
                  facts.of_kind(kind));
  }
  json.close();
  json.open_array("threads");
  for (const ThreadInfo& thread : info.threads) {
    json.open_object();
    json.member("thread", static_cast<std::uint32_t>(thread.index));
    json.member("tid", thread.tid);
    json.member("name", info.text(thread.name));
    json.member("records", facts.of_thread(thread.index));
    json.close();
  }
  json.close();
  json.open_object("categories");
  std::set<StringId> categories;
  for (const SiteInfo& site : info.sites)
    if (site.number != SiteId::kNone &&
        categories.insert(site.category).second)
      json.member(info.text(site.category), facts.of_category(site.category));
  json.close();
  // Pairs, since a key that was set again is there again.
  json.open_array("metadata");
  for (const auto& [key, value] : info.metadata) {
    json.open_object();
    json.member("key", key);
    json.member("value", value);
    json.close();
  }
  json.close();
  json.open_array("problems");
  for (const exporters::TraceProblem& problem : info.problems) {
    json.open_object();
    json.member("offset", problem.offset);
    json.member("what", problem.what);
    json.close();
  }
  json.close();
  json.close();
  return json.take();
}

}  // namespace weft::tools
