// SPDX-License-Identifier: Apache-2.0
//
// The flight recorder as a service uses it: threads record, snapshots are taken.

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "integration/temp_folder.h"
#include "runtime/scale.h"
#include "weft/export/trace_reader.h"
#include "weft/weft.h"

namespace weft::exporters {
namespace {

using std::chrono::milliseconds;
using Folder = test::TempFolder;

InitOptions recorder(const Folder& folder) {
  InitOptions options;
  options.output = folder.file("service.weft");
  options.mode = Mode::kFlightRecorder;
  options.block_pool_bytes = 4u << 20;
  return options;
}

std::string problems_of(TraceReader& reader) {
  std::string text;
  for (const TraceProblem& problem : check_trace(reader))
    text += std::to_string(problem.offset) + ": " + problem.what + "\n";
  return text;
}

TEST(FlightRecorderSession, SnapshotsAreWholeWhileThreadsRecord) {
  const Folder folder;
  ASSERT_TRUE(init(recorder(folder)).ok());
  // So many a snapshot at most, far less than is kept.
  constexpr std::int64_t kRounds = 20'000;
  std::atomic<bool> done{false};
  std::atomic<std::int64_t> allowed{0};
  std::atomic<std::int64_t> rounds{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      set_thread_name("worker " + std::to_string(i));
      while (!done) {
        if (rounds >= allowed) {
          std::this_thread::yield();
          continue;
        }
        WEFT_SPAN("request", {"worker", i});
        WEFT_SPAN("query");
        ++rounds;
      }
    });
  for (std::uint64_t number = 1; number <= test::scaled(400) / 20 + 3; ++number) {
    const std::int64_t enough = rounds + kRounds / 4;
    allowed = rounds + kRounds;
    while (rounds < enough) std::this_thread::yield();
    WEFT_INSTANT("before the snapshot", {"number", number});
    const Result<SnapshotInfo> taken = take_snapshot({}, std::chrono::minutes(1));
    ASSERT_TRUE(taken.ok()) << taken.error().message;
    EXPECT_EQ(taken->path,
              folder.file("service." + std::to_string(number) + ".weft"));
    Result<TraceReader> reader = TraceReader::open(taken->path);
    ASSERT_TRUE(reader.ok()) << reader.error().message;
    EXPECT_EQ(problems_of(*reader), "");
    EXPECT_FALSE(reader->info().anchors.empty());
    // What was recorded before the call is there, all of it under its name.
    bool found = false;
    std::uint64_t calls = 0;
    std::uint64_t nameless = 0;
    DecodedRecord record;
    while (reader->next(&record)) {
      if (is_mark(record.kind)) continue;
      ++calls;
      nameless += reader->info().name_of(record).empty() ? 1 : 0;
      found = found || (record.kind == RecordKind::kInstant &&
                        record.value_count == 1 &&
                        record.values[0].bits == number);
    }
    EXPECT_TRUE(found);
    EXPECT_EQ(nameless, 0u);
    EXPECT_EQ(calls, taken->records);
    // Its name stays taken, its bytes are not needed.
    std::filesystem::resize_file(taken->path, 0);
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  const RuntimeStatus end = status();
  EXPECT_TRUE(shutdown().ok());
  EXPECT_GT(end.delivered, 0u);
}

TEST(FlightRecorderSession, ItGoesOnRecordingForAsLongAsAsked) {
  const Folder folder;
  ASSERT_TRUE(init(recorder(folder)).ok());
  WEFT_INSTANT("something");
  SnapshotOptions options;
  options.after = milliseconds(50);
  options.reason = "slow request";
  options.output = folder.file("mine.%p.weft");
  const auto begun = std::chrono::steady_clock::now();
  const Result<SnapshotInfo> taken = take_snapshot(options);
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  EXPECT_GE(std::chrono::steady_clock::now() - begun, options.after);
  EXPECT_EQ(taken->path,
            folder.file("mine." + std::to_string(getpid()) + ".weft"));
  Result<TraceReader> reader = TraceReader::open(taken->path);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(problems_of(*reader), "");
  EXPECT_EQ(reader->info().end.reason, "snapshot: slow request");
  EXPECT_TRUE(shutdown().ok());
}

TEST(FlightRecorderSession, ASessionThatEndsAnswersWhoWaits) {
  const Folder folder;
  std::vector<std::string> lines;
  InitOptions options = recorder(folder);
  options.on_message = [&](std::string_view line) { lines.emplace_back(line); };
  ASSERT_TRUE(init(options).ok());
  SnapshotOptions later;
  later.after = std::chrono::minutes(30);
  later.reason = "in half an hour";
  ASSERT_TRUE(request_snapshot(later).ok());
  ASSERT_TRUE(shutdown().ok());
  ASSERT_TRUE(init(options).ok());  // the helper has gone through its orders
  ASSERT_TRUE(shutdown().ok());
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0],
            "snapshot (in half an hour): the session ended before its snapshot");
}

// A slow request leaves its evidence by itself.
TEST(FlightRecorderSession, ASpanOverItsBudgetTakesASnapshot) {
  const Folder folder;
  std::mutex mutex;
  std::condition_variable said;
  std::string line;
  InitOptions options = recorder(folder);
  options.live = true;
  options.on_message = [&](std::string_view text) {
    const std::scoped_lock lock(mutex);
    line = text;
    said.notify_all();
  };
  ASSERT_TRUE(init(options).ok());
  {
    WEFT_SPAN_BUDGET("slow", std::chrono::nanoseconds(1));
  }
  {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(said.wait_for(lock, std::chrono::minutes(1),
                              [&] { return !line.empty(); }));
  }
  EXPECT_NE(line.find("slow took"), std::string::npos) << line;
  EXPECT_NE(line.find("service.1.weft, 2 records"), std::string::npos) << line;
  EXPECT_EQ(spans_over_budget(), 1u);
  ASSERT_TRUE(set_span_budget("slow", std::chrono::nanoseconds(0)).ok());
  ASSERT_TRUE(shutdown().ok());
  Result<TraceReader> reader = TraceReader::open(folder.file("service.1.weft"));
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(problems_of(*reader), "");
}

TEST(FlightRecorderSession, WhatCannotBeDoneIsSaidInWords) {
  Result<SnapshotInfo> none = take_snapshot();
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::kNotRunning);

  const Folder folder;
  ASSERT_TRUE(init(folder.file("stream.weft")).ok());
  none = take_snapshot();
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::kUnsupported);
  SnapshotOptions options;
  options.before = std::chrono::nanoseconds(-1);
  EXPECT_EQ(take_snapshot(options).error().code, ErrorCode::kInvalidArgument);
  options.before = std::chrono::nanoseconds(0);
  options.after = std::chrono::hours(2);
  EXPECT_EQ(request_snapshot(options).error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(shutdown().ok());
}

TEST(FlightRecorderSession, TheEnvironmentTurnsItOn) {
  const Folder folder;
  setenv("WEFT_MODE", "flight-recorder", 1);
  EXPECT_TRUE(init(folder.file("x.weft")).ok());
  EXPECT_TRUE(take_snapshot().ok());
  EXPECT_TRUE(shutdown().ok());
  EXPECT_FALSE(std::filesystem::exists(folder.file("x.weft")));
  EXPECT_TRUE(std::filesystem::exists(folder.file("x.1.weft")));
  setenv("WEFT_MODE", "sometimes", 1);
  const Result<void> refused = init(folder.file("x.weft"));
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidEnvironment);
  EXPECT_NE(refused.error().message.find("sometimes"), std::string::npos);
  unsetenv("WEFT_MODE");
}

}  // namespace
}  // namespace weft::exporters
