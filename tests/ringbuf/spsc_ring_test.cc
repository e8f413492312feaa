// SPDX-License-Identifier: Apache-2.0
#include "weft/ringbuf/spsc_ring.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <new>

#include "ringbuf/test_ring.h"

namespace weft::ringbuf {
namespace {

constexpr std::uint64_t kCapacity = TestRing::kCapacity;

// A half-filled record must stay invisible: the drainer would decode garbage.
TEST(SpscRing, ClaimedRecordIsInvisibleUntilPublished) {
  TestRing ring;
  RingWriter::Claim claim;
  ASSERT_TRUE(ring.claim(3, 0, claim));
  ring.fill(claim, 3);
  EXPECT_EQ(ring.drain().slots, 0u);

  ring.writer().publish(claim, 3);
  const TestRing::Pass pass = ring.drain();
  EXPECT_EQ(pass.slots, 3u);
  EXPECT_EQ(pass.records, 1u);
  EXPECT_EQ(pass.wrong, 0u);
}

// A ring that cannot use all its slots wastes memory that users pay for.
TEST(SpscRing, HoldsExactlyItsCapacity) {
  TestRing ring;
  for (std::uint64_t i = 0; i < kCapacity; ++i) ASSERT_TRUE(ring.record(1));
  EXPECT_FALSE(ring.record(1));
  EXPECT_EQ(ring.drain().slots, kCapacity);
  EXPECT_TRUE(ring.record(1));
}

// A begin without its end is worse than neither.
TEST(SpscRing, PromisedEndFindsRoomInAFullRing) {
  TestRing ring;
  ASSERT_TRUE(ring.record(1, 1));
  while (ring.record(1)) {
  }
  EXPECT_EQ(ring.writer().position(), kCapacity - 1);
  EXPECT_TRUE(ring.end());
  EXPECT_EQ(ring.writer().position(), kCapacity);

  const TestRing::Pass pass = ring.drain();
  EXPECT_EQ(pass.slots, kCapacity);
  EXPECT_EQ(pass.wrong, 0u);
}

// Spans nest: each open one needs its own slot.
TEST(SpscRing, EveryOpenSpanKeepsRoomForItsEnd) {
  TestRing ring;
  std::uint64_t open = 0;
  while (ring.record(1, 1)) ++open;
  EXPECT_EQ(open, kCapacity / 2);
  for (std::uint64_t i = 0; i < open; ++i) ASSERT_TRUE(ring.end());
  EXPECT_EQ(ring.writer().promised(), 0u);
  EXPECT_EQ(ring.drain().records, 2 * open);
}

// Calls = records read + refused, or something was lost silently.
TEST(SpscRing, RefusedRecordsAreCountedExactly) {
  TestRing ring;
  std::uint64_t calls = 0;
  std::uint64_t read = 0;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    ring.record(1 + i % kMaxRecordSlots);
    ++calls;
    if (i % 7 == 6) read += ring.drain().records;
  }
  read += ring.drain().records;
  const std::uint64_t refused =
      ring.control().refused.load(std::memory_order_relaxed);
  EXPECT_GT(refused, 0u);
  EXPECT_EQ(read + refused, calls);
}

// A refused claim that keeps a promise would shrink the ring for good.
TEST(SpscRing, RefusedBeginPromisesNothing) {
  TestRing ring;
  while (ring.record(1)) {
  }
  EXPECT_FALSE(ring.record(1, 1));
  EXPECT_EQ(ring.writer().promised(), 0u);
}

// A record may lie across the end of the ring's memory.
TEST(SpscRing, RecordsWrapAroundTheEndOfMemory) {
  TestRing ring;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(ring.record(kMaxRecordSlots - 1));
    const TestRing::Pass pass = ring.drain();
    ASSERT_EQ(pass.slots, kMaxRecordSlots - 1);
    ASSERT_EQ(pass.records, 1u);
    ASSERT_EQ(pass.wrong, 0u);
  }
}

