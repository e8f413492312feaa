// SPDX-License-Identifier: Apache-2.0
#include "clock_anchors.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "clock_virtual_machine.h"
#include "weft/clock_line.h"

namespace weft {
namespace {

using testing::VirtualMachine;
using Kind = ClockCorrection::Kind;

constexpr std::int64_t kMs = VirtualMachine::kMs;
constexpr std::int64_t kSecond = VirtualMachine::kSecond;

// A session on a virtual machine: one thread that records every 100 us, and
// anchors every 100 ms.
class Recording {
 public:
  Recording() { line_.add(taker_.take()); }

  void record_for(std::int64_t ps) {
    const std::int64_t end = machine_.now_ps() + ps;
    while (machine_.now_ps() < end) {
      machine_.wait_ps(kMs / 10);
      stamps_.push_back({machine_.now_ticks(), machine_.now_ns()});
      if (machine_.now_ps() - last_anchor_ps_ >= 100 * kMs)
        anchor();
    }
  }

  ClockAnchor anchor(bool ring_fell = false) {
    last_anchor_ps_ = machine_.now_ps();
    const ClockAnchor anchor = taker_.take(ring_fell);
    line_.add(anchor);
    return anchor;
  }

  VirtualMachine& machine() { return machine_; }
  AnchorTaker& taker() { return taker_; }
  ClockLine& line() { return line_; }

  // What went wrong, as the trace's metadata lists it.
  std::vector<Kind> kinds() const {
    std::vector<Kind> kinds;
    for (const ClockCorrection& correction : line_.corrections())
      kinds.push_back(correction.kind);
    return kinds;
  }

  // The largest error over all records, which must come out in order.
  std::int64_t worst_error_in_order() {
    MonotoneTime time(line_);
    std::int64_t worst = 0;
    std::int64_t last = INT64_MIN;
    for (const Stamp& stamp : stamps_) {
      const std::int64_t ns = time.next(stamp.tick);
      EXPECT_GE(ns, last);
      last = ns;
      worst = std::max(worst, std::abs(ns - stamp.truth_ns));
    }
    clamped_ = time.corrections();
    return worst;
  }
  std::uint64_t clamped() const { return clamped_; }

 private:
  struct Stamp {
    Ticks tick;
    std::int64_t truth_ns;
  };

