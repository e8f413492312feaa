// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_INTEGRATION_BLOCKED_SINK_H_
#define WEFT_TESTS_INTEGRATION_BLOCKED_SINK_H_

// A trace into a sink that takes nothing, and what it costs in memory.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "runtime.h"
#include "runtime/scale.h"
#include "weft/session.h"
#include "weft/span.h"
#include "weft/status.h"

namespace weft::test {

inline constexpr std::size_t kRingBytes = 8u << 20;
inline constexpr std::size_t kBlockBytes = 4u << 20;

inline long resident_kib() {
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
  if (file != nullptr) std::fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

// Of the whole process. The thread sanitizer keeps shadow of everything that was
// ever touched, several times its size, and never gives it back: there weft's
// own memory is all that can be measured.
inline void expect_resident_below(long before, long kib) {
  if (!kThreadSanitizer) {
    EXPECT_LT(resident_kib() - before, kib);
  }
}

// What is resident of the memory that rings are cut from.
inline std::size_t resident_ring_bytes() {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages(kRingBytes / page);
  void* const base = Runtime::instance()->stock.at(0, 1).slots;
  EXPECT_EQ(mincore(base, kRingBytes, pages.data()), 0);
  return page * static_cast<std::size_t>(std::count_if(
                    pages.begin(), pages.end(),
                    [](unsigned char flags) { return (flags & 1) != 0; }));
}

// What weft says of its memory keeps to the bounds it was given.
inline void expect_accounts_within_bounds() {
  const RuntimeStatus now = status();
  EXPECT_LE(now.ring_bytes_used, kRingBytes);
  EXPECT_LE(now.bytes_pending, kBlockBytes);
}

inline InitOptions options_for(const std::string& path) {
  InitOptions options;
  options.output = path;
  options.ring_bytes = kRingBytes;
  options.top_ring_bytes = 1u << 20;
  options.block_pool_bytes = kBlockBytes;
  options.flush_after = std::chrono::milliseconds(1);
  return options;
}

inline std::uint64_t refused() {
  return status().dropped[static_cast<int>(DropReason::kSlowSink)];
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

class BlockedSink : public testing::Test {
 protected:
  BlockedSink()
      : folder_(
            (std::filesystem::temp_directory_path() / "weft-XXXXXX").string()) {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  ~BlockedSink() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* name) const { return folder_ + "/" + name; }
  // A FIFO, and an end of it from which nobody reads yet.
  int make_fifo(const std::string& fifo) {
    EXPECT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    const int reader = open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    EXPECT_GE(reader, 0);
    return reader;
  }

  // Nobody reads while four threads record flat out until `enough`; then
  // somebody does, and what is recorded then gets through.
  template <class Enough>
  void record_without_reader(Enough enough) {
    const std::string fifo = path("trace.weft");
    const int reader = make_fifo(fifo);
    // The tables, which stay, are touched by a first session.
    ASSERT_TRUE(init(options_for(path("first.weft"))).ok());
    std::thread([] { WEFT_SPAN("first"); }).join();
    const Result<void> first = shutdown();
    ASSERT_TRUE(first.ok()) << first.error().message;
    const long before = resident_kib();
    ASSERT_TRUE(init(options_for(fifo)).ok());
    constexpr long kBoundKib = (kRingBytes + kBlockBytes + (16u << 20)) / 1024;
    std::uint64_t calls = record_until([&] {
      expect_accounts_within_bounds();
      expect_resident_below(before, kBoundKib);
      return enough() || testing::Test::HasFailure();
    });
    EXPECT_GT(refused(), 0u);
    EXPECT_GT(resident_ring_bytes(), 0u);

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
    EXPECT_EQ(status().ring_bytes_used, 0u);
    // But for what came along in a huge page and was never cut for anybody.
    EXPECT_LT(resident_ring_bytes(), ringbuf::RingMemory::kHugePage);
    // The address sanitizer keeps what the program has freed.
    if (kSlowdown == 1)
      expect_resident_below(before, (kRingBytes + kBlockBytes) / 2 / 1024);
  }

 private:
  std::string folder_;
};

}  // namespace weft::test

#endif  // WEFT_TESTS_INTEGRATION_BLOCKED_SINK_H_
