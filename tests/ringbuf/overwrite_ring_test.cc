// SPDX-License-Identifier: Apache-2.0
#include "weft/ringbuf/overwrite_ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace weft::ringbuf {
namespace {

// Slots carry their position and its complement.
template <class P, std::uint64_t kCapacity>
class FlightRing {
 public:
  FlightRing() {
    writer_.attach(&control_, segment(), 0);
    writer_.set_overwrite();
  }

  BasicSegment<P> segment() { return {slots_.data(), kCapacity, 0}; }

  using Claim = typename BasicRingWriter<P>::Claim;

  // Producer. False never happens: the oldest gives way.
  bool claim(std::uint32_t slots, Claim& claim) {
    if (writer_.claim(slots, 0, claim)) return true;
    if (!writer_.enter()) return false;
    const bool room = writer_.refill(slots, 0);
    writer_.leave();
    return room && writer_.claim(slots, 0, claim);
  }
  void put(const Claim& claim, std::uint32_t index) {
    const std::uint64_t position = claim.position + index;
    writer_.put(claim, index, position, ~position);
  }
  void publish(const Claim& claim, std::uint32_t slots) {
    writer_.publish(claim, slots);
  }

  bool record(std::uint32_t slots) {
    Claim under_way;
    if (!claim(slots, under_way)) return false;
    for (std::uint32_t i = 0; i < slots; ++i) put(under_way, i);
    publish(under_way, slots);
    return true;
  }

  // Any thread.
  struct Snapshot {
    SnapshotRange range;
    std::uint64_t wrong = 0;
  };
  Snapshot snapshot(std::uint64_t from = 0) {
    std::vector<Slot> copy(kCapacity);
    Snapshot result;
    result.range = take_ring_snapshot(control_, segment(), from, copy.data());
    for (std::uint64_t p = result.range.begin; p < result.range.end; ++p) {
      const Slot& slot = copy[p % kCapacity];
      if (slot.word0 != p || slot.word1 != ~p) ++result.wrong;
    }
    return result;
  }

