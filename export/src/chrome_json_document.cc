// SPDX-License-Identifier: Apache-2.0
#include "chrome_json_document.h"

#include <string_view>

#include "json_text.h"

namespace weft::exporters {
namespace {

// Members of one JSON object.
class Members {
 public:
  Members(EventNames* names, std::string* out) : names_(names), out_(out) {}

  void text(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    next(key);
    names_->append_text(value, out_);
  }
  void number(std::string_view key, std::uint64_t value) {
    if (value == 0) return;
    next(key);
    append_unsigned(out_, value);
  }
  // Nanoseconds of a clock: a string, since doubles cannot hold the epoch's.
  void nanoseconds(std::string_view key, std::int64_t value) {
    text(key, std::to_string(value));
  }
  void object(std::string_view key, std::string_view members) {
    if (members.empty()) return;
    next(key);
    out_->append("{").append(members).append("}");
  }

 private:
  void next(std::string_view key) { names_->append_key(key, out_); }

  EventNames* names_;
  std::string* out_;
};

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// CLOCK_REALTIME when CLOCK_MONOTONIC was `ns`, by the first anchor, so that a
// later step of the wall clock does not move the start.
bool realtime_at(const TraceInfo& info, const ClockLine& line, std::int64_t ns,
                 std::int64_t* realtime_ns) {
  constexpr auto kReal = static_cast<std::size_t>(ClockId::kRealtime);
  for (const ClockAnchor& anchor : info.anchors) {
    if (anchor.ns[kReal] == 0) continue;
    *realtime_ns = static_cast<std::int64_t>(
        static_cast<std::uint64_t>(anchor.ns[kReal]) +
        static_cast<std::uint64_t>(ns) -
        static_cast<std::uint64_t>(line.to_ns(anchor.tick[kReal])));
    return true;
  }
  return false;
}

std::string dropped(const TraceInfo& info, EventNames* names) {
  std::string text;
  Members members(names, &text);
  for (std::size_t i = 0; i < kDropReasons; ++i)
    members.number(in_words(static_cast<DropReason>(i)), info.end.dropped[i]);
  return text;
}

std::string shown(const ChromeJsonCounts& counts, EventNames* names) {
  std::string text;
  Members members(names, &text);
  members.number("spans", counts.spans);
  members.number("async_spans", counts.async_spans);
  members.number("instants", counts.instants);
  members.number("counter_values", counts.counter_values);
  members.number("arrows", counts.arrows);
  return text;
}

std::string clock_corrections(const ClockLine& line, EventNames* names) {
  std::string text;
  Members members(names, &text);
  members.number("count", line.correction_count());
  std::uint64_t number = 0;
  for (const ClockCorrection& correction : line.corrections())
    members.text(std::to_string(++number), correction.text);
  return text;
}

std::string corrections(const TraceInfo& info, const ChromeJsonCounts& counts,
                        EventNames* names) {
  std::string text;
  Members members(names, &text);
  members.number("times_moved_apart", counts.times_moved_apart);
  members.number("times_backwards", counts.times_backwards);
  members.number("spans_open_at_start", counts.spans_open_at_start);
  members.number("spans_open_at_end", counts.spans_open_at_end);
  members.number("spans_incomplete", counts.spans_incomplete);
  members.number("spans_out_of_order", counts.spans_out_of_order);
  members.number("spans_ended_elsewhere", counts.spans_ended_elsewhere);
  members.number("async_unfinished", counts.async_unfinished);
  members.number("async_open_at_start", counts.async_open_at_start);
  members.number("async_evicted", counts.async_evicted);
  members.number("async_ended_twice", counts.async_ended_twice);
  members.number("ends_without_begin", counts.ends_without_begin);
  members.number("spans_too_deep", counts.spans_too_deep);
  members.number("arguments_without_span", counts.arguments_without_span);
  members.number("flows_alone", counts.flows_alone);
  members.number("flow_ends_moved", counts.flow_ends_moved);
  members.number("counters_not_finite", counts.counters_not_finite);
  members.number("invalid_utf8_bytes", counts.invalid_utf8_bytes);
  members.number("records_lost_by_output", info.lost_records);
  members.number("records_dropped", counts.records_dropped);
  members.number("records_not_shown", counts.records_not_shown);
  members.number("messages_left_out", counts.messages_left_out);
  return text;
}

}  // namespace

std::string_view in_words(DropReason reason) noexcept {
  switch (reason) {
    case DropReason::kNone: return "unknown reason";
    case DropReason::kRingFull: return "ring full";
    case DropReason::kNoRing: return "no ring";
    case DropReason::kSignalHandler: return "signal handler ring full";
    case DropReason::kSlowSink: return "output too slow";
    case DropReason::kLimit: return "limit reached";
    case DropReason::kLatePublish: return "published too late";
    case DropReason::kForeignEnd: return "end on another thread";
  }
  return "unknown reason";
}

void append_document_head(const TraceInfo& info, const ClockLine& line,
                          const DocumentPlace& place, EventNames* names,
                          std::string* out) {
  const ProcessInfo& process = info.process;
  std::string text;
  Members members(names, &text);
  members.text("writer", "weft");
  members.text("weft_version", process.weft_version);
  members.text("executable", process.executable);
  members.text("command_line", process.command_line);
  members.text("build_id", process.build_id);
  members.text("host", process.host);
  members.text("kernel", process.kernel);
  members.text("boot_id", process.boot_id);
  members.number("pid", process.pid);
  members.number("cpus", process.cpus);
  members.text("clock", process.clock);
  members.text("clock_reason", process.clock_reason);
  members.text("subscription", info.subscription.name);
  members.text("filter", info.subscription.filter);
  members.nanoseconds("base_monotonic_ns", place.base_ns);
  std::int64_t realtime_ns = 0;
  if (realtime_at(info, line, place.base_ns, &realtime_ns))
    members.nanoseconds("base_realtime_ns", realtime_ns);
  members.text("part", std::to_string(place.part));

  out->append("{\"displayTimeUnit\":\"ns\",\n\"otherData\":{")
      .append(text)
      .append("},\n\"traceEvents\":[\n");

  const std::string ids = "\"cat\":\"__metadata\",\"ph\":\"M\",\"ts\":0,\"pid\":" +
                          std::to_string(place.pid) +
                          ",\"tid\":" + std::to_string(place.pid);
  std::string name(file_name(process.executable));
  if (name.empty()) name = "process " + std::to_string(place.pid);
  out->append("{\"name\":\"process_name\",").append(ids);
  out->append(",\"args\":{\"name\":");
  names->append_text(name, out);
  out->append("}}");
  if (!process.host.empty()) {
    out->append(",\n{\"name\":\"process_labels\",").append(ids);
    out->append(",\"args\":{\"labels\":");
    names->append_text(process.host, out);
    out->append("}}");
  }
  out->append(",\n{\"name\":\"process_sort_index\",").append(ids);
  out->append(",\"args\":{\"sort_index\":0}}");
}

void append_document_tail(const TraceInfo& info, const ClockLine& line,
                          const ChromeJsonCounts& counts, EventNames* names,
                          std::string* out) {
  std::string metadata;
  Members pairs(names, &metadata);
  for (const auto& [key, value] : info.metadata) pairs.text(key, value);

  std::string text;
  Members members(names, &text);
  members.text("complete", info.complete ? "yes" : "no");
  members.text("stop_reason", info.end.reason);
  // Two of these is the most that a duration can be off.
  const std::int64_t bound_ns = line.max_bound_ns();
  if (bound_ns == ClockLine::kNoBound) {
    members.text("clock_bound_ns", "unknown");
  } else {
    members.nanoseconds("clock_bound_ns", bound_ns);
  }
  members.object("clock_corrections", clock_corrections(line, names));
  members.object("metadata", metadata);
  members.object("shown", shown(counts, names));
  members.object("dropped", dropped(info, names));
  members.object("corrections", corrections(info, counts, names));
  std::string messages;
  Members numbered(names, &messages);
  for (std::size_t i = 0; i < counts.messages.size(); ++i)
    numbered.text(std::to_string(i + 1), counts.messages[i]);
  members.object("messages", messages);

  out->append("\n],\n\"weft\":{").append(text).append("}}\n");
}

}  // namespace weft::exporters
