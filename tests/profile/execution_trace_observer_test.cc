// SPDX-License-Identifier: Apache-2.0

// The execution graph of a program, written while it runs.

#include "weft/profile/execution_trace_observer.h"

#include <gtest/gtest.h>
#include <simdjson.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runtime/scale.h"
#include "weft/profile/profiler.h"
#include "weft/profile/record_function.h"

namespace weft {
namespace {

using Json = simdjson::dom::element;

class ExecutionTrace : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("weft_graph_" + std::to_string(getpid()) + "_" +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const char* name = "graph.json") const {
    return (folder_ / name).string();
  }
  void registered(const ExecutionTraceOptions& options = {}) {
    const Result<void> result = observer_.register_callback(path(), options);
    ASSERT_TRUE(result.ok()) << result.error().message;
  }
  // The nodes of the file by name; the last of a name.
  std::map<std::string, Json> nodes() {
    std::map<std::string, Json> all;
    Json graph;
    EXPECT_EQ(parser_.load(path()).get(graph), simdjson::SUCCESS);
    count_ = 0;
    for (const Json node : simdjson::dom::array(graph["nodes"])) {
      all[std::string(std::string_view(node["name"]))] = node;
      ++count_;
    }
    return all;
  }
  static std::int64_t number(Json node, const char* key) {
    return std::int64_t(node[key]);
  }

  std::filesystem::path folder_;
  ExecutionTraceObserver observer_;
  simdjson::dom::parser parser_;
  std::size_t count_ = 0;
};

TEST_F(ExecutionTrace, CallsAreNodesUnderTheCallThatMadeThem) {
  registered();
  ASSERT_TRUE(observer_.start().ok());
  {
    WEFT_RECORD_USER_SCOPE("request");
    WEFT_RECORD_FUNCTION("scale", 7, 2.5);
    std::thread([] { WEFT_RECORD_FUNCTION("elsewhere"); }).join();
  }
  observer_.stop();
  { WEFT_RECORD_FUNCTION("not any more"); }
  EXPECT_FALSE(std::filesystem::exists(path())) << "not before it is complete";
  ASSERT_TRUE(observer_.unregister_callback().ok());
  auto all = nodes();
  EXPECT_EQ(count_, 4u);
  ASSERT_EQ(all.count("request"), 1u);
  EXPECT_EQ(all.count("not any more"), 0u);
  EXPECT_EQ(number(all["request"], "ctrl_deps"), 1);
  EXPECT_EQ(number(all["scale"], "ctrl_deps"), number(all["request"], "id"));
  EXPECT_EQ(number(all["elsewhere"], "ctrl_deps"), 1);
  EXPECT_EQ(simdjson::minify(Json(all["scale"]["inputs"]["values"])),
            "[7,2.5]");
  EXPECT_EQ(simdjson::minify(Json(all["scale"]["inputs"]["types"])),
            R"(["Scalar","Scalar"])");
  EXPECT_EQ(observer_.statistics().nodes, 3u);
  EXPECT_EQ(observer_.statistics().unfinished, 0u);
}

// An infinity is no number of JSON's.
TEST_F(ExecutionTrace, NumbersThatJsonDoesNotHaveAreText) {
  registered();
  ASSERT_TRUE(observer_.start().ok());
  { WEFT_RECORD_FUNCTION("divide", std::numeric_limits<double>::infinity()); }
  ASSERT_TRUE(observer_.unregister_callback().ok());
  EXPECT_EQ(simdjson::minify(Json(nodes()["divide"]["inputs"]["values"])),
            R"(["inf"])");
}

TEST_F(ExecutionTrace, StartAndStopAsOftenAsOneLikes) {
  registered();
  EXPECT_FALSE(observer_.is_running());
  observer_.stop();
  for (const char* name : {"first", "second"}) {
    ASSERT_TRUE(observer_.start().ok());
    ASSERT_TRUE(observer_.start().ok()) << "twice is once";
    EXPECT_TRUE(observer_.is_running());
    { WEFT_RECORD_FUNCTION_DYN(std::string(name)); }
    observer_.stop();
    WEFT_RECORD_FUNCTION("between");
  }
  ASSERT_TRUE(observer_.unregister_callback().ok());
  auto all = nodes();
  EXPECT_EQ(count_, 3u);
  EXPECT_EQ(all.count("first") + all.count("second"), 2u);
}

TEST_F(ExecutionTrace, OneIsRegisteredAndSaysWhere) {
  EXPECT_FALSE(observer_.is_registered());
  EXPECT_EQ(observer_.get_output_file_path().error().code,
            ErrorCode::kNotRunning);
  EXPECT_EQ(observer_.start().error().code, ErrorCode::kNotRunning);
  EXPECT_TRUE(observer_.unregister_callback().ok());
  EXPECT_EQ(observer_.register_callback("/nonexistent/graph.json").error().code,
            ErrorCode::kIo);
  EXPECT_EQ(
      observer_.register_callback(path(), {.memory_bytes = 1}).error().code,
      ErrorCode::kInvalidArgument);
  registered();
  EXPECT_TRUE(observer_.is_registered());
  EXPECT_TRUE(observer_.register_callback(path()).ok()) << "idempotent";
  EXPECT_EQ(*observer_.get_output_file_path(), path());
  EXPECT_EQ(observer_.register_callback(path("other.json")).error().code,
            ErrorCode::kBusy);
  {
    ExecutionTraceObserver second;
    const Result<void> refused = second.register_callback(path("other.json"));
    ASSERT_EQ(refused.error().code, ErrorCode::kBusy);
    EXPECT_NE(refused.error().message.find(path()), std::string::npos);
  }
  ASSERT_TRUE(observer_.unregister_callback().ok());
  EXPECT_FALSE(observer_.is_registered());
  registered();
  ASSERT_TRUE(observer_.unregister_callback().ok());
  nodes();
  EXPECT_EQ(count_, 1u) << "the process alone";
}

// Calls that are open at the end are in the file, so that parents exist.
TEST_F(ExecutionTrace, CallsThatAreOpenAtTheEndAreNodes) {
  registered();
  ASSERT_TRUE(observer_.start().ok());
  {
    WEFT_RECORD_FUNCTION("open");
    { WEFT_RECORD_FUNCTION("inside"); }
    ASSERT_TRUE(observer_.unregister_callback().ok());
  }
  auto all = nodes();
  ASSERT_EQ(all.count("open"), 1u);
  EXPECT_EQ(number(all["inside"], "ctrl_deps"), number(all["open"], "id"));
  EXPECT_EQ(observer_.statistics().unfinished, 1u);
}

TEST_F(ExecutionTrace, MemoryIsBoundedAndEachCallIsANodeOrCounted) {
  registered({.memory_bytes = 64 << 10});
  ASSERT_TRUE(observer_.start().ok());
  constexpr unsigned kThreads = 3;
  const unsigned calls = test::scaled(20'000);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (unsigned i = 0; i < calls; ++i) {
        WEFT_RECORD_FUNCTION("outer");
        WEFT_RECORD_FUNCTION("inner");
      }
    });
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(observer_.unregister_callback().ok());
  const ExecutionTraceStatistics statistics = observer_.statistics();
  EXPECT_EQ(statistics.nodes + statistics.dropped + statistics.late,
            std::uint64_t{2} * kThreads * calls);
  nodes();
  EXPECT_EQ(count_, statistics.nodes + 1);
}