// What peek() shows must not be overwritten while it is read.
TEST(SpscRing, PeekedSlotsStayUntilReleased) {
  TestRing ring;
  while (ring.record(1)) {
  }
  const RingReader::Slots slots = ring.reader().peek();
  ASSERT_EQ(slots.size(), kCapacity);
  EXPECT_FALSE(ring.record(1));
  EXPECT_EQ(slots.first[0].word0, 0u);

  ring.reader().release(2);
  EXPECT_TRUE(ring.record(2));
  EXPECT_FALSE(ring.record(1));
}

// A span that ends on another thread must not hold its slot for ever.
TEST(SpscRing, PromiseReturnedElsewhereMakesRoom) {
  TestRing ring;
  ASSERT_TRUE(ring.record(1, 1));
  while (ring.record(1)) {
  }
  EXPECT_TRUE(ring.control().return_promise());
  EXPECT_TRUE(ring.record(1));
  EXPECT_EQ(ring.writer().promised(), 0u);
  EXPECT_EQ(ring.control().returned.load(std::memory_order_relaxed), 0u);
}

// The ring may have gone to another thread, whose promises are its own.
TEST(SpscRing, PromiseIsNotReturnedToAnotherOwner) {
  TestRing ring;
  constexpr std::uint64_t kOwner = 7;
  ring.control().returned.store(kOwner << 32, std::memory_order_relaxed);
  ASSERT_TRUE(ring.record(1, 1));
  ASSERT_TRUE(ring.record(1, 1));
  EXPECT_FALSE(ring.control().return_promise(kOwner - 1));
  EXPECT_FALSE(ring.control().return_promise());
  EXPECT_EQ(ring.control().returned.load(std::memory_order_relaxed),
            kOwner << 32);
  ASSERT_TRUE(ring.refill(1, 0));
  EXPECT_EQ(ring.writer().promised(), 2u);

  EXPECT_TRUE(ring.control().return_promise(kOwner));
  ASSERT_TRUE(ring.refill(1, 0));
  EXPECT_EQ(ring.writer().promised(), 1u);
  EXPECT_EQ(ring.control().returned.load(std::memory_order_relaxed),
            kOwner << 32)
      << "taking what came back leaves the owner";
}

// The producer looks at returned promises and offered segments now and then,
// however large and empty its ring is.
TEST(SpscRing, RefillHandsOutNoMoreThanItsShare) {
  TestRing ring(64 * kCapacity);
  ASSERT_TRUE(ring.refill(1, 0));
  RingWriter::Claim claim;
  std::uint64_t claimed = 0;
  while (ring.writer().claim(1, 0, claim)) {
    ring.fill_and_publish(claim, 1);
    ++claimed;
  }
  EXPECT_EQ(claimed, 1 + Platform::kRefillSlots);
  EXPECT_TRUE(ring.record(1));
}

TEST(SpscRing, PositionsAndPromisesGoOnAcrossSegments) {
  TestRing ring(kCapacity, {4 * kCapacity});
  ASSERT_TRUE(ring.record(1, 1));
  ASSERT_TRUE(ring.record(2, 1));
  ASSERT_TRUE(ring.move(1));
  EXPECT_EQ(ring.writer().position(), 3u);
  EXPECT_EQ(ring.writer().promised(), 2u);
  EXPECT_EQ(ring.writer().capacity(), 4 * kCapacity);
  ASSERT_TRUE(ring.end());
  ASSERT_TRUE(ring.end());

  const TestRing::Pass pass = ring.drain();
  EXPECT_EQ(pass.slots, 5u);
  EXPECT_EQ(pass.records, 4u);
  EXPECT_EQ(pass.links, 1u);
  EXPECT_EQ(pass.wrong, 0u);
}

// A reader that followed early would read slots nobody has written.
TEST(SpscRing, LinkIsFollowedOnlyWhenSomethingLiesBehindIt) {
  TestRing ring(kCapacity, {kCapacity});
  ASSERT_TRUE(ring.record(1));
  ASSERT_TRUE(ring.move(1));
  EXPECT_EQ(ring.drain().links, 0u);
  ASSERT_TRUE(ring.record(1));
  EXPECT_EQ(ring.drain().links, 1u);
  EXPECT_EQ(ring.reader().segment().offset, 1u);
}

