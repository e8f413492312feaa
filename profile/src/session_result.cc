// SPDX-License-Identifier: Apache-2.0
// From what a session kept to what it answers.

#include <algorithm>
#include <unordered_map>

#include "device_rows.h"
#include "json_text.h"
#include "profiler_session.h"
#include "stopwatch.h"
#include "weft/internal/definitions.h"

namespace weft {
namespace {

using profile::CallDecoder;
using profile::DeviceEventPairs;
using profile::KeptRecords;
using profile::Stopwatch;

// The records of one interval as events, by `line`'s time.
void decode(const KeptRecords& kept, const ClockLine& line,
            CallDecoder& decoder) {
  std::unordered_map<std::uint64_t, MonotoneTime> times;
  std::uint64_t last_key = ~std::uint64_t{0};
  MonotoneTime* time = nullptr;
  kept.for_each([&](const exporters::DecodedRecord& record) {
    const std::uint64_t key = static_cast<std::uint64_t>(record.thread) << 1 |
                              ((record.position & kSidePosition) != 0 ? 1 : 0);
    if (key != last_key) {
      time = &times.try_emplace(key, line).first->second;
      last_key = key;
    }
    decoder.add(record,
                (record.flags & kFlagMonotonic) != 0
                    ? time->next_ns(static_cast<std::int64_t>(record.tick))
                    : time->next(record.tick));
  });
}

void post_process(const ProfilerOptions& options,
                  std::vector<RawEvent>& events) {
  if (!options.post_process) return;
  for (RawEvent& event : events) {
    std::vector<std::string> stack = event.stack;
    std::vector<std::string> modules = event.facts->modules;
    options.post_process(
        {event.name, event.facts->debug_handle, stack, modules});
    if (stack != event.stack.items()) event.stack = std::move(stack);
    if (modules != event.facts->modules)
      event.facts.edit().modules = std::move(modules);
  }
}

// In the order of time, which counts from the start of the trace.
void order_memory(std::vector<MemoryRecord>& records,
                  std::int64_t trace_start_ns) {
  const auto earlier = [](const MemoryRecord& a, const MemoryRecord& b) {
    return a.at_ns < b.at_ns;
  };
  // Those of one thread come in order.
  if (!std::is_sorted(records.begin(), records.end(), earlier))
    std::stable_sort(records.begin(), records.end(), earlier);
  for (MemoryRecord& record : records)
    subtract_wrapping(record.at_ns, trace_start_ns);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ProfilerSession::metadata()
    const {
  std::vector<std::pair<std::string, std::string>> all;
  all.emplace_back("trace_id", profile::json_string(trace_id_));
  if (!intervals_.empty())
    all.emplace_back("host_name",
                     profile::json_string(intervals_.front()->process().host));
  const std::pair<const char*, bool> switches[] = {
      {"record_shapes", options_.record_shapes},
      {"profile_memory", options_.profile_memory},
      {"with_stack", options_.with_stack},
      {"with_flops", options_.with_flops},
      {"with_modules", options_.with_modules}};
  for (const auto& [key, on] : switches)
    if (on) all.emplace_back(key, "1");
  all.insert(all.end(), metadata_.begin(), metadata_.end());
  return all;
}

Result<std::shared_ptr<const ProfilerResult>> ProfilerSession::result() {
  if (!validated_.ok()) return validated_.error();
  const std::scoped_lock lock(mutex_);
  if (options_.enabled && !finished_)
    return Error{ErrorCode::kNotFinished,
                 "the profiler has not finished: stop() comes first"};
  if (options_.experimental.trace_only)
    return Error{ErrorCode::kUnsupported,
                 "the session was told to make no events (trace_only)"};
  if (result_ == nullptr) {
    result_ = make_result();
    intervals_.clear();  // the records have become rows
    device_data_ = {};
  }
  return result_;
}

std::shared_ptr<const ProfilerResult> ProfilerSession::make_result() const {
  auto result = std::make_shared<ProfilerResult>();
  ProfilerStatistics& statistics = result->statistics_;
  statistics = timing_;
  EventListOptions list_options;
  list_options.profile_memory = options_.profile_memory;
  list_options.with_flops = options_.with_flops;
  list_options.device_name = options_.use_device;
  list_options.metadata = metadata();
  std::vector<RawEvent> raw;
  RawEventOptions raw_options;
  {
    const Stopwatch watch(statistics.parse_ns);
    CallDecoder decoder(profile::definitions_of_this_process(), options_,
                        node_id_);
    ClockLine whole(intervals_.empty() ? 0
                                       : intervals_.front()->process().tick_hz);
    bool first = true;
    for (const auto& kept : intervals_) {
      ClockLine line(kept->process().tick_hz);
      for (const ClockAnchor& anchor : kept->anchors()) {
        line.add(anchor);
        whole.add(anchor);
      }
      const std::int64_t start_ns = line.to_ns(kept->info().start_tick);
      const std::int64_t stop_ns = line.to_ns(kept->end().stop_tick);
      if (first) raw_options.trace_start_ns = start_ns;
      first = false;
      decode(*kept, line, decoder);
      decoder.close(stop_ns);
      statistics.window_ns += stop_ns - start_ns;
      statistics.records_outside_coverage += kept->outside_coverage();
      statistics.records_kept +=
          kept->end().delivered - kept->outside_coverage();
      statistics.host_bytes += kept->bytes();
      for (std::size_t i = 0; i < kDropReasons; ++i) {
        statistics.dropped[i] += kept->end().dropped[i];
        statistics.records_dropped += kept->end().dropped[i];
      }
      for (const ThreadInfo& thread : kept->threads())
        if (const std::string_view name = internal::text_of(thread.name);
            !name.empty())
          list_options.thread_names[static_cast<std::int64_t>(thread.index)] =
              name;
    }
    profile::DecodedCalls calls = decoder.take();
    raw = std::move(calls.events);
    result->memory_records_ = std::move(calls.memory);
    statistics.unfinished = calls.unfinished;
    statistics.started_before = calls.started_before;
    statistics.incomplete_inputs = calls.incomplete_inputs;
    post_process(options_, raw);
    add_device_rows(calls, whole, raw, statistics.devices);
  }
  const Stopwatch watch(statistics.build_tree_ns);
  order_memory(result->memory_records_, raw_options.trace_start_ns);
  ParsedEvents parsed =
      parse_raw_events(std::move(raw), result->memory_records_, node_id_,
                       list_options, raw_options);
  statistics.device = parsed.statistics;
  statistics.device.launches_without_work =
      statistics.devices.launches_without_work;
  result->events_ =
      EventList(std::move(parsed.events), std::move(list_options));
  statistics.list = result->events_.statistics();
  statistics.events = result->events_.size();
  return result;
}

// Rows of devices, and times of pairs of events in the calls they lie around.
void ProfilerSession::add_device_rows(const profile::DecodedCalls& calls,
                                      const ClockLine& line,
                                      std::vector<RawEvent>& raw,
                                      DeviceStatistics& statistics) const {
  profile::DeviceRowOptions options;
  options.sync_rows = options_.experimental.device_sync_events;
  options.link = !options_.experimental.disable_external_correlation;
  options.node_id = node_id_;
  options.next_id = calls.next_id;
  std::vector<profile::UncoveredLaunch> uncovered;
  for (const auto& kept : intervals_)
    uncovered.insert(uncovered.end(), kept->uncovered_launches().begin(),
                     kept->uncovered_launches().end());
  profile::DeviceRows rows(calls.launches, uncovered, options);
  for (const profile::DeviceWindow& window : device_data_.windows)
    rows.add(window, line);
  for (RawEvent& row : rows.take(&statistics)) raw.push_back(std::move(row));
  for (const std::unique_ptr<DeviceEventPairs>& pairs : device_data_.pairs) {
    statistics.event_pairs += pairs->made();
    statistics.event_pairs_dropped += pairs->dropped();
    statistics.event_pairs_unmeasured += pairs->unmeasured();
    for (RawEvent& event : raw) {
      const auto time = pairs->times_ns().find(event.facts->handle);
      if (event.facts->handle == 0 || time == pairs->times_ns().end()) continue;
      (pairs->family() == DeviceFamily::kCustom ? event.custom_elapsed_ns
                                                : event.cuda_elapsed_ns) =
          time->second;
    }
  }
}

}  // namespace weft
