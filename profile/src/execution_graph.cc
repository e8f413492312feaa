// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/execution_graph.h"

#include <algorithm>
#include <ostream>
#include <string_view>

#include "json_text.h"
#include "output_file.h"

namespace weft {
namespace {

constexpr std::uint64_t kRoot = 1;
constexpr std::uint64_t kFirst = 2;

struct Attribute {
  std::string_view name;
  std::string_view type;
  std::string value;  // JSON
};

class Writer {
 public:
  Writer(std::ostream& out, const EventList& events)
      : out_(out), events_(events), numbers_(events.size(), 0) {}

  std::uint64_t write(const ExecutionGraphOptions& options) {
    out_ << "{\"schema\": \"1.0.2-chakra.0.0.4\", \"pid\": " << options.pid
         << ", \"time\": " << profile::json_string(options.time)
         << ", \"start_ts\": " << options.start_ms << ",\n\"nodes\": [\n";
    std::uint64_t next = kFirst;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (is_node(events_[i])) numbers_[i] = next++;
    }
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (!is_node(events_[i])) continue;
      write_event(i);
      out_ << ",\n";
    }
    write_root();
    out_ << "\n],\n\"finish_ts\": " << options.finish_ms << "}\n";
    return cut_;
  }

 private:
  static bool is_node(const FunctionEvent& event) {
    return event.is_host() && !event.is_instant();
  }

  void write_node(std::uint64_t id, std::string_view name, std::uint64_t parent,
                  const std::vector<Shape>& shapes,
                  const std::vector<Attribute>& attributes) {
    out_ << "{\"id\": " << id << ", \"name\": " << profile::json_string(name)
         << ", \"ctrl_deps\": " << parent << ", \"inputs\": ";
    write_values(shapes);
    out_ << ", \"outputs\": ";
    write_values({});
    out_ << ", \"attrs\": [";
    const char* separator = "";
    for (const Attribute& attribute : attributes) {
      out_ << separator << "{\"name\": \"" << attribute.name
           << "\", \"type\": \"" << attribute.type
           << "\", \"value\": " << attribute.value << '}';
      separator = ", ";
    }
    out_ << "]}";
  }

  // Of inputs only the shapes are known: the values are gone.
  void write_values(const std::vector<Shape>& shapes) {
    std::size_t count = shapes.size();
    if (count > kMostGraphElements) {
      count = kMostGraphElements;
      ++cut_;
    }
    const auto repeated = [&](const char* text) {
      for (std::size_t i = 0; i < count; ++i) out_ << (i == 0 ? "" : ", ") << text;
    };
    out_ << "{\"values\": [";
    repeated("null");
    out_ << "], \"shapes\": [";
    for (std::size_t i = 0; i < count; ++i) {
      out_ << (i == 0 ? "[" : ", [");
      for (std::size_t d = 0; d < shapes[i].size(); ++d) {
        out_ << (d == 0 ? "" : ", ") << shapes[i][d];
      }
      out_ << ']';
    }
    out_ << "], \"types\": [";
    repeated("\"\"");
    out_ << "], \"strides\": [";
    repeated("[]");
    out_ << "]}";
  }

  void write_event(std::size_t i) {
    const FunctionEvent& event = events_[i];
    const std::uint64_t parent =
        event.parent == kNoEvent ? kRoot : numbers_[event.parent];
    const bool known = event.sequence_nr >= 0;
    write_node(
        numbers_[i], event.trace_name.value_or(event.name), parent,
        event.input_shapes,
        {{"rf_id", "uint64", std::to_string(event.id)},
         {"fw_parent", "uint64", "0"},
         {"seq_id", "int64", std::to_string(known ? event.sequence_nr : -1)},
         {"scope", "uint64", std::to_string(static_cast<int>(event.scope))},
         {"tid", "uint64", std::to_string(event.thread)},
         {"fw_tid", "uint64", std::to_string(event.fwd_thread)},
         {"op_schema", "string", "\"\""},
         {"kernel_backend", "string", "\"\""},
         {"kernel_file", "string", "\"\""}});
  }

  void write_root() {
    write_node(kRoot, "[pytorch|profiler|execution_trace|process]", kRoot, {},
               {{"rf_id", "uint64", "0"},
                {"fw_parent", "uint64", "0"},
                {"seq_id", "int64", "-1"},
                {"scope", "uint64", "7"},
                {"tid", "uint64", "0"},
                {"fw_tid", "uint64", "0"},
                {"op_schema", "string", "\"\""},
                {"kernel_backend", "string", "\"\""},
                {"kernel_file", "string", "\"\""}});
  }

  std::ostream& out_;
  const EventList& events_;
  std::vector<std::uint64_t> numbers_;
  std::uint64_t cut_ = 0;
};

}  // namespace

std::uint64_t write_execution_graph(std::ostream& out, const EventList& events,
                                    const ExecutionGraphOptions& options) {
  return Writer(out, events).write(options);
}

Result<std::uint64_t> export_execution_graph(
    const std::string& path, const EventList& events,
    const ExecutionGraphOptions& options) {
  std::uint64_t cut = 0;
  const Result<void> written = profile::write_file(
      path, [&](std::ostream& out) {
        cut = write_execution_graph(out, events, options);
      });
  if (!written.ok()) return written.error();
  return cut;
}

}  // namespace weft
