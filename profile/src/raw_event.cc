// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/raw_event.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "event_name.h"
#include "memory_attribution.h"
#include "row_order.h"

namespace weft {
namespace {

using profile::attribute_memory;
using profile::row_name_of;
using profile::trace_name_of;
using profile::usage_of;

struct MemoryInput {
  std::span<const MemoryRecord> records;
  std::int64_t node = -1;
  std::span<const std::int64_t> nodes;  // by record; empty: all of `node`

  std::int64_t node_of(std::size_t i) const {
    return nodes.empty() ? node : nodes[i];
  }
};

// Memory records that came among the others, in their order.
class MixedMemory {
 public:
  // Takes them out of `raw`.
  MixedMemory(std::vector<RawEvent>& raw, std::int64_t trace_start_ns) {
    std::erase_if(raw, [&](const RawEvent& event) {
      const bool failed = event.name == kOutOfMemoryRecord;
      if (!failed && event.name != kMemoryRecord) return false;
      MemoryRecord& record = records_.emplace_back();
      record.at_ns = event.start_ns;
      subtract_wrapping(record.at_ns, trace_start_ns);
      record.thread = event.thread;
      record.bytes = event.bytes;
      record.device = event.device;
      record.device_index = event.device_index;
      record.failed = failed;
      nodes_.push_back(event.node_id);
      return true;
    });
  }

  MemoryInput input() const { return {records_, -1, nodes_}; }

 private:
  std::vector<MemoryRecord> records_;
  std::vector<std::int64_t> nodes_;
};

class RawEventParser {
 public:
  RawEventParser(const EventListOptions& session,
                 const RawEventOptions& options)
      : session_(session),
        options_(options),
        hidden_(options.hidden_names.begin(), options.hidden_names.end()) {}

  ParsedEvents parse(std::vector<RawEvent> raw, const MemoryInput& memory) {
    events_.reserve(raw.size());
    linked_op_.reserve(raw.size());
    for (RawEvent& record : raw) add(std::move(record));
    std::vector<RawEvent>().swap(raw);  // gives the memory back
    link_device_work();
    add_memory_rows(memory);
    profile::sort_rows(events_);
    return {std::move(events_), statistics_};
  }

 private:
  bool compatible() const { return session_.rules == Rules::kReference; }

  void add(RawEvent&& record) {
    if (hidden_.count(record.name) != 0) return;
    FunctionEvent& event = events_.emplace_back();
    event.id = record.id;
    // Long names are not held twice for all rows at once.
    const std::string recorded = std::move(record.name);
    event.trace_name = trace_name_of(recorded, session_.rules);
    event.name = row_name_of(*event.trace_name);
    event.thread = record.thread;
    event.fwd_thread = record.fwd_thread;
    event.start_ns = record.start_ns;
    event.end_ns = record.end_ns;
    subtract_wrapping(event.start_ns, options_.trace_start_ns);
    subtract_wrapping(event.end_ns, options_.trace_start_ns);
    event.sequence_nr = record.sequence_nr;
    event.scope = record.scope;
    event.device = record.device;
    event.device_index = record.device_index;
    event.stream = record.stream;
    event.is_async = record.is_async ||
                     record.end_thread.value_or(record.thread) != record.thread;
    event.is_user_annotation = record.is_user_annotation;
    event.finished = record.finished;
    event.input_shapes = std::move(record.input_shapes);
    event.stack = shown_frames(record.stack);
    event.flops = record.flops;
    event.facts = std::move(record.facts);
    event.node_id = record.node_id;
    if (event.is_host() && !event.is_async) add_event_pair(event, record);
    largest_id_ = std::max(largest_id_, event.id);
    linked_op_.push_back(record.linked_op);
  }

  SharedList<std::string> shown_frames(
      const SharedList<std::string>& stack) const {
    if (options_.hidden_frames.empty()) return stack;
    std::vector<std::string> shown;
    for (const std::string& frame : stack) {
      const bool hidden =
          std::any_of(options_.hidden_frames.begin(),
                      options_.hidden_frames.end(), [&](const auto& pair) {
                        return frame.find(pair.first) != std::string::npos &&
                               frame.find(pair.second) != std::string::npos;
                      });
      if (!hidden) shown.push_back(frame);
    }
    return shown;
  }

  // Time between device events around the operation, where nothing better is
  // known. The reference looks at one kind of device a session.
  void add_event_pair(FunctionEvent& event, const RawEvent& record) const {
    const bool custom = !session_.device_name.empty();
    if (custom || !compatible())
      add_event_pair(event, DeviceType::kCustom, record.custom_elapsed_ns);
    if (!custom || !compatible())
      add_event_pair(event, DeviceType::kCuda, record.cuda_elapsed_ns);
  }

  static void add_event_pair(FunctionEvent& event, DeviceType device,
                             const std::optional<std::int64_t>& elapsed_ns) {
    if (elapsed_ns.value_or(0) <= 0) return;
    event.is_legacy = true;
    event.kernels.push_back({event.name, device, event.device_index,
                             event.stream, *elapsed_ns, std::nullopt});
  }