// Whatever is dropped, every parent is in the file.
TEST_F(ExecutionTrace, EveryParentIsANode) {
  registered({.memory_bytes = 64 << 10});
  ASSERT_TRUE(observer_.start().ok());
  for (int i = 0; i < 3000; ++i) {
    WEFT_RECORD_FUNCTION("a");
    WEFT_RECORD_FUNCTION("b");
    WEFT_RECORD_FUNCTION("c");
  }
  ASSERT_TRUE(observer_.unregister_callback().ok());
  Json graph;
  ASSERT_EQ(parser_.load(path()).get(graph), simdjson::SUCCESS);
  std::set<std::int64_t> numbers;
  for (const Json node : simdjson::dom::array(graph["nodes"]))
    EXPECT_TRUE(numbers.insert(number(node, "id")).second);
  for (const Json node : simdjson::dom::array(graph["nodes"]))
    EXPECT_EQ(numbers.count(number(node, "ctrl_deps")), 1u);
}

// The child has no writer: it must neither wait for one, nor spoil the file,
// nor fill memory with what nobody will write.
TEST_F(ExecutionTrace, AForkedChildWritesNothing) {
  registered({.memory_bytes = 64 << 10});
  ASSERT_TRUE(observer_.start().ok());
  const pid_t child = fork();
  if (child == 0) {
    // A session of its own turns its sites on again. The thread sanitizer lets
    // no child have threads.
    Profiler profiler({.record_shapes = true});
    if (!test::kThreadSanitizer && !profiler.start().ok()) _exit(3);
    for (int i = 0; i < 1000; ++i) {
      WEFT_RECORD_FUNCTION("of the child");
    }
    if (observer_.statistics().dropped != 0) _exit(2);
    (void)observer_.unregister_callback();
    _exit(std::filesystem::exists(path()) ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  { WEFT_RECORD_FUNCTION("of the parent"); }
  ASSERT_TRUE(observer_.unregister_callback().ok());
  auto all = nodes();
  EXPECT_EQ(all.count("of the parent"), 1u);
  EXPECT_EQ(all.count("of the child"), 0u);
}

}  // namespace
}  // namespace weft
