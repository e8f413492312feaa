// SPDX-License-Identifier: Apache-2.0
//
// Field check K5-01: memory is bounded by what was configured, whatever the
// number of live threads, and who finds no room is counted.

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <latch>
#include <vector>

#include "runtime/scale.h"
#include "weft/instant.h"
#include "weft/session.h"
#include "weft/span.h"
#include "weft/status.h"

namespace weft::test {
namespace {

// The thread sanitizer takes memory for each thread, and has a limit.
constexpr unsigned kThreads = kThreadSanitizer ? 500 : 4000;
constexpr unsigned kBusy = 10;

long resident_kib() {
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
  if (file != nullptr) std::fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

// The stack that recording will need is this thread's memory, not weft's.
void touch_stack() {
  std::array<volatile char, 32 * 1024> stack;
  for (std::size_t i = 0; i < stack.size(); i += 1024) stack[i] = 1;
}

// Threads that are all alive before the first records, and until the last.
// Their stacks are small: a large one may get a huge page each.
class ManyThreads {
 public:
  ManyThreads() : threads_(kThreads) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    for (pthread_t& thread : threads_) {
      EXPECT_EQ(pthread_create(&thread, &attributes, run, this), 0);
    }
    pthread_attr_destroy(&attributes);
    alive_.wait();
  }
  ~ManyThreads() {
    end_.count_down();
    for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
  }
  ManyThreads(const ManyThreads&) = delete;
  ManyThreads& operator=(const ManyThreads&) = delete;

  // Each one record, then some of them many.
  void record() {
    first_.count_down();
    done_.wait();
  }

  static constexpr unsigned kSpans = scaled(1'000'000);
  static constexpr std::uint64_t kRecords =
      kThreads + std::uint64_t{2} * kBusy * kSpans;

 private:
  static void* run(void* self) {
    static_cast<ManyThreads*>(self)->live();
    return nullptr;
  }

  void live() {
    touch_stack();
    alive_.count_down();
    first_.wait();
    WEFT_INSTANT("first");
    const bool busy = number_++ < kBusy;
    recorded_.arrive_and_wait();
    if (busy) {
      for (unsigned n = 0; n < kSpans; ++n) {
        WEFT_SPAN("busy");
      }
    }
    done_.count_down();
    end_.wait();
  }

  std::atomic<unsigned> number_{0};
  std::latch alive_{kThreads};
  std::latch first_{1};
  std::latch recorded_{kThreads};
  std::latch done_{kThreads};
  std::latch end_{1};
  std::vector<pthread_t> threads_;
};

TEST(K5_01, ThousandsOfLiveThreadsStayUnderTheBoundsAndAreCounted) {
  constexpr std::size_t kSmallestRing = 8u << 10;
  constexpr std::size_t kNameBytes = 16u << 20;
  InitOptions options;
  options.ring_bytes = kThreads / 250 * (1u << 20);  // half of what all need
  ASSERT_TRUE(init(options).ok());
  RuntimeStatus live;
  {
    ManyThreads threads;
    const long before = resident_kib();
    threads.record();
    const long grown = resident_kib() - before;
    live = status();
    // Sanitizers keep memory of their own for all that was touched.
    if (kSlowdown == 1) {
      EXPECT_LT(grown,
                static_cast<long>((options.ring_bytes + kNameBytes) / 1024));
    }
  }
  EXPECT_LE(live.ring_bytes_used, options.ring_bytes);
  ASSERT_TRUE(stop().ok());
  const RuntimeStatus now = status();
  EXPECT_EQ(now.delivered + now.total_dropped(), ManyThreads::kRecords);
  // A thread over the bound is counted, not served.
  EXPECT_GE(now.dropped[static_cast<std::size_t>(DropReason::kNoRing)],
            kThreads - options.ring_bytes / kSmallestRing);
  ASSERT_TRUE(shutdown().ok());
}

}  // namespace
}  // namespace weft::test
