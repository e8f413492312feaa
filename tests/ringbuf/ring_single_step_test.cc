// SPDX-License-Identifier: Apache-2.0
//
// A signal handler that records at every instruction of a record. The processor
// raises SIGTRAP after each instruction while the trap flag is set, so this is
// every place where a handler can interrupt.

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>

#include "ringbuf/test_ring.h"
#include "weft/ringbuf/side_ring.h"

namespace weft::ringbuf {
namespace {

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
#define WEFT_TEST_CAN_SINGLE_STEP 1
#endif
#else
#define WEFT_TEST_CAN_SINGLE_STEP 1
#endif
#endif

#ifdef WEFT_TEST_CAN_SINGLE_STEP

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

// 0x100 is the trap flag. The red zone below the stack pointer is in use.
inline void set_trap_flag() {
  asm volatile(
      "lea -128(%%rsp), %%rsp\n\t"
      "pushfq\n\t"
      "orq $0x100, (%%rsp)\n\t"
      "popfq\n\t"
      "lea 128(%%rsp), %%rsp" ::
          : "memory", "cc");
}
inline void clear_trap_flag() {
  asm volatile(
      "lea -128(%%rsp), %%rsp\n\t"
      "pushfq\n\t"
      "andq $~0x100, (%%rsp)\n\t"
      "popfq\n\t"
      "lea 128(%%rsp), %%rsp" ::
          : "memory", "cc");
}

class RingSingleStep : public testing::Test {
 protected:
  void SetUp() override {
    struct sigaction action = {};
    action.sa_handler = record_in_handler;
    sigemptyset(&action.sa_mask);
    ASSERT_EQ(sigaction(SIGTRAP, &action, &before_), 0);
    Stage probe;
    stage = &probe;
    set_trap_flag();
    clear_trap_flag();
    stage = &stage_;
    if (probe.handlers == 0) GTEST_SKIP() << "nothing is single-stepped here";
  }
  void TearDown() override { sigaction(SIGTRAP, &before_, nullptr); }

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

 private:
  struct sigaction before_ = {};
};

TEST_F(RingSingleStep, RecordSurvivesAHandlerAtEveryInstruction) {
  ASSERT_TRUE(stage_.ring.record(1));  // the next one needs no refill
  set_trap_flag();
  const bool recorded = stage_.ring.record(3);
  clear_trap_flag();
  EXPECT_TRUE(recorded);
  expect_nothing_lost_or_torn(2);
}

TEST_F(RingSingleStep, RefillSurvivesAHandlerAtEveryInstruction) {
  set_trap_flag();
  const bool recorded = stage_.ring.record(3);  // the first finds no room
  clear_trap_flag();
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

#endif  // WEFT_TEST_CAN_SINGLE_STEP

}  // namespace
}  // namespace weft::ringbuf
