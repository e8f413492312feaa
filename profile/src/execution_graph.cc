// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/execution_graph.h"

#include <ostream>
#include <utility>
#include <vector>

#include "execution_graph_node.h"
#include "output_file.h"

namespace weft {
namespace {

using profile::GraphNode;
using profile::GraphWriter;

bool is_node(const FunctionEvent& event) {
  return event.is_host() && !event.is_instant();
}

// Of inputs only the shapes are left.
GraphNode node_of(const FunctionEvent& event) {
  GraphNode node;
  node.name = event.trace_name ? *event.trace_name : event.name;
  for (const Shape& shape : event.input_shapes) {
    FunctionInput input;
    input.kind = FunctionInput::Kind::kArray;
    input.sizes = shape;
    node.inputs.push_back(std::move(input));
  }
  node.handle = static_cast<std::uint64_t>(event.id);
  node.sequence_nr = event.sequence_nr;
  node.scope = event.scope;
  node.thread = static_cast<std::uint64_t>(event.thread);
  node.forward_thread = static_cast<std::uint64_t>(event.fwd_thread);
  return node;
}

}  // namespace

std::uint64_t write_execution_graph(std::ostream& out, const EventList& events,
                                    const ExecutionGraphOptions& options) {
  GraphWriter writer(out);
  writer.begin(options);
  std::vector<std::uint64_t> numbers(events.size(), 0);
  std::uint64_t next = profile::kFirstNode;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (is_node(events[i])) numbers[i] = next++;
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!is_node(events[i])) continue;
    GraphNode node = node_of(events[i]);
    node.number = numbers[i];
    if (events[i].parent != kNoEvent) node.parent = numbers[events[i].parent];
    writer.add(node);
  }
  writer.end(options.finish_ms);
  return writer.cut_lists();
}

Result<std::uint64_t> export_execution_graph(
    const std::string& path, const EventList& events,
    const ExecutionGraphOptions& options) {
  std::uint64_t cut = 0;
  const Result<void> written =
      profile::write_file(path, [&](std::ostream& out) {
        cut = write_execution_graph(out, events, options);
      });
  if (!written.ok()) return written.error();
  return cut;
}

}  // namespace weft
