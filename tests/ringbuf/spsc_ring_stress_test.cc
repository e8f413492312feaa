// SPDX-License-Identifier: Apache-2.0
//
// Real threads on the SPSC ring, for the thread sanitizer and for machines that
// reorder more than the model's authors thought of.

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "ringbuf/test_ring.h"

namespace weft::ringbuf {
namespace {

constexpr std::uint64_t kCapacity = TestRing::kCapacity;

// The same numbers in every run.
class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t below(std::uint32_t limit) {
    return std::uniform_int_distribution<std::uint32_t>(0, limit - 1)(engine_);
  }

 private:
  std::mt19937 engine_;
};

struct Totals {
  std::uint64_t calls = 0;  // counted by the producer
  std::uint64_t moves = 0;
  TestRing::Pass read;  // counted by the consumer
};

// `produce` runs on a thread of its own and counts into totals; this thread
// drains until it has returned, and once more.
template <class Produce>
Totals run_against_a_consumer(TestRing& ring, Produce produce) {
  Totals totals;
  std::atomic<bool> done{false};
  std::thread producer([&] {
    produce(totals);
    done.store(true, std::memory_order_release);
  });
  bool last = false;
  while (!last) {
    last = done.load(std::memory_order_acquire);
    const TestRing::Pass pass = ring.drain();
    totals.read.records += pass.records;
    totals.read.slots += pass.slots;
    totals.read.links += pass.links;
    totals.read.wrong += pass.wrong;
    std::this_thread::yield();
  }
  producer.join();
  return totals;
}

TEST(SpscRingStress, EveryCallIsReadOrRefused) {
  TestRing ring;
  const Totals totals = run_against_a_consumer(ring, [&](Totals& out) {
    Dice dice(1);
    for (out.calls = 0; out.calls < 20000; ++out.calls)
      // The consumer needs its turn on a machine with one processor.
      if (!ring.record(1 + dice.below(kMaxRecordSlots)))
        std::this_thread::yield();
  });
  EXPECT_EQ(totals.read.wrong, 0u);
  EXPECT_EQ(totals.read.records + ring.writer().refused(), totals.calls);
  EXPECT_EQ(totals.read.slots, ring.writer().position());
}

TEST(SpscRingStress, SpansKeepTheirEndsThroughGrowthAndShrinking) {
  TestRing ring(4 * kCapacity, {16 * kCapacity, 8 * kCapacity});
  std::uint64_t open = 0;
  std::uint64_t ends_refused = 0;
  const Totals totals = run_against_a_consumer(ring, [&](Totals& out) {
    Dice dice(2);
    std::uint64_t in = 0;
    for (int i = 0; i < 50000; ++i) {
      const std::uint32_t choice = dice.below(8);
      if (choice < 4 && open < kMaxRecordSlots / 2) {
        ++out.calls;
        if (ring.record(1 + dice.below(3), 1))
          ++open;
        else
          std::this_thread::yield();
      } else if (choice < 7 && open != 0) {
        ++out.calls;
        if (!ring.end()) ++ends_refused;
        --open;
      } else {
        // While no link is pending, the other two segments are free.
        const std::uint64_t next = (in + 1 + dice.below(2)) % 3;
        if (ring.move(next)) {
          in = next;
          ++out.moves;
        }
      }
    }
    while (open != 0) {
      ++out.calls;
      if (!ring.end()) ++ends_refused;
      --open;
    }
    // A link is followed when something lies behind it.
    ++out.calls;
    RingWriter::Claim last;
    while (!ring.claim(1, 0, last)) std::this_thread::yield();
    ring.fill_and_publish(last, 1);
  });
  EXPECT_EQ(ends_refused, 0u);
  EXPECT_EQ(totals.read.wrong, 0u);
  EXPECT_GT(totals.moves, 0u);
  EXPECT_EQ(totals.read.links, totals.moves);
  EXPECT_EQ(totals.read.records + ring.writer().refused(), totals.calls);
}

TEST(SpscRingStress, PromisesReturnedByOtherThreadsAllArrive) {
  TestRing ring;
  std::atomic<std::uint64_t> begun{0};
  constexpr std::uint64_t kSpans = 20000;
  std::thread foreign([&] {
    std::uint64_t ended = 0;
    while (ended < kSpans) {
      if (begun.load(std::memory_order_acquire) == ended) {
        std::this_thread::yield();
        continue;
      }
      ring.control().return_promise();
      ++ended;
    }
  });
  const Totals totals = run_against_a_consumer(ring, [&](Totals& out) {
    while (begun.load(std::memory_order_relaxed) < kSpans) {
      ++out.calls;
      if (ring.record(1, 1))
        begun.fetch_add(1, std::memory_order_release);
      else
        std::this_thread::yield();
    }
  });
  foreign.join();
  EXPECT_EQ(totals.read.records, kSpans);
  EXPECT_EQ(totals.read.records + ring.writer().refused(), totals.calls);
  while (ring.record(1)) {  // its last refill finds what was returned last
  }
  EXPECT_EQ(ring.writer().promised(), 0u);
}

}  // namespace
}  // namespace weft::ringbuf
