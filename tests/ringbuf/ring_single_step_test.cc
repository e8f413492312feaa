// SPDX-License-Identifier: Apache-2.0
//
// A signal handler that records at every instruction of a record.

#include "ringbuf/single_step.h"

#ifdef WEFT_TEST_CAN_SINGLE_STEP

#include <cstdint>

#include "ringbuf/test_ring.h"
#include "weft/ringbuf/side_ring.h"

namespace weft::ringbuf {
namespace {

constexpr std::uint32_t kSideCells = 1024;

// What the handler works on; a handler has no other way to get at it.
struct Stage {
  TestRing ring{4096};
  BasicSideRing<Platform, kSideCells> side;
  std::uint64_t handlers = 0;      // that ran, each records once
  std::uint64_t in_own_ring = 0;   // whole records beside the interrupted one
  std::uint64_t in_side_ring = 0;  // the thread was busy
  std::uint64_t refused = 0;
};
Stage* stage = nullptr;

void record_in_handler(int) {
  Stage& s = *stage;
  ++s.handlers;
  if (!s.ring.writer().busy() && s.ring.record(2)) {
    ++s.in_own_ring;
    return;
  }
  std::uint64_t number = 0;
  auto* cell = s.side.claim(&number);
  if (cell == nullptr) {
    ++s.refused;
    return;
  }
  Platform::store(cell->slots[0].word0, number);
  s.side.publish(cell, number);
  ++s.in_side_ring;
}

class RingSingleStep : public SingleStepTest {
 protected:
  RingSingleStep() : SingleStepTest(record_in_handler) { stage = &stage_; }

  // Every handler's record and the `own` ones are where they should be.
  void expect_nothing_lost_or_torn(std::uint64_t own) {
    const TestRing::Pass pass = stage_.ring.drain();
    EXPECT_EQ(pass.wrong, 0u);
    EXPECT_EQ(pass.records, own + stage_.in_own_ring);
    std::uint64_t side = 0;
    while (const auto* cell = stage_.side.front()) {
      EXPECT_EQ(cell->slots[0].word0, side);
      stage_.side.pop();
      ++side;
    }
    EXPECT_EQ(side, stage_.in_side_ring);
    EXPECT_EQ(stage_.handlers,
              stage_.in_own_ring + stage_.in_side_ring + stage_.refused);
    EXPECT_EQ(stage_.refused, 0u);
    // Both ways were taken, or the test proves nothing.
    EXPECT_GT(stage_.in_own_ring, 0u);
    EXPECT_GT(stage_.in_side_ring, 0u);
  }

  Stage stage_;
};

TEST_F(RingSingleStep, RecordSurvivesAHandlerAtEveryInstruction) {
  ASSERT_TRUE(stage_.ring.record(2));  // refills: the next one need not
  set_trap_flag();
  const bool recorded = stage_.ring.record(3);
  clear_trap_flag();
  EXPECT_TRUE(recorded);
  expect_nothing_lost_or_torn(2);
}

TEST_F(RingSingleStep, RefillSurvivesAHandlerAtEveryInstruction) {
  set_trap_flag();
  const bool room = stage_.ring.refill(3, 0);
  const bool recorded = stage_.ring.record(3);
  clear_trap_flag();
  EXPECT_TRUE(room);
  EXPECT_TRUE(recorded);
  expect_nothing_lost_or_torn(1);
}

TEST_F(RingSingleStep, SpanSurvivesAHandlerAtEveryInstruction) {
  ASSERT_TRUE(stage_.ring.record(1));
  set_trap_flag();
  const bool begun = stage_.ring.record(1, 1);
  const bool ended = stage_.ring.end();
  clear_trap_flag();
  EXPECT_TRUE(begun);
  EXPECT_TRUE(ended);
  EXPECT_EQ(stage_.ring.writer().promised(), 0u);
  expect_nothing_lost_or_torn(3);
}

}  // namespace
}  // namespace weft::ringbuf

#endif  // WEFT_TEST_CAN_SINGLE_STEP
