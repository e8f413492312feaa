// SPDX-License-Identifier: Apache-2.0
// The list's own trace file, and the two array forms of the reference.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "json_text.h"
#include "output_file.h"
#include "weft/profile/event_list.h"
#include "weft/profile/forward_backward_links.h"
#include "weft/profile/reference.h"

namespace weft {
namespace {

using profile::json_microseconds;
using profile::json_string;

// Elements of an array, each after the separator that it needs.
class ElementWriter {
 public:
  ElementWriter(std::ostream& out, std::string_view separator)
      : out_(out), separator_(separator) {}
  void add(std::string_view element) {
    if (!first_) out_ << separator_;
    first_ = false;
    out_ << element;
  }

 private:
  std::ostream& out_;
  std::string_view separator_;
  bool first_ = true;
};

std::string array_slice(const std::string& name, std::int64_t start_ns,
                        std::int64_t duration_ns, const std::string& tid,
                        std::string_view pid) {
  return fmt::format(
      R"({{"name": {}, "ph": "X", "ts": {}, "dur": {}, "tid": {}, "pid": "{}", )"
      R"("args": {{}}}})",
      json_string(name), json_microseconds(start_ns),
      json_microseconds(duration_ns), tid, pid);
}

std::string array_arrow(const std::string& name, char side, std::int64_t at_ns,
                        std::int64_t thread, std::string_view pid,
                        std::uint64_t id, std::string_view device) {
  return fmt::format(
      R"({{"name": {}, "ph": "{}", "ts": {}, "tid": {}, "pid": "{}", "id": {}, )"
      R"("cat": {}, "args": {{}}}})",
      json_string(name), side, json_microseconds(at_ns), thread, pid, id,
      json_string("cpu_to_" + std::string(device)));
}

constexpr std::string_view kHostFunctions = "CPU functions";
constexpr std::string_view kDeviceFunctions = "CUDA functions";

// Host slices, and the near end of an arrow for each kernel.
void write_reference_list(std::ostream& out, const EventList& list) {
  const std::string& custom = list.options().device_name;
  const std::string device = custom.empty() ? "cuda" : custom;
  out << '[';
  ElementWriter elements(out, ", ");
  std::uint64_t arrow = 0;
  for (const FunctionEvent& event : list) {
    if (!event.trace_name) continue;
    const std::string tid = event.is_remote
                                ? fmt::format("\" node_id:{}, thread_id:{} \"",
                                              event.node_id, event.thread)
                                : std::to_string(event.thread);
    elements.add(array_slice(*event.trace_name, event.start_ns,
                             event.duration_ns(), tid, kHostFunctions));
    for (std::size_t i = 0; i < event.kernels.size(); ++i) {
      elements.add(array_arrow(*event.trace_name, 's', event.start_ns,
                               event.thread, kHostFunctions, arrow++, device));
    }
  }
  out << ']';
}

// Host slice, both ends of an arrow, and a device slice for each kernel. A
// kernel whose start is not known has neither.
void write_reference_2017(std::ostream& out, const EventList& list) {
  // Moves the near end inside its slice.
  constexpr std::int64_t kInsideNs = 1000;
  out << '[';
  ElementWriter elements(out, ", ");
  std::uint64_t arrow = 0;
  for (const FunctionEvent& event : list) {
    elements.add(array_slice(event.name, event.start_ns, event.duration_ns(),
                             std::to_string(event.thread), kHostFunctions));
    for (const Kernel& kernel : event.kernels) {
      if (!kernel.start_ns) continue;
      elements.add(array_arrow(event.name, 's', event.start_ns + kInsideNs,
                               event.thread, kHostFunctions, arrow, "cuda"));
      elements.add(array_arrow(kernel.name, 'f', *kernel.start_ns, event.thread,
                               kDeviceFunctions, arrow, "cuda"));
      elements.add(array_slice(event.name, *kernel.start_ns, kernel.duration_ns,
                               std::to_string(event.thread), kDeviceFunctions));
      ++arrow;
    }
  }
  out << ']';
}

// Where a row of the viewer lies. Host nodes come first, then devices.
struct Track {
  std::uint64_t pid;
  std::int64_t tid;
};

// Gives every node and device a process of its own, and names it.
class TrackTable {
 public:
  TrackTable(ElementWriter& elements, const EventListOptions& options)
      : elements_(elements), options_(options) {}

  Track host(const FunctionEvent& event) {
    const auto pid = process(
        {-1, event.node_id},
        event.node_id < 0 ? "host" : fmt::format("node {}", event.node_id));
    name_thread(pid, event.thread);
    return {pid, event.thread};
  }

  // Annotations lie on a row of their own beside their stream: they overlap
  // the work below them without nesting.
  Track device(DeviceType type, int index, std::int64_t stream,
               bool annotation) {
    const auto pid = process({static_cast<int>(type), index},
                             fmt::format("{} {}", device_name(type), index));
    if (!annotation) return {pid, stream};
    constexpr std::int64_t kAnnotationRow = 1'000'000;
    return {pid, stream + kAnnotationRow};
  }

