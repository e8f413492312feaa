// SPDX-License-Identifier: Apache-2.0
//
// A handler that refills or moves the ring after the record that it interrupts
// has read its limit, and before it has stored "busy". The record then goes by
// a stale limit and puts it back. Nobody can say which instruction is between
// the two, so the handler acts at each of them, once in a ring of its own.

#include "ringbuf/single_step.h"

#ifdef WEFT_TEST_CAN_SINGLE_STEP

#include <cstdint>

#include "ringbuf/test_ring.h"

namespace weft::ringbuf {
namespace {

constexpr std::uint64_t kSmall = 512;  // slots
constexpr std::uint64_t kMedium = 1024;
constexpr std::uint64_t kLarge = 4096;

enum Segments : std::uint64_t { kFirst, kLarger, kSmaller };

enum class Act { kRefill, kGrow, kShrink };

// What the handler works on; a handler has no other way to get at it.
struct Stage {
  explicit Stage(Act to_do) : act(to_do) {}

  Act act;
  TestRing ring{kMedium, {kLarge, kSmall}};
  std::uint64_t act_at = 0;  // the instruction
  std::uint64_t at = 0;
  std::uint64_t records = 0;  // accepted
  bool acted = false;
  bool moved = false;
};
Stage* stage = nullptr;

// As a record in the handler would, when it finds no room.
void act_in_handler(int) {
  Stage& s = *stage;
  if (s.at++ != s.act_at) return;
  if (!s.ring.writer().enter()) return;  // busy: nothing may be touched
  s.ring.writer().refill(2, 0);
  if (s.act != Act::kRefill) {
    s.moved = s.ring.writer().move_to(
        s.ring.segment(s.act == Act::kGrow ? kLarger : kSmaller));
    s.ring.writer().refill(2, 0);
  }
  s.ring.writer().leave();
  s.acted = true;
  if (s.ring.record(2)) ++s.records;
}

class StaleLimit : public SingleStepTest {
 protected:
  StaleLimit() : SingleStepTest(act_in_handler) {}

  struct Result {
    std::uint64_t instructions = 0;
    std::uint64_t acted = 0;  // at how many of them
    std::uint64_t moved = 0;
  };

  // Lets the handler act at every instruction of `step`, which returns how many
  // records it made. `open` spans are open before, and all of their promises
  // have been returned, so that the limit goes down.
  template <class Step>
  Result at_every_instruction(Act act, std::uint64_t open, Step step) {
    Result result;
    for (;;) {
      Stage now(act);
      now.act_at = result.instructions;
      prepare(now, open);
      stage = &now;
      set_trap_flag();
      now.records += step(now.ring);
      clear_trap_flag();
      if (now.at <= now.act_at) return result;  // beyond the last one
      ++result.instructions;
      if (now.acted) ++result.acted;
      if (now.moved) ++result.moved;
      expect_nothing_overwritten(now);
      if (HasFailure()) {
        ADD_FAILURE() << "the handler ran at instruction " << now.act_at;
        return result;
      }
    }
  }

  static std::uint64_t record(TestRing& ring) { return ring.record(3) ? 1 : 0; }
  static std::uint64_t refill(TestRing& ring) {
    ring.refill(3, 0);
    return 0;
  }
  static std::uint64_t end(TestRing& ring) { return ring.end() ? 1 : 0; }

 private:
  static void prepare(Stage& now, std::uint64_t open) {
    for (std::uint64_t i = 0; i < open; ++i) ASSERT_TRUE(now.ring.record(1, 1));
    ASSERT_TRUE(now.ring.record(1, 1));  // for end()
    now.records = open + 1;
    ASSERT_TRUE(now.ring.refill(1, 0));
    for (std::uint64_t i = 0; i < open; ++i)
      ASSERT_TRUE(now.ring.control().return_promise());
  }

  // Spends all room without a consumer: what the limit allows too much would
  // lie on records that nobody has read.
  static void expect_nothing_overwritten(Stage& now) {
    while (now.ring.record(1)) ++now.records;
    if (now.ring.writer().promised() != 0 && now.ring.end()) ++now.records;
    const TestRing::Pass pass = now.ring.drain();
    EXPECT_EQ(pass.wrong, 0u);
    EXPECT_EQ(pass.records, now.records);
    EXPECT_EQ(pass.links, now.moved ? 1u : 0u);
    EXPECT_EQ(now.ring.reader().position(), now.ring.writer().position());
    // Nor may room be lost for good.
    const std::uint64_t start = now.ring.writer().position();
    while (now.ring.record(1)) {
    }
    EXPECT_EQ(now.ring.writer().position() + now.ring.writer().promised(),
              start + now.ring.writer().capacity());
  }
};

TEST_F(StaleLimit, HandlerThatRefillsOverwritesNothing) {
  for (const std::uint64_t open : {0u, 400u}) {
    for (auto* step : {record, refill, end}) {
      const Result result = at_every_instruction(Act::kRefill, open, step);
      EXPECT_GT(result.acted, 0u);
      EXPECT_LT(result.acted, result.instructions) << "was it never busy?";
    }
  }
}

TEST_F(StaleLimit, HandlerThatGrowsTheRingOverwritesNothing) {
  for (const std::uint64_t open : {0u, 400u}) {
    for (auto* step : {record, refill, end}) {
      const Result result = at_every_instruction(Act::kGrow, open, step);
      EXPECT_GT(result.moved, 0u);
      EXPECT_EQ(result.moved, result.acted);
      EXPECT_LT(result.acted, result.instructions) << "was it never busy?";
    }
  }
}

TEST_F(StaleLimit, HandlerThatShrinksTheRingOverwritesNothing) {
  for (auto* step : {record, refill, end}) {
    const Result result = at_every_instruction(Act::kShrink, 0, step);
    EXPECT_GT(result.moved, 0u);
    EXPECT_EQ(result.moved, result.acted);
    EXPECT_LT(result.acted, result.instructions) << "was it never busy?";
  }
}

// Promises that came back are room that the old limit had counted twice: once
// as promised, and again for what comes after.
TEST_F(StaleLimit, HandlerThatShrinksAfterPromisesCameBackOverwritesNothing) {
  for (auto* step : {record, refill, end}) {
    const Result result = at_every_instruction(Act::kShrink, 400, step);
    EXPECT_GT(result.acted, 0u);
    EXPECT_LT(result.acted, result.instructions) << "was it never busy?";
  }
}

}  // namespace
}  // namespace weft::ringbuf

#endif  // WEFT_TEST_CAN_SINGLE_STEP
