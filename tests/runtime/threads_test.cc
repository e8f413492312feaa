// SPDX-License-Identifier: Apache-2.0
//
// Threads that block, that end at once, that come in thousands.

#include <gtest/gtest.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_TEST_LEAKS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_TEST_LEAKS
#endif
#endif
#if defined(WEFT_TEST_LEAKS)
#include <sanitizer/lsan_interface.h>
#endif

#include "runtime/collection.h"
#include "runtime.h"
#include "runtime/scale.h"
#include "weft/instant.h"
#include "weft/session.h"
#include "weft/span.h"
#include "weft/status.h"

namespace weft::test {
namespace {

void record_spans(unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    WEFT_SPAN("event");
  }
}

// Nothing depends on the recording thread to run again.
TEST(K2_01, EverythingOfBlockedThreadsIsDelivered) {
  constexpr unsigned kCounts[] = {1, 7, 4095, 4096, 4097, 1, 7, 4096};
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  std::atomic<unsigned> blocked{0};
  Collection collection;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      set_thread_name("blocked " + std::to_string(i));
      record_spans(kCounts[i]);
      ++blocked;
      if (i % 2 == 0) {
        char byte;
        [[maybe_unused]] const ssize_t none = read(pipe_ends[0], &byte, 1);
      } else {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return over; });
      }
    });
  while (blocked != 8) std::this_thread::yield();
  const CollectingExporter& all = collection.stop();
  ASSERT_EQ(all.threads().size(), 8u);
  EXPECT_EQ(all.dropped(), 0u);
  for (const auto& [index, thread] : all.threads()) {
    const unsigned which =
        static_cast<unsigned>(all.thread_name(thread).back() - '0');
    EXPECT_EQ(thread.heads, 2 * kCounts[which]);
    expect_nested(all, thread);
  }
  close(pipe_ends[1]);
  {
    const std::scoped_lock lock(mutex);
    over = true;
  }
  changed.notify_all();
  for (std::thread& thread : threads) thread.join();
  close(pipe_ends[0]);
}

TEST(K2_02, ThreadsThatEndAtOnceLoseNothing) {
  constexpr unsigned kAtOnce = 50;
  const unsigned rounds = 20'000 / kAtOnce / kSlowdown;
  Collection collection;
  for (unsigned round = 0; round < rounds; ++round)
    run_threads(kAtOnce, [&](unsigned i) {
      set_thread_name("t" + std::to_string(round * kAtOnce + i));
      WEFT_SPAN("outer");
      WEFT_SPAN("middle");
      WEFT_SPAN("inner");
    });
  const CollectingExporter& all = collection.stop();
  ASSERT_EQ(all.threads().size(), rounds * kAtOnce);
  std::vector<bool> seen(rounds * kAtOnce);
  for (const auto& [index, thread] : all.threads()) {
    EXPECT_EQ(thread.heads, 6u);
    EXPECT_NE(thread.info.exit_tick, 0u);
    const std::size_t number = std::stoul(all.thread_name(thread).substr(1));
    EXPECT_FALSE(seen.at(number));
    seen.at(number) = true;
  }
  EXPECT_EQ(all.dropped(), 0u);
  EXPECT_EQ(status().threads_live, 0u);
  EXPECT_EQ(status().ring_bytes_used, 0u);
}

// What a thread_local's destructor records, and a pthread key's.
TEST(K2_02, RecordsOfAThreadsDestructorsAreDelivered) {
  struct AtExit {
    ~AtExit() { WEFT_SPAN("thread_local destructor"); }
  };
  static pthread_key_t key;
  ASSERT_EQ(pthread_key_create(&key,
                               [](void*) { WEFT_SPAN("key destructor"); }),
            0);
  Collection collection;
  std::thread([] {
    static thread_local AtExit at_exit;
    [[maybe_unused]] const auto* used = &at_exit;
    pthread_setspecific(key, &key);
    WEFT_SPAN("body");
  }).join();
  const CollectingExporter& all = collection.stop();
  ASSERT_EQ(all.threads().size(), 1u);
  EXPECT_EQ(all.heads(), 6u);
  expect_nested(all, all.threads().begin()->second);
  pthread_key_delete(key);
}

// Without huge pages, which the kernel makes of half-used ring memory whenever
// it likes.
long resident_kib() {
  std::FILE* file = std::fopen("/proc/self/smaps_rollup", "r");
  if (file == nullptr) return 0;
  char line[256];
  long resident = 0;
  long huge = 0;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    std::sscanf(line, "Rss: %ld", &resident);
    std::sscanf(line, "AnonHugePages: %ld", &huge);
  }
  std::fclose(file);
  return resident - huge;
}

// An exporter that keeps nothing, so that what grows is weft.
class CountingExporter final : public Exporter {
 public:
  void begin(const ProcessInfo&, const SubscriptionInfo&) override {}
  void define(const Catalog&) override {}
  bool consume(const Run& run) override {
    slots_ += run.first_count + run.second_count;
    return true;
  }
  void lose(const Loss&) override {}
  void anchor(const ClockAnchor&) override {}
  void settle(std::int64_t) override {}
  void end(const SubscriptionEnd&) override {}
  bool has_work() const noexcept override { return false; }
  bool work() override { return false; }
  ExporterStatus status() const override { return {}; }
  std::uint64_t slots() const { return slots_; }