// The old segment's unread records come first, and it is handed back whole.
TEST(SpscRing, ReaderEmptiesTheOldSegmentBeforeTheLink) {
  TestRing ring(kCapacity, {2 * kCapacity});
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(ring.record(1));
  ASSERT_TRUE(ring.move(1));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(ring.record(1));

  EXPECT_EQ(ring.reader().peek().size(), 10u);
  std::uint64_t offset = 0;
  std::uint64_t capacity = 0;
  EXPECT_FALSE(ring.reader().at_link(&offset, &capacity));
  ring.reader().release(10);
  ASSERT_TRUE(ring.reader().at_link(&offset, &capacity));
  EXPECT_EQ(offset, 1u);
  EXPECT_EQ(capacity, 2 * kCapacity);
  const Segment old = ring.reader().follow(ring.segment(1));
  EXPECT_EQ(old.slots, ring.segment(0).slots);
  EXPECT_EQ(ring.reader().peek().size(), 20u);
}

// One link has one set of fields; a second would overwrite the first.
TEST(SpscRing, SecondMoveWaitsForTheFirstLinkToBeFollowed) {
  TestRing ring(kCapacity, {kCapacity, kCapacity});
  ASSERT_TRUE(ring.record(1));
  ASSERT_TRUE(ring.move(1));
  ASSERT_TRUE(ring.record(1));
  EXPECT_FALSE(ring.move(2));
  EXPECT_EQ(ring.drain().links, 1u);
  EXPECT_TRUE(ring.move(2));
  ASSERT_TRUE(ring.record(1));
  const TestRing::Pass pass = ring.drain();
  EXPECT_EQ(pass.links, 1u);
  EXPECT_EQ(pass.wrong, 0u);
}

// The room that the large ring had must not be spent in the small one: it would
// overwrite records that nobody has read.
TEST(SpscRing, MoveToASmallerSegmentLeavesTheOldRoomBehind) {
  constexpr std::uint64_t kSmall = 4 * kCapacity;
  TestRing ring(4 * kSmall, {kSmall});
  ASSERT_TRUE(ring.record(1, 1));
  ASSERT_TRUE(ring.move(1));
  std::uint64_t accepted = 0;
  while (ring.record(1)) ++accepted;
  EXPECT_EQ(accepted, kSmall - 1);
  EXPECT_TRUE(ring.end());

  const TestRing::Pass pass = ring.drain();
  EXPECT_EQ(pass.slots, 1 + kSmall);
  EXPECT_EQ(pass.wrong, 0u);
}

// Ends of open spans must fit into what the producer moves to.
TEST(SpscRing, SegmentThatCannotHoldThePromisesIsRefused) {
  constexpr std::uint64_t kSmall = 4 * kCapacity;
  TestRing ring(8 * kSmall, {kSmall});
  for (std::uint64_t i = 0; i < kSmall; ++i) ASSERT_TRUE(ring.record(1, 1));
  EXPECT_FALSE(ring.move(1));
  // As many ends as bring the position to where every limit set so far ends
  // within the smaller segment.
  std::uint64_t ends = 0;
  while (!ring.move(1)) {
    ASSERT_TRUE(ring.end());
    ++ends;
  }
  EXPECT_LE(ends, 1 + Platform::kRefillSlots);
  EXPECT_LT(ring.writer().promised(), kSmall);
  EXPECT_EQ(ring.drain().wrong, 0u);
}

// A claim that was interrupted before may hold any limit there ever was, also
// one from before promises came back; it must not reach over the new segment.
TEST(SpscRing, SegmentThatEndsBeforeAnEarlierLimitIsRefused) {
  constexpr std::uint64_t kSmall = 4 * kCapacity;
  TestRing ring(8 * kSmall, {kSmall});
  for (std::uint64_t i = 0; i < kSmall; ++i) ASSERT_TRUE(ring.record(1, 1));
  for (std::uint64_t i = 0; i < kSmall; ++i)
    ASSERT_TRUE(ring.control().return_promise());
  ASSERT_TRUE(ring.refill(1, 0));
  EXPECT_EQ(ring.writer().promised(), 0u);
  EXPECT_FALSE(ring.move(1));
  for (std::uint64_t i = 0; i < kSmall; ++i) ASSERT_TRUE(ring.record(1));
  EXPECT_TRUE(ring.move(1)) << "the position has caught up";
}