  // An operation is what may own device work. Launches and device work have
  // numbers of another kind, which may equal an operation's by chance; the
  // reference takes such a launch for an operation.
  bool is_operation(std::size_t i) const {
    const FunctionEvent& event = events_[i];
    return event.is_host() && !event.is_async &&
           (compatible() || linked_op_[i] <= 0);
  }

  void link_device_work() {
    std::unordered_map<std::int64_t, std::vector<std::size_t>> work_of;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (linked_op_[i] > 0) work_of[linked_op_[i]].push_back(i);
    }
    std::vector<bool> owned(events_.size(), false);
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (!is_operation(i)) continue;
      const auto work = work_of.find(events_[i].id);
      if (work == work_of.end()) continue;
      for (const std::size_t w : work->second) {
        if (attach(i, w)) owned[w] = true;
      }
    }
    count_loose_ends(owned);
  }

  // Returns whether `work` now shows in `op`.
  bool attach(std::size_t op, std::size_t work) {
    FunctionEvent& event = events_[work];
    if (event.is_host()) {
      event.thread = events_[op].thread;
      return true;
    }
    if (compatible() && event.device != DeviceType::kCuda) return false;
    if (event.is_user_annotation) return false;
    events_[op].kernels.push_back({event.name, event.device, event.device_index,
                                   event.stream, event.duration_ns(),
                                   event.start_ns});
    return true;
  }

  void count_loose_ends(const std::vector<bool>& owned) {
    std::unordered_set<std::int64_t> launches_with_work;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (events_[i].is_host() || events_[i].is_user_annotation) continue;
      if (!owned[i]) ++statistics_.unattributed_device_rows;
      launches_with_work.insert(events_[i].id);
    }
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const bool launch = events_[i].is_host() && linked_op_[i] > 0;
      if (launch && launches_with_work.count(events_[i].id) == 0) {
        ++statistics_.launches_without_work;
      }
    }
  }

  // Failures after the others.
  void add_memory_rows(const MemoryInput& memory) {
    const std::vector<bool> taken =
        attribute_memory(events_, memory.records, session_.rules);
    const auto rows = std::count(taken.begin(), taken.end(), false);
    events_.reserve(events_.size() + static_cast<std::size_t>(rows));
    for (const bool failed : {false, true}) {
      for (std::size_t i = 0; i < taken.size(); ++i) {
        const MemoryRecord& record = memory.records[i];
        if (taken[i] || record.failed != failed) continue;
        FunctionEvent& event = add_instant(record, memory.node_of(i));
        if (failed) {
          event.requested_bytes = record.bytes;
        } else {
          event.memory = usage_of(record, session_.rules);
        }
      }
    }
  }

  FunctionEvent& add_instant(const MemoryRecord& record, std::int64_t node) {
    FunctionEvent& event = events_.emplace_back();
    event.id = ++largest_id_;
    event.node_id = node;
    event.name = record.failed ? kOutOfMemoryRecord : kMemoryRecord;
    event.thread = record.thread;
    event.fwd_thread = record.thread;
    event.start_ns = record.at_ns;
    event.end_ns = record.at_ns;
    event.flops.reset();
    return event;
  }

  const EventListOptions& session_;
  const RawEventOptions& options_;
  const std::unordered_set<std::string> hidden_;
  std::vector<FunctionEvent> events_;
  std::vector<std::int64_t> linked_op_;  // of the event at the same position
  std::int64_t largest_id_ = 0;
  RawEventStatistics statistics_;
};

}  // namespace

RawEventOptions reference_raw_event_options() {
  RawEventOptions options;
  options.hidden_names = {
      "profiler::_record_function_enter",
      "profiler::_record_function_enter_new",
      "profiler::_record_function_exit",
      "aten::is_leaf",
      "aten::output_nr",
      "aten::_version",
  };
  options.hidden_frames = {
      {"autograd/__init__", "_make_grads"},
      {"autograd/__init__", "backward"},
      {"torch/tensor", "backward"},
      {"_internal/common_utils", "prof_callable"},
      {"_internal/common_utils", "prof_func_call"},
      {"_internal/common_utils", "prof_meth_call"},
  };
  return options;
}

ParsedEvents parse_raw_events(std::vector<RawEvent> raw,
                              const EventListOptions& session,
                              const RawEventOptions& options) {
  const MixedMemory memory(raw, options.trace_start_ns);
  return RawEventParser(session, options)
      .parse(std::move(raw), memory.input());
}

ParsedEvents parse_raw_events(std::vector<RawEvent> raw,
                              std::span<const MemoryRecord> memory,
                              std::int64_t memory_node_id,
                              const EventListOptions& session,
                              const RawEventOptions& options) {
  return RawEventParser(session, options)
      .parse(std::move(raw), {memory, memory_node_id, {}});
}

}  // namespace weft
