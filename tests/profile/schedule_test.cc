// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "weft/profile/scheduled_steps.h"
#include "weft/profile/step_tracker.h"

namespace weft {
namespace {

using Kind = StepEffect::Kind;

std::string actions(const ScheduleOptions& options, std::uint64_t steps) {
  const Schedule schedule = Schedule::create(options).value();
  std::string text;
  for (std::uint64_t step = 0; step < steps; ++step) {
    text += "NWRS"[static_cast<std::size_t>(schedule(step))];
  }
  return text;
}

TEST(Schedule, TV_S1_SkipWaitWarmUpRecordTwice) {
  EXPECT_EQ(
      actions(
          {.wait = 2, .warmup = 1, .active = 4, .repeat = 2, .skip_first = 3},
          21),
      "NNNNNWRRRSNNWRRRSNNNN");
}

TEST(Schedule, TV_S2_RepeatsForEver) {
  EXPECT_EQ(actions({.wait = 1, .warmup = 1, .active = 2}, 9), "NWRSNWRSN");
}

TEST(Schedule, TV_S3_FirstCycleNeedNotWait) {
  EXPECT_EQ(actions({.wait = 5,
                     .warmup = 1,
                     .active = 2,
                     .repeat = 2,
                     .skip_first = 3,
                     .skip_first_wait = true},
                    18),
            "NNNWRSNNNNNWRSNNNN");
}

TEST(Schedule, TV_S4_EveryStepIsAWindow) {
  EXPECT_EQ(actions({.warmup = 0, .active = 1}, 5), "SSSSS");
}

TEST(Schedule, NumbersOutsideTheirLimitsAreNamed) {
  for (const ScheduleOptions& bad :
       {ScheduleOptions{.wait = -1}, ScheduleOptions{.warmup = -1},
        ScheduleOptions{.active = 0}, ScheduleOptions{.repeat = -1},
        ScheduleOptions{.skip_first = -1},
        ScheduleOptions{.wait = std::int64_t{1} << 62}}) {
    const auto schedule = Schedule::create(bad);
    ASSERT_FALSE(schedule.ok());
    EXPECT_EQ(schedule.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_NE(Schedule::create({.wait = -7}).error().message.find("-7"),
            std::string::npos);
}

TEST(Schedule, NoWarmUpIsAllowedWithAWarning) {
  EXPECT_TRUE(Schedule::create({.warmup = 0})->warning());
  EXPECT_FALSE(Schedule::create({.warmup = 1})->warning());
}

TEST(ScheduledSteps, D39_RangesHaveTheNumberOfTheirStep) {
  ScheduledSteps steps(Schedule::create({.warmup = 1, .active = 1}).value());
  std::vector<std::uint64_t> opened;
  const auto note = [&](const std::vector<StepEffect>& effects) {
    for (const StepEffect& effect : effects) {
      if (effect.kind == Kind::kBeginStep) opened.push_back(effect.step);
    }
  };
  note(steps.start());
  for (int i = 0; i < 3; ++i) note(steps.step());
  EXPECT_EQ(opened, (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

TEST(ScheduledSteps, WindowIsHandedOverBetweenTwoRanges) {
  ScheduledSteps steps(Schedule::create({.warmup = 0, .active = 1}).value());
  steps.start();
  EXPECT_EQ(steps.step(), (std::vector<StepEffect>{{Kind::kEndStep, 0},
                                                   {Kind::kStop},
                                                   {Kind::kReady, 1},
                                                   {Kind::kPrepare},
                                                   {Kind::kStart},
                                                   {Kind::kSignal},
                                                   {Kind::kBeginStep, 1}}));
}

// D-28: a program that never steps must be able to learn that.
TEST(ScheduledSteps, D28_RunWithoutStepsSavesNoWindow) {
  ScheduledSteps steps(
      Schedule::create({.wait = 5, .warmup = 1, .active = 1}).value());
  steps.start();
  steps.stop();
  EXPECT_EQ(steps.windows_saved(), 0u);
}

TEST(ScheduledSteps, StoppingWhileRecordingStillHandsTheWindowOver) {
  ScheduledSteps steps(Schedule::create({.warmup = 0, .active = 3}).value());
  steps.start();
  steps.step();
  EXPECT_EQ(steps.stop(),
            (std::vector<StepEffect>{
                {Kind::kEndStep, 1}, {Kind::kStop}, {Kind::kReady, 1}}));
  EXPECT_EQ(steps.windows_saved(), 1u);
}

TEST(ScheduledSteps, ScheduleThatDropsAWindowWarns) {
  ScheduledSteps steps([](std::uint64_t step) {
    return step == 0 ? ProfilerAction::kRecord : ProfilerAction::kNone;
  });
  steps.start();
  const auto effects = steps.step();
  EXPECT_NE(std::find(effects.begin(), effects.end(), StepEffect{Kind::kWarn}),
            effects.end());
}

TEST(StepTracker, TV_2_18_SlowerRequesterNeverSignals) {
  StepTracker tracker;
  EXPECT_EQ(tracker.current(), -1);
  tracker.init("P");
  const auto expect = [&](const char* who, std::int64_t step,
                          std::uint64_t signals) {
    const StepTracker::Step result = tracker.increment(who);
    EXPECT_EQ(result.current, step);
    EXPECT_EQ(result.signals, signals);
  };
  expect("P", 0, 1);
  expect("O", 1, 1);
  expect("O", 2, 1);
  expect("P", 2, 0);
  expect("O", 3, 1);
  expect("P", 3, 0);
}

TEST(StepTracker, ErasingTheLeaderKeepsTheStep) {
  StepTracker tracker;
  tracker.increment("lead");
  tracker.increment("lead");
  EXPECT_TRUE(tracker.erase("lead"));
  EXPECT_FALSE(tracker.erase("lead"));
  EXPECT_EQ(tracker.current(), 1);
}

TEST(StepTracker, ThreadsMayStepAtOnce) {
  StepTracker tracker;
  constexpr int kSteps = 1000;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) tracker.init(std::to_string(t));
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&tracker, t] {
      for (int i = 0; i < kSteps; ++i) tracker.increment(std::to_string(t));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tracker.current(), kSteps - 1);
}

}  // namespace
}  // namespace weft