 private:
  std::uint64_t slots_ = 0;
};

// What ended before is drained, and its place is free: the second of two passes
// began after it.
void wait_for_drainer() {
  const std::uint64_t passes = status().drain_passes;
  while (status().drain_passes < passes + 3) std::this_thread::yield();
}

// The filter makes the pipeline keep what it must know of each thread.
TEST(K5_02, ThreadsLongDeadLeaveNothingBehind) {
  const auto counted = std::make_shared<CountingExporter>();
  Result<Subscription> running = subscribe(only("-off"), counted);
  ASSERT_TRUE(running.ok());
  const unsigned threads = scaled(50'000);
  ThreadRegistry& registry = Runtime::instance()->threads;
  const std::uint32_t places = registry.places();
  long first = 0;
  for (unsigned i = 0; i < threads; ++i) {
    std::thread([] { WEFT_SPAN("short"); }).join();
    // How far the drainer is behind is not what is measured here.
    if (i % 50 == 0) wait_for_drainer();
    if (i == threads / 10) first = resident_kib();
  }
  const long grown = resident_kib() - first;
  EXPECT_LT(grown, 2048 * static_cast<long>(kSlowdown)) << "KiB";
  ASSERT_TRUE(running->stop().ok());
  EXPECT_EQ(counted->slots(), 2u * threads);
  EXPECT_EQ(status().threads_live, 0u);
  EXPECT_EQ(status().ring_bytes_used, 0u);
  // Places are taken again. What a pass costs is in pass_cost_test.py.
  EXPECT_LE(registry.places(), places + 51);
}

// Bytes that malloc has given out, where it is the C library's.
std::size_t allocated_bytes() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Threads take what they need from weft's own memory, and leave nothing of it
// behind: no malloc, no list that grows, no thread-exit hook that stays.
TEST(K5_02, NothingLeaksWhenThreadsComeAndGo) {
  // But for the first owner of each kernel tid: 4 bytes for all tids of a page.
  constexpr std::size_t kPageTids = 1024;
  static std::array<std::atomic<bool>, (1 << 22) / kPageTids> pages{};
  const auto come_and_go = [](unsigned times) {
    for (unsigned i = 0; i < times; ++i) {
      Result<Subscription> running =
          subscribe(only("-off"), std::make_shared<CountingExporter>());
      ASSERT_TRUE(running.ok());
      run_threads(20, [](unsigned number) {
        pages[static_cast<std::size_t>(gettid()) / kPageTids] = true;
        set_thread_name("t" + std::to_string(number));
        WEFT_SPAN("short", {"text", "long enough to take several slots"});
      });
      ASSERT_TRUE(running->stop().ok());
    }
  };
  come_and_go(20);  // what is made once
  const std::size_t before = allocated_bytes();
  come_and_go(100);
  EXPECT_EQ(status().threads_live, 0u);
  EXPECT_EQ(status().ring_bytes_used, 0u);
#if defined(WEFT_TEST_LEAKS)
  EXPECT_EQ(__lsan_do_recoverable_leak_check(), 0);
#endif
  const auto met = static_cast<std::size_t>(
      std::count(pages.begin(), pages.end(), true));
  // Under a sanitizer both figures are 0.
  EXPECT_LE(allocated_bytes(), before + met * (4 * kPageTids + 64) + 2048);
}

template <std::size_t kSite>
void fresh_site() {
  WEFT_INSTANT("fresh");
}

template <std::size_t... kSites>
constexpr std::array<void (*)(), sizeof...(kSites)> fresh_sites(
    std::index_sequence<kSites...>) {
  return {fresh_site<kSites>...};
}

// A site is registered by whoever comes first. Who comes second, in the middle of
// that, must neither find it off nor wait.
TEST(K6_03, ASitesFirstRecordsAreDeliveredWhoeverRegistersIt) {
  constexpr auto kSites = fresh_sites(std::make_index_sequence<1000>());
  constexpr unsigned kThreads = 4;
  std::array<std::atomic<unsigned>, kSites.size()> arrived{};
  Collection collection;
  run_threads(kThreads, [&](unsigned) {
    for (std::size_t i = 0; i < kSites.size(); ++i) {
      ++arrived[i];
      while (arrived[i] != kThreads) std::this_thread::yield();
      kSites[i]();
    }
  });
  const CollectingExporter& all = collection.stop();
  EXPECT_EQ(all.heads() + all.dropped(), kThreads * kSites.size());
}

// Nobody waits for a lock: with 500 threads at once each finds its ring.
TEST(K6_03, FiveHundredThreadsRegisterAtOnce) {
  std::atomic<unsigned> ready{0};
  std::atomic<unsigned> done{0};
  Collection collection;
  run_threads(500, [&](unsigned) {
    ++ready;
    while (ready != 500) std::this_thread::yield();
    record_spans(10);
    ++done;
    while (done != 500) std::this_thread::yield();
  });
  const CollectingExporter& all = collection.stop();
  EXPECT_EQ(all.threads().size(), 500u);
  EXPECT_EQ(all.heads(), 10'000u);
  EXPECT_EQ(all.dropped(), 0u);
}

}  // namespace
}  // namespace weft::test
