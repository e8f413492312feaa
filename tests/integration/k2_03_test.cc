// SPDX-License-Identifier: Apache-2.0
//
// Records after main, and ends without any: k2_03_ends as a child process.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "weft/export/trace_reader.h"

namespace weft::exporters {
namespace {

struct Trace {
  int state = -1;  // what waitpid() said
  bool opened = false;
  bool complete = false;
  std::uint64_t dropped = 0;
  std::multiset<std::string> names;  // of begins and instants
};

Trace run(const std::string& end) {
  std::string folder =
      (std::filesystem::temp_directory_path() / "weft-XXXXXX").string();
  EXPECT_NE(mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/trace.weft";
  const pid_t child = fork();
  if (child == 0) {
    execl(WEFT_K2_03_ENDS, WEFT_K2_03_ENDS, path.c_str(), end.c_str(),
          static_cast<char*>(nullptr));
    _exit(127);
  }
  Trace trace;
  waitpid(child, &trace.state, 0);
  Result<TraceReader> reader = TraceReader::open(path);
  trace.opened = reader.ok();
  if (reader.ok()) {
    trace.complete = reader->info().complete;
    for (const std::uint64_t count : reader->info().end.dropped)
      trace.dropped += count;
    DecodedRecord record;
    while (reader->next(&record))
      if (record.kind == RecordKind::kSpanBegin ||
          record.kind == RecordKind::kInstant)
        trace.names.emplace(reader->info().name_of(record));
    EXPECT_TRUE(reader->info().problems.empty());
  }
  std::filesystem::remove_all(folder);
  return trace;
}

TEST(K2_03, RecordsOfGlobalsAndAtexitFunctionsAreInTheFile) {
  const Trace trace = run("return");
  EXPECT_EQ(trace.state, 0);
  EXPECT_TRUE(trace.complete);
  EXPECT_EQ(trace.dropped, 0u);
  EXPECT_EQ(trace.names,
            (std::multiset<std::string>{"main", "atexit before init",
                                        "atexit after init",
                                        "global destructor"}));
}

TEST(K2_03, ExitFromASecondThreadCompletesTheFileToo) {
  const Trace trace = run("exit");
  EXPECT_EQ(trace.state, 0);
  EXPECT_TRUE(trace.complete);
  EXPECT_EQ(trace.names.count("the second thread"), 1u);
  EXPECT_EQ(trace.names.count("global destructor"), 1u);
}

class AbruptEnd : public testing::TestWithParam<std::string> {};

// Nothing is run any more: the file reads up to its last written block.
TEST_P(AbruptEnd, LeavesAFileThatReadsUpToItsLastBlock) {
  const Trace trace = run(GetParam());
  EXPECT_EQ(trace.state, 0);
  ASSERT_TRUE(trace.opened);
  EXPECT_FALSE(trace.complete);
  EXPECT_EQ(trace.names.count("main"), 1u);
}

INSTANTIATE_TEST_SUITE_P(K2_03, AbruptEnd,
                         testing::Values("quick_exit", "_exit"),
                         [](const auto& end) { return end.param; });

}  // namespace
}  // namespace weft::exporters
