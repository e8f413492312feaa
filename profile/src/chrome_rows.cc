// SPDX-License-Identifier: Apache-2.0
#include "chrome_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string_view>

#include "chrome_kinds.h"
#include "event_tree.h"
#include "launch_owner.h"
#include "memory_attribution.h"
#include "row_order.h"

namespace weft::profile {
namespace {

bool is_any_of(std::string_view text,
               std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

// Parts that may hold anything, kept apart.
std::string joined(std::initializer_list<std::string_view> parts) {
  std::string key;
  for (const std::string_view part : parts) {
    key += part;
    key += '\0';
  }
  return key;
}

std::string flow_key(const ChromeEvent& event) {
  return joined({event.category, event.id});
}

// "[[2, 3], [], [4]]". What is not an array has no dimensions.
std::vector<Shape> shapes_of(std::string_view json) {
  std::vector<Shape> shapes;
  std::size_t depth = 0;
  while (!json.empty()) {
    const char c = json.front();
    if (c == '[') {
      ++depth;
      if (depth == 2) shapes.emplace_back();
    } else if (c == ']') {
      if (depth > 0) --depth;
    } else if (depth == 2 && (c == '-' || (c >= '0' && c <= '9'))) {
      const std::string_view number =
          json.substr(0, json.find_first_not_of("0123456789", 1));
      shapes.back().push_back(whole_number(number).value_or(0));
      json.remove_prefix(number.size() - 1);
    }
    json.remove_prefix(1);
  }
  return shapes;
}

// Frames of "inner;outer;", innermost first.
std::vector<std::string> frames_of(std::string_view stack) {
  std::vector<std::string> frames;
  while (!stack.empty()) {
    const std::size_t end = std::min(stack.find(';'), stack.size());
    if (end > 0) frames.emplace_back(stack.substr(0, end));
    stack.remove_prefix(std::min(end + 1, stack.size()));
  }
  return frames;
}

HostSpan span_of(const FunctionEvent& row) {
  return {row.start_ns, row.end_ns, row.scope == RecordScope::kUserScope};
}

// kNoEvent: nothing has this id, or there is none.
std::size_t row_of_id(const std::unordered_map<std::string, std::size_t>& rows,
                      const std::string& id) {
  const auto found = id.empty() ? rows.end() : rows.find(id);
  return found != rows.end() ? found->second : kNoEvent;
}

}  // namespace

std::int64_t ChromeRows::thread_of(const ChromeEvent& event) {
  const auto next = static_cast<std::int64_t>(threads_.size()) + 1;
  const auto [found, added] = thread_numbers_.try_emplace(
      {std::string(event.pid), std::string(event.tid)}, next);
  if (added) {
    threads_.push_back({found->first.first, found->first.second, ""});
  }
  return found->second;
}

void ChromeRows::count(const ChromeEvent& event) {
  ++statistics_.event_objects;
  ++statistics_.by_phase[std::string(event.phase)];
  if (event.phase == "M" || !event.start_ns) return;
  std::int64_t end_ns = *event.start_ns;
  if (event.is_complete()) {
    end_ns = std::max(end_ns, end_of(event).value_or(end_ns));
  }
  const std::int64_t start_ns = *event.start_ns;
  statistics_.first_ns =
      any_time_ ? std::min(statistics_.first_ns, start_ns) : start_ns;
  statistics_.last_ns =
      any_time_ ? std::max(statistics_.last_ns, end_ns) : end_ns;
  any_time_ = true;
}

void ChromeRows::event(const ChromeEvent& event) {
  count(event);
  const std::string_view phase = event.phase;
  if (event.is_complete()) {
    add_complete(event);
  } else if (phase == "M") {
    if (event.name != "thread_name") return;
    const auto number = static_cast<std::size_t>(thread_of(event));
    threads_[number - 1].name = event.argument_name;
  } else if (!event.start_ns) {
    return;
  } else if (phase == "i" || phase == "I") {
    if (event.name == kMemoryRecord) add_memory(event);
  } else if (phase == "s") {
    flow_starts_.insert_or_assign(flow_key(event),
                                  FlowEnd{thread_of(event), *event.start_ns});
  } else if (phase == "f") {
    flow_ends_.insert_or_assign({thread_of(event), *event.start_ns},
                                flow_key(event));
  } else if (is_any_of(phase, {"B", "E", "b", "e", "S", "F"})) {
    add_half(event);
  }
}

void ChromeRows::add_half(const ChromeEvent& event) {
  const bool on_thread = event.phase == "B" || event.phase == "E";
  const bool begins = is_any_of(event.phase, {"B", "b", "S"});
  Pairing& halves = on_thread ? thread_halves_ : async_halves_;
  std::string key =
      on_thread ? joined({event.pid, event.tid})
                : joined({event.category, event.id, event.scope, event.name,
                          event.id_is_local ? event.pid : ""});
  halves[std::move(key)].push_back(
      {begins ? Side::kBegin : Side::kEnd, *event.start_ns, begun_.size()});
  if (begins) begun_.push_back(row_of(event));
}

void ChromeRows::add_complete(const ChromeEvent& event) {
  const std::optional<std::int64_t> end_ns = end_of(event);
  if (!end_ns) {
    ++statistics_.complete_without_times;
    return;
  }
  ++statistics_.complete_events;
  add_wrapping(statistics_.total_complete_time_ns, *event.duration_ns);
  const ChromeKind kind = kind_of(event);
  if (kind == ChromeKind::kProfiler) {
    ++profiler_spans_;
  } else if (kind == ChromeKind::kDeviceWork ||
             kind == ChromeKind::kDeviceAnnotation) {
    add_device_row(event, *end_ns);
  } else {
    const bool call = kind == ChromeKind::kCall;
    FunctionEvent& row = add_row(row_of(event), *end_ns);
    row.stack = frames_of(event.call_stack);
    row.input_shapes = shapes_of(event.input_dims);
    const std::size_t at = rows_.size() - 1;
    if (call && !event.correlation.empty()) {
      call_of_.emplace(event.correlation, at);
    } else if (!call && !event.external_id.empty()) {
      operation_of_.emplace(event.external_id, at);
    }
  }
}

FunctionEvent ChromeRows::row_of(const ChromeEvent& event) {
  FunctionEvent row;
  row.trace_name = event.name;
  row.name = row_name(event.name);
  row.thread = thread_of(event);
  row.start_ns = *event.start_ns;
  row.sequence_nr = whole_number(event.sequence_nr).value_or(-1);
  row.fwd_thread = whole_number(event.fwd_thread).value_or(0);
  if (event.category == "user_annotation") row.scope = RecordScope::kUserScope;
  return row;
}

FunctionEvent& ChromeRows::add_row(FunctionEvent row, std::int64_t end_ns) {
  row.id = static_cast<std::int64_t>(rows_.size()) + 1;
  row.end_ns = std::max(row.start_ns, end_ns);
  correlation_.emplace_back();
  external_id_.emplace_back();
  return rows_.emplace_back(std::move(row));
}

void ChromeRows::add_device_row(const ChromeEvent& event, std::int64_t end_ns) {
  FunctionEvent& row = add_row(row_of(event), end_ns);
  row.device = DeviceType::kCuda;
  row.device_index = device_index_of(event);
  row.stream = whole_number(event.stream).value_or(0);
  row.is_user_annotation = kind_of(event) == ChromeKind::kDeviceAnnotation;
  correlation_.back() = event.correlation;
  external_id_.back() = event.external_id;
}

void ChromeRows::add_memory(const ChromeEvent& event) {
  constexpr std::int64_t kCudaDevice = 1;
  MemoryRecord& record = memory_.emplace_back();
  record.at_ns = *event.start_ns;
  record.thread = thread_of(event);
  record.bytes = whole_number(event.bytes).value_or(0);
  if (whole_number(event.device_type) == kCudaDevice) {
    record.device = DeviceType::kCuda;
  }
}

void ChromeRows::pair_halves(Pairing& halves, bool async) {
  for (auto& [key, list] : halves) {
    std::stable_sort(
        list.begin(), list.end(),
        [](const Half& a, const Half& b) { return a.at_ns < b.at_ns; });
    std::vector<const Half*> open;
    for (const Half& half : list) {
      if (half.side == Side::kBegin) {
        open.push_back(&half);
      } else if (open.empty()) {
        ++unmatched_ends_;
      } else {
        add_row(std::move(begun_[open.back()->begun]), half.at_ns).is_async =
            async;
        open.pop_back();
      }
    }
    unmatched_begins_ += open.size();
  }
}

// The host row that the work was launched from, if the file says.
std::size_t ChromeRows::launching_row(const RangeIndex& ranges,
                                      std::size_t device_row) const {
  const std::size_t call = row_of_id(call_of_, correlation_[device_row]);
  const std::size_t operation =
      row_of_id(operation_of_, external_id_[device_row]);
  if (call == kNoEvent) {
    return operation != kNoEvent ? operation
                                 : row_at_flow_start(ranges, rows_[device_row]);
  }
  const std::size_t around = rows_[call].parent;
  const HostSpan range =
      around != kNoEvent ? span_of(rows_[around]) : HostSpan{};
  if (operation != kNoEvent &&
      numbered_operation_owns(span_of(rows_[operation]), span_of(rows_[call]),
                              around != kNoEvent ? &range : nullptr)) {
    return operation;
  }
  return around != kNoEvent ? around : call;
}

// Old files have no numbers, but an arrow from the operation to its work.
std::size_t ChromeRows::row_at_flow_start(const RangeIndex& ranges,
                                          const FunctionEvent& work) const {
  const auto end = flow_ends_.find({work.thread, work.start_ns});
  if (end == flow_ends_.end()) return kNoEvent;
  const auto start = flow_starts_.find(end->second);
  if (start == flow_starts_.end()) return kNoEvent;
  const auto [thread, at_ns] = start->second;
  return ranges.innermost(thread, at_ns, at_ns);
}

void ChromeRows::link_device_work() {
  link_parents(rows_, Rules::kWeft);
  const RangeIndex ranges(rows_);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const FunctionEvent& work = rows_[i];
    if (work.is_host() || work.is_user_annotation) continue;
    const std::size_t owner = launching_row(ranges, i);
    if (owner == kNoEvent) {
      ++statistics_.unattributed_device_rows;
      continue;
    }
    rows_[owner].kernels.push_back({work.name, work.device, work.device_index,
                                    work.stream, work.duration_ns(),
                                    work.start_ns});
  }
}

void ChromeRows::charge_memory() {
  const std::vector<bool> taken =
      attribute_memory(rows_, memory_, Rules::kWeft);
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    if (taken[i]) continue;
    const MemoryRecord& record = memory_[i];
    FunctionEvent& row = rows_.emplace_back();
    row.id = static_cast<std::int64_t>(rows_.size());
    row.name = kMemoryRecord;
    row.thread = record.thread;
    row.start_ns = row.end_ns = record.at_ns;
    row.memory = usage_of(record, Rules::kWeft);
    row.flops.reset();
  }
}