  VirtualMachine machine_;
  ClockSource source_{machine_, ClockRequest::kAuto};
  AnchorTaker taker_{source_};
  ClockLine line_;
  std::int64_t last_anchor_ps_ = machine_.now_ps();
  std::vector<Stamp> stamps_;
  std::uint64_t clamped_ = 0;
};

TEST(AnchorTaker, AGoodClockHasNoBreaks) {
  Recording recording;
  recording.record_for(5 * kSecond);
  EXPECT_TRUE(recording.kinds().empty());
  EXPECT_LE(recording.worst_error_in_order(), 100);
  EXPECT_EQ(recording.clamped(), 0u);
  EXPECT_FALSE(recording.taker().fallback_due());
}

TEST(AnchorTaker, BracketsAreNarrowAndCostLittle) {
  VirtualMachine machine;
  ClockSource source(machine, ClockRequest::kAuto);
  AnchorTaker taker(source);
  for (int i = 0; i < 600; ++i) {
    machine.wait_ps(100 * kMs);
    const std::int64_t begin = machine.now_ps();
    const ClockAnchor anchor = taker.take();
    EXPECT_LT(machine.now_ps() - begin, kMs);  // even when interrupted
    EXPECT_EQ(anchor.flags, 0);
    for (std::uint16_t half_width : anchor.half_width)
      EXPECT_LE(half_width, 45);  // half of 60 ns, a step, rounding
  }
}

TEST(AnchorTaker, SaysWhenOnlyWideBracketsWereFound) {
  VirtualMachine machine;
  ClockSource source(machine, ClockRequest::kAuto);
  machine.slow_clock_ps = 5'000 * VirtualMachine::kPs;
  AnchorTaker taker(source);
  const ClockAnchor anchor = taker.take();
  EXPECT_EQ(anchor.flags, kAnchorWide);
  EXPECT_GE(anchor.half_width[0], 2500);
}

// An anchor that may be wrong by more than it can say must not make a break.
TEST(AnchorTaker, AnUnusableAnchorIsNoEvidence) {
  Recording recording;
  recording.record_for(kSecond);
  recording.machine().slow_clock_ps = 50 * kMs;
  EXPECT_EQ(recording.anchor().half_width[0], kHalfWidthUnknown);
  recording.machine().slow_clock_ps = 0;
  recording.record_for(kSecond);
  EXPECT_TRUE(recording.kinds().empty());
  EXPECT_LE(recording.worst_error_in_order(), 100);
}

// The slew of 500 ppm and more that NTP may order is no fault of the counter.
TEST(AnchorTaker, SlewIsNoBreak) {
  Recording recording;
  recording.record_for(kSecond);
  for (std::int64_t ppb : {500'000, -500'000, 80'000'000, 0}) {
    recording.machine().set_ntp_ppb(ppb);
    recording.record_for(kSecond);
  }
  EXPECT_TRUE(recording.kinds().empty());
  EXPECT_FALSE(recording.taker().fallback_due());
}

TEST(K1_04, SuspendOfAnHourIsAGapMarkAndKeepsTheOrder) {
  for (bool counter_goes_on : {true, false}) {
    Recording recording;
    recording.record_for(kSecond + 50 * kMs);
    recording.machine().suspend(3600 * kSecond, counter_goes_on);
    recording.record_for(kSecond);

    std::vector<Kind> expected{Kind::kSuspend};
    if (!counter_goes_on)
      expected.push_back(Kind::kBackwards);
    ASSERT_EQ(recording.kinds(), expected);
    const ClockCorrection& gap = recording.line().corrections()[0];
    EXPECT_NEAR(static_cast<double>(gap.amount_ns), 3600e9, 1e6);
    EXPECT_NE(gap.text.find("suspended for 3"), std::string::npos)
        << gap.text;
    EXPECT_EQ(recording.taker().breaks().suspends, 1u);
    EXPECT_FALSE(recording.taker().fallback_due());
    EXPECT_LE(recording.worst_error_in_order(), 1000);
  }
}

// Only the map of REALTIME may notice.
TEST(K1_04, StepsOfTheWallClockLeaveTraceTimeAlone) {
  constexpr std::int64_t kHourNs = 3'600'000'000'000;
  Recording stepped;
  Recording calm;
  stepped.record_for(kSecond);
  stepped.machine().step_realtime(-kHourNs);
  stepped.record_for(kSecond);
  stepped.machine().step_realtime(2 * kHourNs);
  stepped.record_for(kSecond);
  calm.record_for(3 * kSecond);

  EXPECT_EQ(stepped.kinds(),
            (std::vector<Kind>{Kind::kRealtimeStep, Kind::kRealtimeStep}));
  const auto& corrections = stepped.line().corrections();
  EXPECT_NEAR(static_cast<double>(corrections[0].amount_ns), -kHourNs, 200);
  EXPECT_NEAR(static_cast<double>(corrections[1].amount_ns), 2 * kHourNs, 200);
  EXPECT_LE(stepped.worst_error_in_order(), 100);
  EXPECT_EQ(stepped.clamped(), 0u);
  // The same machine without steps gives the same trace time everywhere.
  for (Ticks tick = calm.machine().now_ticks() - 5'000'000'000;
       tick < calm.line().last_tick(); tick += 1'000'003)
    ASSERT_EQ(stepped.line().to_ns(tick), calm.line().to_ns(tick));
  // REALTIME itself is right on both sides of a step.
  const Ticks now = stepped.line().last_tick();
  EXPECT_NEAR(static_cast<double>(
                  stepped.line().to_ns(now, ClockId::kRealtime) -
                  stepped.line().to_ns(now) - 1'795'000'000'000'000'000),
              kHourNs, 200);
  EXPECT_LE(stepped.line().bound_ns(now, ClockId::kRealtime), 250);
}

TEST(K1_04, SmallWallClockStepsAreSeenToo) {
  Recording recording;
  recording.record_for(kSecond);
  recording.machine().step_realtime(-1'000);
  recording.record_for(kSecond);
  EXPECT_EQ(recording.kinds(), std::vector<Kind>{Kind::kRealtimeStep});
}

// (c) The counter falls by 1 ms between two anchors: order is kept, the
// correction is counted.
TEST(K1_01, CounterThatJumpsBackKeepsOrderAndIsCounted) {
  Recording recording;
  recording.record_for(kSecond + 30 * kMs);
  recording.machine().jump_counter(-2'096'006);
  recording.record_for(kSecond);

  EXPECT_EQ(recording.kinds(), std::vector<Kind>{Kind::kJump});
  EXPECT_NEAR(
      static_cast<double>(recording.line().corrections()[0].amount_ns), -1e6,
      1000);
  EXPECT_LE(recording.worst_error_in_order(), 1'100'000);
  EXPECT_GT(recording.clamped(), 0u);
}

// A fall that the anchors do not show, but a ring did.
TEST(K1_01, ARingThatFellEndsTheEpochEvenIfAnchorsLookFine) {
  Recording recording;
  recording.record_for(kSecond);
  recording.machine().jump_counter(-10'000);
  const ClockAnchor anchor = recording.anchor(true);
  EXPECT_EQ(anchor.epoch, 1u);
  EXPECT_EQ(recording.kinds(), std::vector<Kind>{Kind::kBackwards});
}

TEST(AnchorTaker, ResetOfTheCounterIsNamedAndKeepsTheOrder) {
  Recording recording;
  recording.record_for(kSecond + 30 * kMs);
  recording.machine().set_counter(0);
  recording.record_for(kSecond);

  EXPECT_EQ(recording.kinds(), std::vector<Kind>{Kind::kBackwards});
  EXPECT_EQ(recording.taker().breaks().backwards, 1u);
  EXPECT_LE(recording.worst_error_in_order(), 1000);
}

// Ticks of both epochs overlap; the order of the thread's own stamps tells
// them apart.
TEST(AnchorTaker, OverlappingEpochsAreToldApartByTheThreadsOwnOrder) {
  Recording recording;
  recording.record_for(2 * kSecond + 30 * kMs);
  recording.machine().jump_counter(-2'096'006'000);
  recording.record_for(2 * kSecond);

  EXPECT_EQ(recording.kinds(), std::vector<Kind>{Kind::kBackwards});
  EXPECT_LE(recording.worst_error_in_order(), 1000);
}

TEST(AnchorTaker, AnotherRateIsOneBreakAndOneNote) {
  Recording recording;
  recording.record_for(kSecond + 50 * kMs);
  recording.machine().set_counter_hz(VirtualMachine::kHz * 13 / 10);
  recording.record_for(kSecond);

  EXPECT_EQ(recording.kinds(),
            (std::vector<Kind>{Kind::kJump, Kind::kRateChange}));
  EXPECT_FALSE(recording.taker().fallback_due());
  EXPECT_NEAR(recording.line().ns_per_tick(),
              1e9 / (VirtualMachine::kHz * 1.3), 1e-6);
  EXPECT_LE(recording.worst_error_in_order(), 100 * kMs / 1000);
}

TEST(AnchorTaker, ADrainerThatStoodStillIsNoBreak) {
  Recording recording;
  recording.record_for(kSecond);
  recording.machine().wait_ps(30 * kSecond);
  recording.record_for(kSecond);
  EXPECT_TRUE(recording.kinds().empty());
  EXPECT_LE(recording.worst_error_in_order(), 100);
}

// The goal is that a break is in the trace within 200 ms.
TEST(AnchorTaker, EveryBreakIsSeenAtTheNextAnchor) {
  const std::vector<std::function<void(VirtualMachine&)>> breaks = {
      [](VirtualMachine& m) { m.suspend(2 * kMs, true); },
      [](VirtualMachine& m) { m.jump_counter(-2'096'006); },
      [](VirtualMachine& m) { m.jump_counter(2'096'006); },
      [](VirtualMachine& m) { m.set_counter(0); },
      [](VirtualMachine& m) { m.step_realtime(-1'000'000); }};
  for (const auto& happen : breaks) {
    Recording recording;
    recording.record_for(kSecond + 50 * kMs);
    happen(recording.machine());
    recording.record_for(100 * kMs);
    EXPECT_EQ(recording.line().correction_count(), 1u);
  }
}

TEST(AnchorTaker, ThreeFaultsInAMinuteGiveTheCounterUp) {
  Recording recording;
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(recording.taker().fallback_due());
    recording.record_for(10 * kSecond + 50 * kMs);
    recording.machine().jump_counter(-2'096'006);
    recording.record_for(100 * kMs);
  }
  ASSERT_TRUE(recording.taker().fallback_due());

  const std::uint64_t reads = recording.machine().tick_reads;
  const ClockAnchor anchor = recording.taker().fall_back();
  EXPECT_NE(anchor.flags & kAnchorMonotonicTicks, 0);
  EXPECT_EQ(anchor.tick[0], static_cast<Ticks>(anchor.ns[0]));
  EXPECT_EQ(anchor.epoch, 4u);
  EXPECT_FALSE(recording.taker().fallback_due());
  EXPECT_EQ(recording.machine().tick_reads, reads);

  recording.line().add(anchor);
  EXPECT_EQ(recording.kinds().back(), Kind::kFallback);
  const Ticks before = recording.line().last_tick();
  recording.line().add(recording.taker().take());
  EXPECT_EQ(recording.line().last_tick(), before);
  EXPECT_EQ(recording.kinds().back(), Kind::kFallback);
}

TEST(AnchorTaker, ThreeFaultsInTenMinutesDoNot) {
  Recording recording;
  for (int i = 0; i < 4; ++i) {
    recording.record_for(kSecond);
    recording.machine().wait_ps(40 * kSecond);
    recording.record_for(kSecond);
    recording.machine().jump_counter(-2'096'006);
    recording.record_for(200 * kMs);
  }
  EXPECT_EQ(recording.taker().breaks().jumps, 4u);
  EXPECT_FALSE(recording.taker().fallback_due());
}

TEST(AnchorTaker, SuspendsAreNoFaults) {
  Recording recording;
  for (int i = 0; i < 5; ++i) {
    recording.record_for(kSecond);
    recording.machine().suspend(kSecond, i % 2 == 0);
  }
  recording.record_for(kSecond);
  EXPECT_EQ(recording.taker().breaks().suspends, 5u);
  EXPECT_FALSE(recording.taker().fallback_due());
}

}  // namespace
}  // namespace weft
