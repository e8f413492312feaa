// SPDX-License-Identifier: Apache-2.0
//
// Several processes that were given one file name.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "weft/export/trace_reader.h"
#include "weft/weft.h"

namespace weft::exporters {
namespace {

constexpr int kProcesses = 4;
constexpr int kSpans = 1000;

class K4_07 : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / "weft-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Each begins, tells the parent, and ends when all have begun.
  void run_processes(const std::string& output) {
    int begun[2], go[2];
    ASSERT_EQ(pipe(begun), 0);
    ASSERT_EQ(pipe(go), 0);
    std::vector<pid_t> children;
    for (int i = 0; i < kProcesses; ++i) {
      const pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        close(go[1]);
        InitOptions options;
        options.output = output;
        options.on_message = [](std::string_view) {};
        char byte = init(options).ok() ? '1' : '0';
        for (int n = 0; n < kSpans; ++n) {
          WEFT_SPAN("work", {"n", n});
        }
        if (write(begun[1], &byte, 1) != 1) _exit(2);
        (void)!read(go[0], &byte, 1);  // until the parent closes it
        _exit(shutdown().ok() ? 0 : 1);
      }
      children.push_back(child);
    }
    for (int i = 0; i < kProcesses; ++i) {
      char byte = 0;
      ASSERT_EQ(read(begun[0], &byte, 1), 1);
      EXPECT_EQ(byte, '1');
    }
    for (const int end : {go[0], go[1], begun[0], begun[1]}) close(end);
    for (const pid_t child : children) {
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0);
    }
  }

  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      names.insert(entry.path().filename().string());
    return names;
  }

  std::string folder_;
};

TEST_F(K4_07, EachProcessHasAFileOfItsOwn) {
  run_processes(folder_ + "/trace.weft");
  EXPECT_EQ(files().size(), std::size_t{kProcesses});
  EXPECT_EQ(files().count("trace.weft"), 1u);
  std::set<std::uint32_t> pids;
  for (const std::string& name : files()) {
    SCOPED_TRACE(name);
    auto reader = TraceReader::open(folder_ + "/" + name);
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_TRUE(check_trace(*reader).empty());
    std::uint64_t dropped = 0;
    for (const std::uint64_t count : reader->info().end.dropped)
      dropped += count;
    EXPECT_EQ(reader->info().end.delivered + dropped, 2u * kSpans);
    const auto pid = static_cast<std::uint32_t>(reader->info().process.pid);
    pids.insert(pid);
    if (name != "trace.weft") {
      EXPECT_EQ(name, "trace." + std::to_string(pid) + ".weft");
    }
  }
  EXPECT_EQ(pids.size(), std::size_t{kProcesses});
}

TEST_F(K4_07, NorIsJsonInterleaved) {
  run_processes(folder_ + "/trace.json");
  EXPECT_EQ(files().size(), std::size_t{kProcesses});
  for (const std::string& name : files()) {
    SCOPED_TRACE(name);
    std::ifstream in(folder_ + "/" + name);
    std::stringstream text;
    text << in.rdbuf();
    const std::string whole = text.str();
    EXPECT_EQ(whole.front(), '{');
    EXPECT_EQ(whole.substr(whole.find_last_not_of('\n'), 1), "}");
    std::size_t spans = 0;
    for (std::size_t at = 0;
         (at = whole.find("\"name\":\"work\"", at)) != std::string::npos; ++at)
      ++spans;
    EXPECT_EQ(spans, std::size_t{kSpans});
  }
}

// The name is said, once, and status() tells the one that is written.
TEST_F(K4_07, WhoIsTurnedAwaySaysWhereItWrites) {
  OutputOptions taken;
  taken.path = folder_ + "/trace.weft";
  std::unique_ptr<Exporter> other;
  Error error;
  weft_open_output(taken, &other, &error);
  ASSERT_NE(other, nullptr) << error.message;

  std::string said;
  InitOptions options;
  options.output = taken.path;
  options.on_message = [&](std::string_view line) { said += line; };
  ASSERT_TRUE(init(options).ok());
  const std::string own =
      folder_ + "/trace." + std::to_string(getpid()) + ".weft";
  EXPECT_EQ(status().output, own);
  EXPECT_NE(said.find(taken.path), std::string::npos) << said;
  EXPECT_NE(said.find(own), std::string::npos) << said;
  ASSERT_TRUE(shutdown().ok());
}

}  // namespace
}  // namespace weft::exporters
