// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_EXECUTION_GRAPH_NODE_H_
#define WEFT_PROFILE_SRC_EXECUTION_GRAPH_NODE_H_

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "weft/profile/execution_graph.h"
#include "weft/profile/function_input.h"
#include "weft/profile/record_scope.h"

namespace weft::profile {

inline constexpr std::uint64_t kRootNode = 1;
inline constexpr std::uint64_t kFirstNode = 2;

struct GraphNode {
  std::uint64_t number = kRootNode;
  std::uint64_t parent = kRootNode;
  std::string_view name;
  std::vector<FunctionInput> inputs;
  std::vector<FunctionInput> outputs;
  std::uint64_t handle = 0;
  std::int64_t sequence_nr = -1;
  RecordScope scope = RecordScope::kFunction;
  std::uint64_t thread = 0;
  std::uint64_t forward_thread = 0;
};

// The parts of an execution graph, in the order in which they are written.
class GraphWriter {
 public:
  explicit GraphWriter(std::ostream& out) : out_(out) {}
  void begin(const ExecutionGraphOptions& options);
  void add(const GraphNode& node);
  // With the node of the process itself.
  void end(std::int64_t finish_ms);
  std::uint64_t cut_lists() const noexcept { return cut_; }

 private:
  void write_node(const GraphNode& node);
  void write_values(const std::vector<FunctionInput>& values);

  std::ostream& out_;
  std::uint64_t cut_ = 0;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_EXECUTION_GRAPH_NODE_H_