 private:
  BasicRingControl<P> control_;
  std::vector<Slot> slots_ = std::vector<Slot>(kCapacity);
  BasicRingWriter<P> writer_;
};

constexpr std::uint64_t kCapacity = 256;
using Ring = FlightRing<Platform, kCapacity>;

TEST(OverwriteRing, SnapshotOfAYoungRingHoldsEverything) {
  Ring ring;
  EXPECT_TRUE(ring.snapshot().range.empty());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(ring.record(3));
  const auto [range, wrong] = ring.snapshot();
  EXPECT_EQ(range.begin, 0u);
  EXPECT_EQ(range.end, 15u);
  EXPECT_EQ(wrong, 0u);
}

// The writer never waits and never refuses.
TEST(OverwriteRing, WriterGoesOnForEver) {
  Ring ring;
  for (std::uint32_t i = 0; i < 10000; ++i)
    ASSERT_TRUE(ring.record(1 + i % kMaxRecordSlots));
  EXPECT_EQ(ring.snapshot().wrong, 0u);
}

// What a record under way may have touched is left out, and no more than that.
TEST(OverwriteRing, SnapshotKeepsAllButOneRecordOfMargin) {
  Ring ring;
  for (std::uint64_t i = 0; i < 3 * kCapacity; ++i) ASSERT_TRUE(ring.record(1));
  const auto [range, wrong] = ring.snapshot();
  EXPECT_EQ(range.end, 3 * kCapacity);
  EXPECT_EQ(range.begin, 2 * kCapacity + kMaxRecordSlots);
  EXPECT_EQ(wrong, 0u);
}

// A snapshot may come while the longest record is written: none of its slots
// may be taken for the older ones in whose place they lie.
TEST(OverwriteRing, HalfWrittenLongestRecordTearsNothing) {
  Ring ring;
  for (std::uint64_t i = 0; i < kCapacity; ++i) ASSERT_TRUE(ring.record(1));
  Ring::Claim claim;
  ASSERT_TRUE(ring.claim(kMaxRecordSlots, claim));
  for (std::uint32_t i = 0; i < kMaxRecordSlots; ++i) {
    ring.put(claim, i);
    const auto [range, wrong] = ring.snapshot();
    ASSERT_EQ(wrong, 0u) << "after " << i + 1 << " slots";
    ASSERT_EQ(range.end, kCapacity);
  }
  ring.publish(claim, kMaxRecordSlots);
  EXPECT_EQ(ring.snapshot().range.end, kCapacity + kMaxRecordSlots);
}

// A second snapshot of the same ring need not repeat the first.
TEST(OverwriteRing, SnapshotBeginsWhereAsked) {
  Ring ring;
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(ring.record(1));
  EXPECT_EQ(ring.snapshot(30).range.begin, 30u);
  EXPECT_TRUE(ring.snapshot(40).range.empty());
}

// A ring of 16 records of one slot needs a margin of one.
struct ShortRecords : Platform {
  static constexpr std::uint32_t kMaxRecordSlots = 1;
};

// Six threads on few processors, so that writers are descheduled at any
// instruction; each has a ring, and is read continuously.
TEST(K2_10, NoSnapshotOfARingOfSixteenRecordsIsTorn) {
  using SmallRing = FlightRing<ShortRecords, 16>;
  constexpr std::size_t kWriters = 3;
  constexpr int kSnapshots = 500;  // of each reader, of a ring that went on
  std::vector<std::unique_ptr<SmallRing>> rings;
  for (std::size_t i = 0; i < kWriters; ++i)
    rings.push_back(std::make_unique<SmallRing>());
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<std::uint64_t> seen{0};
  std::atomic<std::size_t> reading{kWriters};
  std::vector<std::thread> threads;
  for (auto& owned : rings) {
    SmallRing& ring = *owned;
    threads.emplace_back([&ring, &reading, &wrong] {
      while (reading.load(std::memory_order_relaxed) != 0)
        if (!ring.record(1)) wrong.fetch_add(1, std::memory_order_relaxed);
    });
    threads.emplace_back([&ring, &reading, &wrong, &seen] {
      std::uint64_t end = 0;
      for (int i = 0; i < kSnapshots;) {
        const auto [range, mismatches] = ring.snapshot();
        wrong.fetch_add(mismatches + (range.end < end),
                        std::memory_order_relaxed);
        if (range.end == end) {  // the writer's turn
          std::this_thread::yield();
          continue;
        }
        end = range.end;
        ++i;
        // One that the writer lapped says so by being empty; not all may be.
        if (!range.empty()) seen.fetch_add(1, std::memory_order_relaxed);
      }
      reading.fetch_sub(1, std::memory_order_relaxed);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0u);
  EXPECT_GT(seen.load(), 0u);
}

// The same with records of every length and the real margin.
TEST(K2_10, NoSnapshotWithLongRecordsIsTorn) {
  Ring ring;
  std::atomic<bool> reading{true};
  std::atomic<std::uint64_t> refused{0};
  std::thread writer([&] {
    for (std::uint32_t i = 0; reading.load(std::memory_order_relaxed); ++i)
      if (!ring.record(1 + i % kMaxRecordSlots))
        refused.fetch_add(1, std::memory_order_relaxed);
  });
  std::uint64_t wrong = 0;
  for (std::uint64_t end = 0; end < 1000 * kCapacity;) {
    const Ring::Snapshot snapshot = ring.snapshot();
    wrong += snapshot.wrong;
    end = snapshot.range.end;
  }
  reading.store(false, std::memory_order_relaxed);
  writer.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(refused.load(), 0u);
  EXPECT_FALSE(ring.snapshot().range.empty());
}

}  // namespace
}  // namespace weft::ringbuf
