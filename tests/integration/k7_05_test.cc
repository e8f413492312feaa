// SPDX-License-Identifier: Apache-2.0
//
// Sessions that begin and end at awkward moments.

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "export/weft_file.h"
#include "runtime/collection.h"
#include "runtime/scale.h"
#include "weft/instant.h"
#include "weft/session.h"
#include "weft/span.h"
#include "weft/status.h"

namespace weft::test {
namespace {

std::size_t entries(const char* folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

void spin(std::chrono::microseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) continue;
}

// Threads that meet trace points until they are told to stop.
class Busy {
 public:
  explicit Busy(unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      threads_.emplace_back([this] {
        while (!quit_.load(std::memory_order_relaxed)) {
          WEFT_SPAN("busy", {"number", 1});
          WEFT_INSTANT_CAT("net", "packet");
          std::this_thread::yield();
        }
      });
  }
  ~Busy() {
    quit_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> quit_{false};
  std::vector<std::thread> threads_;
};

TEST(K7_05, ThousandsOfSessionsLeaveNoThreadAndNoDescriptor) {
  const TempPath path(".weft");
  const Busy busy(4);
  const std::size_t threads = entries("/proc/self/task");
  const std::size_t descriptors = entries("/proc/self/fd");
  // As many as a busy machine has time for, of ten thousand.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (unsigned i = 0; i < scaled(10'000); ++i) {
    if (i >= 100 && std::chrono::steady_clock::now() > until) break;
    InitOptions options;
    options.overwrite = true;
    if (i % 10 == 0) options.output = path.str();
    ASSERT_TRUE(init(options).ok()) << i;
    spin(std::chrono::microseconds(i % 201));
    ASSERT_TRUE(shutdown().ok()) << i;
  }
  EXPECT_EQ(entries("/proc/self/task"), threads);
  EXPECT_EQ(entries("/proc/self/fd"), descriptors);
  EXPECT_EQ(status().subscriptions, 0u);
}

TEST(K7_05, WhatIsDoneTwiceHasAResult) {
  EXPECT_EQ(shutdown().error().code, ErrorCode::kNotRunning);
  EXPECT_EQ(stop().error().code, ErrorCode::kNotRunning);
  ASSERT_TRUE(init("").ok());
  EXPECT_EQ(init("").error().code, ErrorCode::kBusy);
  EXPECT_EQ(start().error().code, ErrorCode::kBusy);
  std::thread([] { EXPECT_TRUE(shutdown().ok()); }).join();
  EXPECT_EQ(shutdown().error().code, ErrorCode::kNotRunning);
  EXPECT_EQ(start().error().code, ErrorCode::kNotRunning);
}

// Of any number of threads that end a session, one does.
TEST(K7_05, ManyThreadsShutDownAtOnce) {
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(init("").ok());
    std::atomic<int> done{0};
    run_threads(8, [&](unsigned) { done += shutdown().ok() ? 1 : 0; });
    EXPECT_EQ(done, 1);
  }
}

// A pipe that somebody holds open and nobody reads.
TEST(K7_05, AShutdownReturnsInItsTimeAndSaysWhatIsLost) {
  const TempPath path(".weft");
  ASSERT_EQ(mkfifo(path.str().c_str(), 0600), 0);
  const int reader = open(path.str().c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  InitOptions options;
  options.output = path.str();
  options.overwrite = true;
  options.block_pool_bytes = 1 << 20;
  ASSERT_TRUE(init(options).ok());
  // More than the pipe, the blocks and the ring can hold.
  while (status().total_dropped() == 0) {
    for (int i = 0; i < 1000; ++i) {
      WEFT_SPAN("into the void");
    }
  }
  const auto begun = std::chrono::steady_clock::now();
  const Result<void> ended = shutdown(std::chrono::milliseconds(500));
  const auto took = std::chrono::steady_clock::now() - begun;
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, ErrorCode::kTimeout);
  EXPECT_NE(ended.error().message.find("500 ms"), std::string::npos)
      << ended.error().message;
  // It waits for nobody but the sink. Bounds of the machine's are generous.
  EXPECT_LT(took, std::chrono::seconds(5));
  close(reader);
  Collection next;  // life goes on
  WEFT_INSTANT("after all");
  EXPECT_EQ(next.stop().heads(), 1u);
}

int run_program(const char* end) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // it hangs: killed
    execl(WEFT_K7_05_ENDS, WEFT_K7_05_ENDS, end, WEFT_K7_05_PLUGIN,
          static_cast<char*>(nullptr));
    _exit(127);
  }
  int state = -1;
  waitpid(child, &state, 0);
  return state;
}

class OddEnd : public testing::TestWithParam<const char*> {};

TEST_P(OddEnd, DoesNotHang) { EXPECT_EQ(run_program(GetParam()), 0); }

INSTANTIATE_TEST_SUITE_P(
    K7_05, OddEnd,
    testing::Values("shutdown in atexit", "shutdown in a destructor",
                    "shutdown in a thread's destructor",
                    "shutdown in a library's destructor",
                    "never initialised", "plugin closed while it records",
                    "plugin closed before its threads end",
                    "plugin closed and opened again"),
    [](const auto& test) {
      std::string name = test.param;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
      return name;
    });

}  // namespace
}  // namespace weft::test