 private:
  void name_thread(std::uint64_t pid, std::int64_t thread) {
    const auto name = options_.thread_names.find(thread);
    if (name == options_.thread_names.end() ||
        !named_threads_.emplace(pid, thread).second)
      return;
    elements_.add(fmt::format(
        R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
        pid, thread, json_string(name->second)));
  }

  std::uint64_t process(const std::pair<int, std::int64_t>& key,
                        const std::string& name) {
    const auto [found, added] = pids_.emplace(key, pids_.size() + 1);
    if (added) {
      elements_.add(fmt::format(
          R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":{}}}}})",
          found->second, json_string(name)));
    }
    return found->second;
  }

  std::string device_name(DeviceType type) const {
    switch (type) {
      case DeviceType::kCuda:
        return "CUDA";
      case DeviceType::kHip:
        return "HIP";
      case DeviceType::kXpu:
        return "XPU";
      case DeviceType::kMtia:
        return "MTIA";
      default:
        return options_.device_name.empty() ? "device" : options_.device_name;
    }
  }

  ElementWriter& elements_;
  const EventListOptions& options_;
  std::map<std::pair<int, std::int64_t>, std::uint64_t> pids_;
  std::set<std::pair<std::uint64_t, std::int64_t>> named_threads_;
};

class CompleteTraceWriter {
 public:
  CompleteTraceWriter(std::ostream& out, const EventList& list)
      : out_(out),
        list_(list),
        elements_(out, ",\n"),
        tracks_(elements_, list.options()) {}

  void write() {
    out_ << "{\"schemaVersion\":1,\"displayTimeUnit\":\"ns\",";
    for (const auto& [key, json] : list_.options().metadata)
      out_ << json_string(key) << ':' << json << ',';
    out_ << "\"traceEvents\":[\n";
    for (const FunctionEvent& event : list_) {
      if (!event.is_host()) device_rows_.insert(row_of(event));
    }
    for (const FunctionEvent& event : list_) write_event(event);
    write_forward_backward_links();
    out_ << "\n]}\n";
  }

 private:
  // Device work is known by where and when it ran.
  using DeviceRow = std::tuple<DeviceType, int, std::int64_t, std::int64_t>;
  static DeviceRow row_of(const FunctionEvent& event) {
    return {event.device, event.device_index, event.stream, event.start_ns};
  }

  void write_event(const FunctionEvent& event) {
    if (!event.is_host()) {
      const Track track =
          tracks_.device(event.device, event.device_index, event.stream,
                         event.is_user_annotation);
      slice(event.is_user_annotation ? "gpu_user_annotation" : "kernel",
            event.name, track, event.start_ns, event.duration_ns(), "");
      return;
    }
    const Track track = tracks_.host(event);
    if (event.is_instant()) {
      write_instant(event, track);
    } else if (event.is_async || event.overlaps) {
      write_async(event, track);
    } else {
      slice(
          event.scope == RecordScope::kUserScope ? "user_annotation" : "cpu_op",
          *event.trace_name, track, event.start_ns, event.duration_ns(),
          arguments(event));
    }
    for (const Kernel& kernel : event.kernels)
      write_launch(event, track, kernel);
  }

  static std::string arguments(const FunctionEvent& event) {
    std::string text;
    const auto add = [&](std::string_view key, std::string_view value) {
      text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", key, value);
    };
    if (!event.finished) add("finished", "false");
    if (event.sequence_nr >= 0) {
      add("Sequence number", std::to_string(event.sequence_nr));
      add("Fwd thread id", std::to_string(event.fwd_thread));
    }
    if (!event.input_shapes.empty()) {
      add("Input Dims", to_string(event.input_shapes));
    }
    const CallFacts& facts = *event.facts;
    if (!facts.input_types.empty())
      add("Input type", json_list(facts.input_types));
    if (!facts.concrete_inputs.empty())
      add("Concrete Inputs", json_list(facts.concrete_inputs));
    if (!facts.args.empty()) add("Args", json_string(facts.args));
    if (!facts.backend.empty()) add("Backend", json_string(facts.backend));
    if (facts.handle != 0)
      add("Record function id", std::to_string(facts.handle));
    if (!facts.modules.empty()) {
      std::string hierarchy;
      for (const std::string& module_name : facts.modules)
        hierarchy += module_name + '.';
      add("Module Hierarchy", json_string(hierarchy));
    }
    if (event.flops.value_or(0) > 0) add("Flops", std::to_string(*event.flops));
    if (!event.stack.empty()) {
      std::string stack;
      for (const std::string& frame : event.stack) stack += frame + ';';
      add("Call stack", json_string(stack));
    }
    return text;
  }

  static std::string json_list(const std::vector<std::string>& texts) {
    std::string list;
    for (const std::string& text : texts)
      list += (list.empty() ? "" : ",") + json_string(text);
    return '[' + list + ']';
  }

