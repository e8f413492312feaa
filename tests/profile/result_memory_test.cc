// SPDX-License-Identifier: Apache-2.0

// What results take while they are made, against what max_host_bytes says of
// it. Memory is counted where it is asked for, so the figures are the same on
// every machine; records lie in mapped memory and are not in them.

#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <thread>

#include "runtime/scale.h"
#include "weft/profile/memory_report.h"
#include "weft/profile/memory_summary.h"
#include "weft/profile/profiler.h"
#include "weft/profile/record_function.h"
#include "weft/weft.h"

namespace {

std::atomic<std::size_t> held{0};
std::atomic<std::size_t> most_held{0};

void* take(std::size_t size) noexcept {
  void* const block = std::malloc(size);
  if (block == nullptr) return nullptr;
  const std::size_t bytes = malloc_usable_size(block);
  const std::size_t now =
      held.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::size_t most = most_held.load(std::memory_order_relaxed);
  while (most < now && !most_held.compare_exchange_weak(
                           most, now, std::memory_order_relaxed)) {
  }
  return block;
}

void give(void* block) noexcept {
  if (block == nullptr) return;
  held.fetch_sub(malloc_usable_size(block), std::memory_order_relaxed);
  std::free(block);
}

void* take_or_throw(std::size_t size) {
  void* const block = take(size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

// Every form, as sanitizers have forms of their own. Not inlined: compilers take
// a pair apart otherwise, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  return take_or_throw(size);
}
[[gnu::noinline]] void* operator new[](std::size_t size) {
  return take_or_throw(size);
}
[[gnu::noinline]] void* operator new(std::size_t size,
                                     const std::nothrow_t&) noexcept {
  return take(size);
}
[[gnu::noinline]] void* operator new[](std::size_t size,
                                       const std::nothrow_t&) noexcept {
  return take(size);
}
[[gnu::noinline]] void operator delete(void* block) noexcept { give(block); }
[[gnu::noinline]] void operator delete[](void* block) noexcept { give(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept {
  give(block);
}
[[gnu::noinline]] void operator delete[](void* block, std::size_t) noexcept {
  give(block);
}
[[gnu::noinline]] void operator delete(void* block,
                                       const std::nothrow_t&) noexcept {
  give(block);
}
[[gnu::noinline]] void operator delete[](void* block,
                                         const std::nothrow_t&) noexcept {
  give(block);
}

namespace weft {
namespace {

// Everything recorded so far is out of the rings.
void wait_for_drainer() {
  const std::uint64_t passes = status().drain_passes;
  while (status().drain_passes < passes + 2) std::this_thread::yield();
}

struct Made {
  std::shared_ptr<const ProfilerResult> result;
  double bytes_a_recorded_byte = 0;  // held at once while it was made
};

enum class Around : std::uint8_t { kNothing, kRange };

// A session around `body(i)` for i in [0, count), without a record dropped. The
// largest ring holds 4000 rounds.
template <class Body>
Made made_of(unsigned count, Around around, const Body& body) {
  Made made;
  Profiler profiler({.profile_memory = true, .max_host_bytes = 1u << 30});
  EXPECT_TRUE(profiler.start().ok());
  EXPECT_TRUE(thread_init().ok());
  const auto all = [&] {
    for (unsigned i = 0; i < count; ++i) {
      if (i % 4000 == 0) wait_for_drainer();
      body(i);
    }
  };
  if (around == Around::kRange) {
    WEFT_RECORD_FUNCTION("keeps every fourth");
    all();
  } else {
    all();
  }
  EXPECT_TRUE(profiler.stop().ok());
  const std::size_t before = held.load();
  most_held.store(before);
  const auto result = profiler.result();
  const std::size_t most = most_held.load();
  EXPECT_TRUE(result.ok());
  if (!result.ok()) return made;
  made.result = *result;
  const ProfilerStatistics& statistics = made.result->statistics();
  EXPECT_EQ(statistics.records_dropped, 0u);
  made.bytes_a_recorded_byte = static_cast<double>(most - before) /
                               static_cast<double>(statistics.host_bytes);
  return made;
}

// Of small blocks there are very many, and the rows still are the counter's
// change.
TEST(K8_06, TwoMillionSmallBlocksAreAllInTheSum) {
  constexpr unsigned kBlocks = test::scaled(2'000'000);
  constexpr std::int64_t kBytes = 24;
  static char blocks[64];
  std::int64_t in_use = 0;
  const Made made = made_of(kBlocks, Around::kRange, [&](unsigned i) {
    in_use += kBytes;
    report_alloc(&blocks[i % 64], kBytes, {}, {in_use, -1});
    if (i % 4 == 0) return;
    in_use -= kBytes;
    report_free(&blocks[i % 64], kBytes, {}, {in_use, -1});
  });
  ASSERT_NE(made.result, nullptr);
  // 3 is for counts at which growing arrays are at their worst.
  EXPECT_LE(made.bytes_a_recorded_byte, 2);
  EXPECT_EQ(made.result->memory_records().size(),
            std::size_t{kBlocks} + kBlocks / 4 * 3);
  EXPECT_EQ(made.result->memory_records().back().total_allocated, in_use);
  const MemorySummary summary = summarize_memory(
      made.result->events(), made.result->memory_records());
  EXPECT_EQ(summary.total.net_bytes(), in_use);
  const MemoryRow* row = summary.find("keeps every fourth");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->allocated_bytes, kBytes * kBlocks);
  EXPECT_EQ(row->net_bytes(), in_use);
  EXPECT_EQ(made.result->events()[0].memory.cpu_bytes, in_use);
}

TEST(ResultMemory, ReportsOfNoRangeAreRowsWithinTheStatedFactor) {
  constexpr unsigned kBlocks = test::scaled(140'000);
  static char block;
  const Made made = made_of(kBlocks, Around::kNothing,
                            [](unsigned) { report_alloc(&block, 8); });
  ASSERT_NE(made.result, nullptr);
  EXPECT_EQ(made.result->events().size(), std::size_t{kBlocks});
  EXPECT_LE(made.bytes_a_recorded_byte, 8);
}

TEST(ResultMemory, CallsTakeNoMoreThanTheStatedFactor) {
  // A little more than a power of two, where growing arrays are at their worst.
  constexpr unsigned kCalls = test::scaled(140'000);
  const Made made = made_of(kCalls, Around::kNothing,
                            [](unsigned) { WEFT_RECORD_FUNCTION("call"); });
  ASSERT_NE(made.result, nullptr);
  EXPECT_EQ(made.result->events().size(), std::size_t{kCalls});
  EXPECT_LE(made.bytes_a_recorded_byte, 32);
}

// What the program calls its calls does not make them reports.
TEST(ResultMemory, ACallNamedLikeAReportIsACall) {
  const Made made = made_of(
      1, Around::kNothing, [](unsigned) { WEFT_RECORD_FUNCTION("[memory]"); });
  ASSERT_NE(made.result, nullptr);
  EXPECT_TRUE(made.result->memory_records().empty());
  ASSERT_EQ(made.result->events().size(), 1u);
  EXPECT_FALSE(made.result->events()[0].is_instant());
}

}  // namespace
}  // namespace weft