// A handler that records inside a record would tear it.
TEST(SpscRing, NestedProducerSeesBusyDuringARecord) {
  TestRing ring;
  ASSERT_TRUE(ring.record(1, 1));
  RingWriter::Claim claim;
  ASSERT_TRUE(ring.claim(2, 0, claim));
  EXPECT_TRUE(ring.writer().busy());
  RingWriter::Claim nested;
  EXPECT_FALSE(ring.writer().claim(1, 0, nested));
  EXPECT_FALSE(ring.writer().claim_promised(nested));
  EXPECT_FALSE(ring.writer().enter());
  ring.fill_and_publish(claim, 2);

  EXPECT_FALSE(ring.writer().busy());
  EXPECT_TRUE(ring.end());
  EXPECT_EQ(ring.drain().wrong, 0u);
}

// So would one that moves the ring while cold code works on it.
TEST(SpscRing, NestedProducerSeesBusyWhileEntered) {
  TestRing ring;
  ASSERT_TRUE(ring.writer().enter());
  EXPECT_TRUE(ring.writer().busy());
  RingWriter::Claim nested;
  EXPECT_FALSE(ring.writer().claim(1, 0, nested));
  EXPECT_FALSE(ring.writer().claim_promised(nested));
  EXPECT_FALSE(ring.writer().enter());
  ring.writer().leave();
  EXPECT_FALSE(ring.writer().busy());
  EXPECT_TRUE(ring.record(1));
}

// A refused claim must not leave the thread busy: it would never record again.
TEST(SpscRing, RefusedClaimIsNotBusy) {
  TestRing ring;
  RingWriter::Claim claim;
  EXPECT_FALSE(ring.writer().claim(2, 0, claim)) << "more than attach() gives";
  EXPECT_FALSE(ring.writer().busy());
  EXPECT_TRUE(ring.record(2));
}

// A forked child finds its writers wiped and must stay silent: a writer that
// has no ring would write through null, or into what the parent shares.
TEST(SpscRing, WriterOfZerosRefusesEverything) {
  alignas(RingWriter) unsigned char zeros[sizeof(RingWriter)];
  std::memset(zeros, 0, sizeof(zeros));
  auto* writer = std::launder(reinterpret_cast<RingWriter*>(zeros));
  RingWriter::Claim claim;
  EXPECT_TRUE(writer->busy());
  EXPECT_FALSE(writer->claim(1, 0, claim));
  EXPECT_FALSE(writer->claim(1, 1, claim));
  EXPECT_FALSE(writer->claim_promised(claim));
  EXPECT_FALSE(writer->enter());
  for (std::size_t i = 0; i < sizeof(zeros); ++i)
    ASSERT_EQ(zeros[i], 0u) << "byte " << i << " was written";
}

// Lines that two threads write cost more than the record itself.
TEST(K6_03, ProducerConsumerAndForeignFieldsLieOnLinesOfTheirOwn) {
  EXPECT_EQ(alignof(RingControl), kCacheLine);
  EXPECT_EQ(sizeof(RingControl) % kCacheLine, 0u);
  const auto line = [](std::size_t offset) { return offset / kCacheLine; };
  const std::size_t producer = line(offsetof(RingControl, write_pos));
  EXPECT_EQ(line(offsetof(RingControl, refused)), producer);
  EXPECT_EQ(line(offsetof(RingControl, link_offset)), producer);
  EXPECT_EQ(line(offsetof(RingControl, link_capacity)), producer);
  const std::size_t consumer = line(offsetof(RingControl, read_pos));
  const std::size_t foreign = line(offsetof(RingControl, returned));
  EXPECT_NE(producer, consumer);
  EXPECT_NE(consumer, foreign);
  EXPECT_NE(producer, foreign);
}

// A ring allocated on its own must keep its alignment, padding alone is not it.
TEST(K6_03, AllocatedControlsAreAligned) {
  const auto controls = std::make_unique<RingControl[]>(3);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&controls[i]) % kCacheLine, 0u);
  }
}

}  // namespace
}  // namespace weft::ringbuf
