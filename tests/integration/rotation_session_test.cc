// SPDX-License-Identifier: Apache-2.0
//
// A session in many files, as a service that runs for months has it.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "integration/temp_folder.h"
#include "runtime/scale.h"
#include "weft/export/trace_reader.h"
#include "weft/weft.h"

namespace weft::exporters {
namespace {

using Folder = test::TempFolder;

// Threads begin, record and end while files come and go: every call is in one of
// the files, or counted there as dropped.
TEST(RotationSession, CallsMadeAreDeliveredOrDroppedOverAllFiles) {
  const Folder folder;
  InitOptions options;
  options.output = folder.file("service.weft");
  options.rotation.bytes = 1u << 20;
  ASSERT_TRUE(init(options).ok());
  const std::uint64_t spans = test::scaled(200'000);
  constexpr int kRounds = 4;
  constexpr int kThreads = 3;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&, i] {
        set_thread_name("worker " + std::to_string(i));
        WEFT_SPAN("thread", {"round", round});
        for (std::uint64_t n = 0; n < spans; ++n) {
          WEFT_SPAN("request", {"n", n});
        }
      });
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE(rotate().ok());
  }
  ASSERT_TRUE(shutdown().ok());

  std::uint64_t delivered = 0;
  std::uint64_t dropped = 0;
  std::map<std::string, int> thread_names;
  for (const std::string& name : folder.files()) {
    SCOPED_TRACE(name);
    auto reader = TraceReader::open(name);
    ASSERT_TRUE(reader) << reader.error().message;
    std::string problems;
    for (const TraceProblem& problem : check_trace(*reader))
      problems += std::to_string(problem.offset) + ": " + problem.what + "\n";
    EXPECT_EQ(problems, "");
    delivered += reader->info().end.delivered;
    for (const std::uint64_t count : reader->info().end.dropped)
      dropped += count;
    for (const ThreadInfo& thread : reader->info().threads)
      ++thread_names[std::string(reader->info().text(thread.name))];
  }
  EXPECT_GE(folder.files().size(), 2u);
  EXPECT_EQ(delivered + dropped, 2 * kRounds * kThreads * (spans + 1));
  EXPECT_GE(thread_names["worker 0"], kRounds);
}

TEST(RotationSession, RotateIsRefusedWhereThereIsNothingToRotate) {
  EXPECT_EQ(rotate().error().code, ErrorCode::kNotRunning);
  const Folder folder;
  ASSERT_TRUE(init(folder.file("one.weft")).ok());
  const Result<void> refused = rotate();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(refused.error().message.find("one.weft"), std::string::npos);
  ASSERT_TRUE(shutdown().ok());
}

}  // namespace
}  // namespace weft::exporters
