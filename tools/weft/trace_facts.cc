// SPDX-License-Identifier: Apache-2.0
#include "trace_facts.h"

#include <algorithm>

namespace weft::tools {
namespace {

std::uint64_t find(const std::unordered_map<std::uint32_t, std::uint64_t>& map,
                   std::uint32_t key) {
  const auto found = map.find(key);
  return found == map.end() ? 0 : found->second;
}

}  // namespace

void TraceFacts::add(const exporters::DecodedRecord& record, std::int64_t ns) {
  ++by_kind_[static_cast<std::uint8_t>(record.kind)];
  ++by_thread_[static_cast<std::uint32_t>(record.thread)];
  if (record.site != SiteId::kNone && record.kind != RecordKind::kSpanEnd &&
      record.kind != RecordKind::kAsyncEnd)
    ++by_category_[static_cast<std::uint32_t>(
        info_.site(record.site).category)];
  first_ns_ = std::min(first_ns_, ns);
  last_ns_ = std::max(last_ns_, ns);
}

std::uint64_t TraceFacts::of_thread(ThreadIndex thread) const {
  return find(by_thread_, static_cast<std::uint32_t>(thread));
}

std::uint64_t TraceFacts::of_category(StringId category) const {
  return find(by_category_, static_cast<std::uint32_t>(category));
}

const char* kind_text(RecordKind kind) {
  switch (kind) {
    case RecordKind::kSpanBegin: return "span begins";
    case RecordKind::kSpanEnd: return "span ends";
    case RecordKind::kInstant: return "instants";
    case RecordKind::kCounter: return "counters";
    case RecordKind::kFlowOut: return "flows out";
    case RecordKind::kFlowIn: return "flows in";
    case RecordKind::kAsyncBegin: return "async begins";
    case RecordKind::kAsyncEnd: return "async ends";
    case RecordKind::kArgument: return "late arguments";
    case RecordKind::kFailure: return "failures";
    case RecordKind::kContext: return "request changes";
    case RecordKind::kStep: return "steps";
    case RecordKind::kLaunch: return "launches";
    case RecordKind::kLoss: return "loss marks";
    case RecordKind::kClockChange: return "clock changes";
    case RecordKind::kScheduling: return "scheduling";
    default: return "";
  }
}

RecordingTimes recording_times(const TraceFacts& facts,
                               const ClockLine& line) {
  const exporters::TraceInfo& info = facts.info();
  RecordingTimes times;
  const Ticks start = info.subscription.start_tick;
  times.is_known = line.anchors() != 0 || facts.has_records();
  times.begin_ns = line.to_ns(start);
  times.begin_unix_ns = line.to_ns(start, ClockId::kRealtime);
  times.end_ns = times.begin_ns;
  if (info.complete && info.end.stop_tick != 0)
    times.end_ns = line.to_ns(info.end.stop_tick);
  else if (facts.has_records())
    times.end_ns = facts.last_ns();
  times.end_ns = std::max(times.begin_ns, times.end_ns);
  return times;
}

}  // namespace weft::tools
