// SPDX-License-Identifier: Apache-2.0
//
// Nobody takes the data: memory stays bounded, losses are counted, and new
// records get through when somebody reads again.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "weft/instant.h"
#include "runtime/scale.h"
#include "weft/session.h"
#include "weft/span.h"
#include "weft/status.h"

namespace weft {
namespace {

constexpr std::size_t kRingBytes = 8u << 20;
constexpr std::size_t kBlockBytes = 4u << 20;

long resident_kib() {
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
  if (file != nullptr) std::fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

// The thread sanitizer keeps shadow of everything that was ever touched, several
// times its size, and never gives it back: there is nothing to measure there.
void expect_resident_below(long before, long kib) {
  if (!test::kThreadSanitizer) {
    EXPECT_LT(resident_kib() - before, kib);
  }
}

InitOptions options_for(const std::string& path) {
  InitOptions options;
  options.output = path;
  options.ring_bytes = kRingBytes;
  options.top_ring_bytes = 1u << 20;
  options.block_pool_bytes = kBlockBytes;
  options.flush_after = std::chrono::milliseconds(1);
  return options;
}

// Four threads record flat out until `enough` is true; returns the calls.
template <class Enough>
std::uint64_t record_until(Enough enough) {
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> calls{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      std::uint64_t mine = 0;
      while (!done.load(std::memory_order_relaxed)) {
        WEFT_SPAN("flat out", {"number", mine});
        mine += 2;
      }
      calls += mine;
    });
  while (!enough()) std::this_thread::yield();
  done = true;
  for (std::thread& thread : threads) thread.join();
  return calls;
}

class K5_03 : public testing::Test {
 protected:
  K5_03()
      : folder_(
            (std::filesystem::temp_directory_path() / "weft-XXXXXX").string()) {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  ~K5_03() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

TEST_F(K5_03, AFifoThatNobodyReadsCostsBoundedMemory) {
  const std::string fifo = path("trace.weft");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const int reader = open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  // The tables, which stay, are touched by a first session.
  ASSERT_TRUE(init(options_for(path("first.weft"))).ok());
  { WEFT_SPAN("first"); }
  ASSERT_TRUE(shutdown().ok());
  const long before = resident_kib();
  ASSERT_TRUE(init(options_for(fifo)).ok());
  const auto refused = [] {
    return status().dropped[static_cast<int>(DropReason::kSlowSink)];
  };
  std::uint64_t calls = record_until([&] { return refused() > 2'000'000; });
  constexpr long kBoundKib = (kRingBytes + kBlockBytes + (16u << 20)) / 1024;
  expect_resident_below(before, kBoundKib);

  // Somebody reads again: new records get through.
  std::atomic<bool> done{false};
  std::thread reads([&] {
    std::vector<char> bytes(64 << 10);
    while (!done) {
      if (read(reader, bytes.data(), bytes.size()) <= 0)
        std::this_thread::yield();
    }
  });
  const std::uint64_t delivered = status().delivered;
  calls += record_until(
      [&] { return status().delivered > delivered + 100'000; });
  ASSERT_TRUE(stop().ok());
  const RuntimeStatus now = status();
  EXPECT_EQ(calls, now.delivered + now.total_dropped());
  EXPECT_TRUE(shutdown().ok());
  done = true;
  reads.join();
  close(reader);
  // Rings and blocks go back to the system.
  expect_resident_below(before, (kRingBytes + kBlockBytes) / 2 / 1024);
}

TEST_F(K5_03, AShutdownWhoseSinkHangsSaysSoInTime) {
  const std::string fifo = path("trace.weft");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const int reader = open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  ASSERT_TRUE(init(options_for(fifo)).ok());
  record_until([&] { return status().total_dropped() > 100'000; });
  const Result<void> ended = shutdown(std::chrono::milliseconds(100));
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, ErrorCode::kTimeout);
  close(reader);
}

// /dev/full refuses every write.
TEST_F(K5_03, ASinkThatFailsIsToldAndCostsBoundedMemory) {
  const std::string link = path("full.weft");
  ASSERT_EQ(symlink("/dev/full", link.c_str()), 0);
  const long before = resident_kib();
  const Result<void> begun = init(options_for(link));
  if (!begun.ok()) {
    EXPECT_EQ(begun.error().code, ErrorCode::kIo);
    return;
  }
  const std::uint64_t calls =
      record_until([] { return !status().output_error.empty(); });
  expect_resident_below(before,
                        (kRingBytes + kBlockBytes + (16u << 20)) / 1024);
  ASSERT_TRUE(stop().ok());
  const RuntimeStatus now = status();
  EXPECT_EQ(calls, now.delivered + now.total_dropped());
  shutdown();
}

}  // namespace
}  // namespace weft
