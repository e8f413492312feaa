// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/execution_graph.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <sstream>

namespace weft {
namespace {

using Json = simdjson::dom::element;

FunctionEvent range(const char* name, std::int64_t start_ns,
                    std::int64_t end_ns) {
  FunctionEvent event;
  event.name = name;
  event.trace_name = name;
  event.thread = 5;
  event.start_ns = start_ns;
  event.end_ns = end_ns;
  return event;
}

class ExecutionGraph : public testing::Test {
 protected:
  Json write(std::vector<FunctionEvent> rows) {
    std::ostringstream out;
    cut_ = write_execution_graph(out, EventList(std::move(rows)),
                                 {77, "now", 1, 2});
    Json graph;
    EXPECT_EQ(parser_.parse(out.str()).get(graph), simdjson::SUCCESS)
        << out.str();
    return graph;
  }
  std::uint64_t cut() const { return cut_; }

  static Json attribute(Json node, std::string_view name) {
    for (const Json one : simdjson::dom::array(node["attrs"])) {
      if (std::string_view(one["name"]) == name) return one["value"];
    }
    ADD_FAILURE() << name;
    return node;
  }

 private:
  simdjson::dom::parser parser_;
  std::uint64_t cut_ = 0;
};

TEST_F(ExecutionGraph, NodesNameTheirParentsAndTheProcessComesLast) {
  FunctionEvent kernel = range("kernel", 20, 30);
  kernel.device = DeviceType::kCuda;
  FunctionEvent inner = range("in\"ner", 10, 50);
  inner.input_shapes = {{2, 3}, {}};
  inner.sequence_nr = 9;
  inner.scope = RecordScope::kUserScope;
  const Json graph = write({range("outer", 0, 100), inner, kernel});
  EXPECT_EQ(std::int64_t(graph["pid"]), 77);
  EXPECT_EQ(std::int64_t(graph["start_ts"]), 1);
  EXPECT_EQ(std::int64_t(graph["finish_ts"]), 2);
  const simdjson::dom::array nodes = graph["nodes"];
  ASSERT_EQ(nodes.size(), 3u);  // device work is no node
  const Json outer = nodes.at(0);
  const Json within = nodes.at(1);
  const Json root = nodes.at(2);
  EXPECT_EQ(std::int64_t(outer["id"]), 2);
  EXPECT_EQ(std::int64_t(outer["ctrl_deps"]), 1);
  EXPECT_EQ(std::int64_t(within["ctrl_deps"]), 2);
  EXPECT_EQ(std::string_view(within["name"]), "in\"ner");
  EXPECT_EQ(simdjson::minify(Json(within["inputs"]["shapes"])), "[[2,3],[]]");
  EXPECT_EQ(std::int64_t(attribute(within, "seq_id")), 9);
  EXPECT_EQ(std::int64_t(attribute(within, "scope")), 7);
  EXPECT_EQ(std::int64_t(attribute(within, "tid")), 5);
  EXPECT_EQ(std::int64_t(root["id"]), 1);
  EXPECT_EQ(std::int64_t(root["ctrl_deps"]), 1);
}

TEST_F(ExecutionGraph, LongListsAreCutAndCounted) {
  FunctionEvent many = range("many", 0, 1);
  many.input_shapes.assign(kMostGraphElements + 1, Shape{1});
  const Json graph = write({many, range("few", 2, 3)});
  EXPECT_EQ(cut(), 1u);
  EXPECT_EQ(simdjson::dom::array(graph["nodes"].at(0)["inputs"]["shapes"])
                .size(),
            kMostGraphElements);
}

TEST_F(ExecutionGraph, EmptyListHasTheProcessOnly) {
  const Json graph = write({});
  EXPECT_EQ(simdjson::dom::array(graph["nodes"]).size(), 1u);
}

TEST_F(ExecutionGraph, FilesThatCannotBeWrittenAreErrors) {
  EXPECT_EQ(export_execution_graph("/nonexistent/x.json", {}, {}).error().code,
            ErrorCode::kIo);
}

}  // namespace
}  // namespace weft