  void slice(std::string_view category, const std::string& name, Track track,
             std::int64_t start_ns, std::int64_t duration_ns,
             const std::string& args) {
    elements_.add(fmt::format(
        R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{}{}}})",
        category, json_string(name), track.pid, track.tid,
        json_microseconds(start_ns),
        json_microseconds(std::max<std::int64_t>(duration_ns, 0)),
        args.empty() ? "" : fmt::format(",\"args\":{{{}}}", args)));
  }

  // A range that nests in nothing: a slice would be drawn over others.
  void write_async(const FunctionEvent& event, Track track) {
    const std::uint64_t id = next_id_++;
    const auto half = [&](char side, std::int64_t at_ns,
                          const std::string& args) {
      elements_.add(fmt::format(
          R"({{"ph":"{}","cat":"async","id":{},"name":{},"pid":{},"tid":{},"ts":{},)"
          R"("args":{{{}}}}})",
          side, id, json_string(*event.trace_name), track.pid, track.tid,
          json_microseconds(at_ns), args));
    };
    half('b', event.start_ns, arguments(event));
    half('e', std::max(event.start_ns, event.end_ns), "");
  }

  void write_instant(const FunctionEvent& event, Track track) {
    std::int64_t bytes = event.memory.cpu_bytes;
    add_wrapping(bytes, event.memory.device_bytes.sum());
    std::string args = fmt::format("\"Bytes\":{}", bytes);
    if (event.requested_bytes != 0) {
      args += fmt::format(",\"Requested\":{}", event.requested_bytes);
    }
    elements_.add(fmt::format(
        R"({{"ph":"i","cat":"cpu_instant_event","s":"t","name":{},"pid":{},"tid":{},)"
        R"("ts":{},"args":{{{}}}}})",
        json_string(event.name), track.pid, track.tid,
        json_microseconds(event.start_ns), args));
  }

  // An arrow to the work that a range started, if it is known when that ran.
  // The work is drawn here when the list has no row of its own for it.
  void write_launch(const FunctionEvent& event, Track from,
                    const Kernel& kernel) {
    if (!kernel.start_ns) return;
    const Track to = tracks_.device(kernel.device, kernel.device_index,
                                    kernel.stream, false);
    const DeviceRow row{kernel.device, kernel.device_index, kernel.stream,
                        *kernel.start_ns};
    if (device_rows_.insert(row).second) {
      slice("kernel", kernel.name, to, *kernel.start_ns, kernel.duration_ns,
            "");
    }
    arrow("ac2g", from, event.start_ns, to, *kernel.start_ns);
  }

  void write_forward_backward_links() {
    for (const auto& [forward, backward] :
         forward_backward_links(list_.events())) {
      const FunctionEvent& from = list_[forward];
      const FunctionEvent& to = list_[backward];
      arrow("fwdbwd", tracks_.host(from), from.start_ns, tracks_.host(to),
            to.start_ns);
    }
  }

  void arrow(std::string_view category, Track from, std::int64_t from_ns,
             Track to, std::int64_t to_ns) {
    const std::uint64_t id = next_id_++;
    elements_.add(fmt::format(
        R"({{"ph":"s","cat":"{0}","name":"{0}","id":{1},"pid":{2},"tid":{3},)"
        R"("ts":{4}}})",
        category, id, from.pid, from.tid, json_microseconds(from_ns)));
    elements_.add(fmt::format(
        R"({{"ph":"f","bp":"e","cat":"{0}","name":"{0}","id":{1},"pid":{2},)"
        R"("tid":{3},"ts":{4}}})",
        category, id, to.pid, to.tid, json_microseconds(to_ns)));
  }

  std::ostream& out_;
  const EventList& list_;
  ElementWriter elements_;
  TrackTable tracks_;
  std::set<DeviceRow> device_rows_;
  std::uint64_t next_id_ = 1;
};

}  // namespace

void EventList::write_chrome_trace(std::ostream& out, ChromeForm form) const {
  switch (form) {
    case ChromeForm::kComplete:
      return CompleteTraceWriter(out, *this).write();
    case ChromeForm::kReferenceList:
      return write_reference_list(out, *this);
    case ChromeForm::kReference2017:
      return write_reference_2017(out, *this);
  }
}

Result<void> EventList::export_chrome_trace(const std::string& path,
                                            ChromeForm form) const {
  return profile::write_file(
      path, [&](std::ostream& out) { write_chrome_trace(out, form); });
}

Result<std::string> reference::chrome_trace(const EventList& list) {
  const bool nothing_to_write = std::none_of(
      list.begin(), list.end(),
      [](const FunctionEvent& event) { return event.trace_name.has_value(); });
  if (!list.empty() && nothing_to_write) {
    return Error{ErrorCode::kUnsupported,
                 "the reference fails to write a list of memory rows alone"};
  }
  std::ostringstream out;
  list.write_chrome_trace(out, ChromeForm::kReferenceList);
  return out.str();
}

}  // namespace weft