// Rows too far from the first for 64 bits are cut to the largest time.
void ChromeRows::move_to_zero() {
  const auto moved = [&](std::int64_t ns) {
    std::int64_t relative = 0;
    return __builtin_sub_overflow(ns, statistics_.first_ns, &relative)
               ? std::numeric_limits<std::int64_t>::max()
               : relative;
  };
  for (FunctionEvent& row : rows_) {
    row.start_ns = moved(row.start_ns);
    row.end_ns = moved(row.end_ns);
    for (Kernel& kernel : row.kernels) {
      if (kernel.start_ns) kernel.start_ns = moved(*kernel.start_ns);
    }
  }
}

void ChromeRows::note(std::uint64_t count, const char* what) {
  if (count > 0) notes_.push_back(fmt::format("{} {}", count, what));
}

ChromeImport ChromeRows::finish() {
  pair_halves(thread_halves_, false);
  pair_halves(async_halves_, true);
  link_device_work();
  move_to_zero();
  const bool has_memory = !memory_.empty();
  for (MemoryRecord& record : memory_)
    subtract_wrapping(record.at_ns, statistics_.first_ns);
  charge_memory();
  sort_rows(rows_);
  note(statistics_.complete_without_times,
       "complete events without a usable time or duration");
  note(unmatched_begins_, "begins without an end");
  note(unmatched_ends_, "ends without a begin");
  note(profiler_spans_, "spans of the profiler itself");
  ChromeImport import;
  EventListOptions options;
  options.profile_memory = has_memory;
  options.remove_duplicates = false;  // a row for every event of the file
  import.events = EventList(std::move(rows_), options);
  import.threads = std::move(threads_);
  import.statistics = std::move(statistics_);
  import.skipped = std::move(notes_);
  return import;
}

}  // namespace weft::profile
