// SPDX-License-Identifier: Apache-2.0
#include "weft/ringbuf/side_ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace weft::ringbuf {
namespace {

constexpr std::uint32_t kCells = 4;
using SideRing = BasicSideRing<Platform, kCells>;

bool record(SideRing& ring, std::uint32_t owner, std::uint64_t value) {
  std::uint64_t number = 0;
  SideRing::Cell* cell = ring.claim(&number);
  if (cell == nullptr) return false;
  cell->owner = owner;
  cell->count = 1;
  Platform::store(cell->slots[0].word0, value);
  Platform::store(cell->slots[0].word1, ~value);
  ring.publish(cell, number);
  return true;
}

TEST(SideRing, GivesRecordsBackInOrder) {
  SideRing ring;
  EXPECT_EQ(ring.front(), nullptr);
  ASSERT_TRUE(record(ring, 7, 70));
  ASSERT_TRUE(record(ring, 8, 80));

  ASSERT_NE(ring.front(), nullptr);
  EXPECT_EQ(ring.front()->owner, 7u);
  EXPECT_EQ(ring.front()->slots[0].word0, 70u);
  ring.pop();
  ASSERT_NE(ring.front(), nullptr);
  EXPECT_EQ(ring.front()->owner, 8u);
  ring.pop();
  EXPECT_EQ(ring.front(), nullptr);
}

// The drainer takes what is complete in a row: nothing behind a gap, and no
// record twice in a full ring.
TEST(SideRing, ReadyCountsCompleteRecordsUpToTheFirstGap) {
  SideRing ring;
  EXPECT_EQ(ring.ready(), 0u);
  ASSERT_TRUE(record(ring, 1, 0));
  EXPECT_EQ(ring.ready(), 1u);
  std::uint64_t number = 0;
  SideRing::Cell* gap = ring.claim(&number);
  ASSERT_NE(gap, nullptr);
  ASSERT_TRUE(record(ring, 1, 2));
  ASSERT_TRUE(record(ring, 1, 3));
  EXPECT_EQ(ring.ready(), 1u);
  ring.publish(gap, number);
  EXPECT_EQ(ring.ready(), kCells);

  ring.pop();
  EXPECT_EQ(ring.ready(), kCells - 1);
  ASSERT_TRUE(record(ring, 1, 4));  // in the cell that was just read
  EXPECT_EQ(ring.ready(), kCells);
  for (std::uint32_t i = 0; i < kCells; ++i) ring.pop();
  EXPECT_EQ(ring.ready(), 0u);
}

// A handler that cannot record must know, so that the loss is counted.
TEST(SideRing, SaysWhenItIsFull) {
  SideRing ring;
  for (std::uint32_t i = 0; i < kCells; ++i) ASSERT_TRUE(record(ring, 1, i));
  EXPECT_FALSE(record(ring, 1, 99));
  ring.pop();
  EXPECT_TRUE(record(ring, 1, 100));
  EXPECT_FALSE(record(ring, 1, 101));
}

TEST(SideRing, GoesOnForManyLaps) {
  SideRing ring;
  for (std::uint64_t i = 0; i < 10 * kCells + 1; ++i) {
    ASSERT_EQ(ring.front_number(), i);
    ASSERT_TRUE(record(ring, 1, i));
    ASSERT_NE(ring.front(), nullptr);
    ASSERT_EQ(ring.front()->slots[0].word0, i);
    ring.pop();
  }
}

// A handler may interrupt another handler between claim and publish.
TEST(SideRing, NestedRecordWaitsForTheOneItInterrupted) {
  SideRing ring;
  std::uint64_t outer_number = 0;
  SideRing::Cell* outer = ring.claim(&outer_number);
  ASSERT_NE(outer, nullptr);
  ASSERT_TRUE(record(ring, 2, 20));
  EXPECT_EQ(ring.front(), nullptr) << "the outer record comes first";

  outer->owner = 1;
  ring.publish(outer, outer_number);
  ASSERT_NE(ring.front(), nullptr);
  EXPECT_EQ(ring.front()->owner, 1u);
  ring.pop();
  EXPECT_EQ(ring.front()->owner, 2u);
}

// A thread that dies in a handler must not let others wait or overwrite.
TEST(SideRing, CellNeverPublishedFillsTheRingAndNothingMore) {
  SideRing ring;
  std::uint64_t number = 0;
  ASSERT_NE(ring.claim(&number), nullptr);
  for (std::uint32_t i = 1; i < kCells; ++i) ASSERT_TRUE(record(ring, 1, i));
  EXPECT_FALSE(record(ring, 1, 99));
  EXPECT_EQ(ring.front(), nullptr);
}

TEST(SideRing, ManyProducersLoseNothingUnnoticed) {
  SideRing ring;
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint64_t kRecords = 5000;  // of each thread
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint32_t> finished{0};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 1; i <= kRecords; ++i) {
        if (record(ring, t, i)) continue;
        refused.fetch_add(1, std::memory_order_relaxed);
        std::this_thread::yield();
      }
      finished.fetch_add(1, std::memory_order_release);
    });
  }
  std::uint64_t read = 0;
  std::uint64_t wrong = 0;
  std::uint64_t newest[kThreads] = {};
  bool last = false;
  while (!last) {
    last = finished.load(std::memory_order_acquire) == kThreads;
    while (const SideRing::Cell* cell = ring.front()) {
      const std::uint64_t value = Platform::load(cell->slots[0].word0);
      if (cell->owner >= kThreads || value <= newest[cell->owner] ||
          Platform::load(cell->slots[0].word1) != ~value) {
        ++wrong;
      } else {
        newest[cell->owner] = value;
      }
      ++read;
      ring.pop();
    }
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(read + refused.load(std::memory_order_relaxed),
            kThreads * kRecords);
}

}  // namespace
}  // namespace weft::ringbuf
