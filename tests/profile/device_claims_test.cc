// SPDX-License-Identifier: Apache-2.0

// Sources that are late, lose things, or have a clock that is wrong: sessions
// say what is missing, and show nothing that cannot be.

#include <gtest/gtest.h>

#include <algorithm>

#include "profile/device_session.h"
#include "weft/profile/record_callback.h"
#include "weft/profile/record_function.h"
#include "weft/weft.h"

namespace weft {
namespace {

using test::expect_lasts;
using test::find_row;
using test::placed;
using test::profiled;
using test::Registration;
using test::ScriptedDevice;

class DeviceClaims : public testing::Test {
 protected:
  template <class Body>
  std::shared_ptr<const ProfilerResult> recorded(const Body& body) {
    return profiled(options_, body);
  }
  void call(const char* name, const test::DeviceWork& work = {}) {
    WEFT_RECORD_FUNCTION_DYN(std::string(name));
    device_->launch(work);
  }

  ProfilerOptions options_{.use_device = "npu"};
  std::shared_ptr<ScriptedDevice> device_ = std::make_shared<ScriptedDevice>();
  Registration registered_{DeviceFamily::kCustom, "npu", device_};
};

// Buffers of real tracers come in any order.
TEST_F(DeviceClaims, TheOrderOfHandingOverChangesNothing) {
  device_->rearrange = [](std::vector<DeviceActivity>& done) {
    std::reverse(done.begin(), done.end());
  };
  const auto result = recorded([&] {
    for (int i = 0; i < 20; ++i) {
      call("op", {.name = "k" + std::to_string(i)});
    }
  });
  std::vector<std::string> of_calls;
  for (const FunctionEvent& event : result->events())
    for (const Kernel& kernel : event.kernels) of_calls.push_back(kernel.name);
  std::vector<std::string> expected;
  for (int i = 0; i < 20; ++i) expected.push_back("k" + std::to_string(i));
  EXPECT_EQ(of_calls, expected);
}

TEST_F(DeviceClaims, WhatTheSourceLosesIsSaid) {
  device_->rearrange = [&](std::vector<DeviceActivity>& done) {
    done.pop_back();
    device_->sink_now()->lost(1, "device buffer full");
  };
  const auto result = recorded([&] {
    call("kept");
    call("lost");
  });
  const DeviceStatistics& devices = result->statistics().devices;
  EXPECT_EQ(devices.lost, 1u);
  EXPECT_EQ(devices.lost_by_reason.at("device buffer full"), 1u);
  EXPECT_EQ(devices.launches_without_work, 1u);
  EXPECT_EQ(result->statistics().device.launches_without_work, 1u);
}

TEST_F(DeviceClaims, WhatHasNoPlaceIsCounted) {
  device_->rearrange = [&](std::vector<DeviceActivity>& done) {
    done[1].device = 5;
    done[2].kind = static_cast<ActivityKind>(0);
    std::swap(done[3].start, done[3].end);
    done[4].kind = ActivityKind::kOverhead;
    done[5].kind = ActivityKind::kSync;
  };
  const auto result = recorded([&] {
    for (int i = 0; i < 6; ++i) call("op");
  });
  const DeviceStatistics& devices = result->statistics().devices;
  EXPECT_EQ(devices.activities, 6u);
  EXPECT_EQ(devices.rows, 2u);
  EXPECT_EQ(devices.malformed, 2u);
  EXPECT_EQ(devices.reversed, 1u);
  EXPECT_EQ(devices.overheads, 1u);
  expect_lasts(devices.overhead_ns, 10'000);
  EXPECT_EQ(devices.not_wanted, 1u);
  EXPECT_EQ(placed(devices), 6u);
  for (const FunctionEvent& event : result->events())
    EXPECT_GE(event.duration_ns(), 0);
}

// One reading of the clock that is far off would bend all times.
TEST_F(DeviceClaims, AClockPairThatContradictsTheOthersIsNotBelieved) {
  const auto result = recorded([&] {
    const std::shared_ptr<DeviceSink> sink = device_->sink_now();
    for (int i = 0; i < 3; ++i) device_->hand_over_clock(*sink);
    const Ticks now = now_ticks();
    sink->clock({0, device_->time_of(now) * 1000, now, now});
    sink->clock({0, 3, now, now});
    call("op", {.ticks = 100'000});
  });
  const FunctionEvent* op = find_row(result->events(), "op");
  ASSERT_EQ(op->kernels.size(), 1u);
  expect_lasts(op->kernels[0].duration_ns, 100'000);
  EXPECT_EQ(result->statistics().devices.bad_clock_pairs, 2u);
}

TEST_F(DeviceClaims, WithoutAClockPairThereIsNoTimeAndNoRow) {
  device_->rearrange = [](std::vector<DeviceActivity>& done) {
    done[0].device = 1;
  };
  device_->abilities.devices = 1;  // so that only 0 has pairs
  const auto result = recorded([&] { call("op"); });
  EXPECT_EQ(result->statistics().devices.malformed, 1u);
  device_->abilities.devices = 2;
  device_->rearrange = {};
  device_->rate = 0;  // stands still: no two pairs agree
  const auto stopped = recorded([&] { call("op"); });
  EXPECT_EQ(stopped->statistics().devices.rows, 1u);
  EXPECT_EQ(find_row(stopped->events(), "op")->kernels.at(0).duration_ns, 0);
}

TEST_F(DeviceClaims, NothingRunsBeforeItWasLaunched) {
  device_->abilities.clock = DeviceClock::kHostTicks;
  device_->rearrange = [](std::vector<DeviceActivity>& done) {
    done[0].start -= 1'000'000;
    done[0].end -= 1'000'000;
  };
  const auto result = recorded([&] { call("op", {.name = "early"}); });
  const FunctionEvent* early = find_row(result->events(), "early");
  ASSERT_NE(early, nullptr);
  EXPECT_GE(early->start_ns, find_row(result->events(), "op")->start_ns);
  expect_lasts(early->duration_ns(), 10'000);
  const DeviceStatistics& devices = result->statistics().devices;
  EXPECT_EQ(devices.moved_to_launch, 1u);
  EXPECT_GT(devices.most_moved_ns, 0);
}

// 32-bit numbers wrap after 2^32 launches.
TEST_F(DeviceClaims, ANumberUsedTwiceMeansTheLaunchBefore) {
  device_->abilities.clock = DeviceClock::kHostTicks;
  const auto result = recorded([&] {
    {
      WEFT_RECORD_FUNCTION("first");
      device_->launch_as(5, {.name = "a", .delay_ticks = 0});
    }
    const Ticks later = now_ticks() + 100'000;
    while (now_ticks() < later) {
    }
    WEFT_RECORD_FUNCTION("second");
    device_->launch_as(5, {.name = "b"});
  });
  EXPECT_EQ(find_row(result->events(), "first")->kernels.at(0).name, "a");
  EXPECT_EQ(find_row(result->events(), "second")->kernels.at(0).name, "b");
  EXPECT_EQ(result->statistics().devices.repeated_launches, 1u);
}

TEST_F(DeviceClaims, WorkOfNoLaunchIsARowWhileTheSessionRuns) {
  device_->abilities.clock = DeviceClock::kHostTicks;
  const Ticks long_ago = now_ticks();
  device_->rearrange = [&](std::vector<DeviceActivity>& done) {
    DeviceActivity before = done[0];
    before.start = long_ago - 20'000;
    before.end = long_ago - 10'000;
    done.push_back(before);
  };
  const auto result = recorded([&] {
    WEFT_RECORD_FUNCTION("op");
    device_->run(77, {.name = "loose", .delay_ticks = 0});
  });
  EXPECT_EQ(result->events().size(), 2u);
  EXPECT_EQ(result->statistics().device.unattributed_device_rows, 1u);
  EXPECT_EQ(result->statistics().devices.outside_window, 1u);
}

TEST_F(DeviceClaims, CallsOfTheVendorsLibraryNestInTheCall) {
  device_->abilities.clock = DeviceClock::kHostTicks;
  const auto result = recorded([&] {
    WEFT_RECORD_FUNCTION("op");
    const std::uint64_t number = device_->launch({.name = "kernel"});
    device_->run(number, {.name = "npuLaunch",
                          .delay_ticks = 0,
                          .ticks = 500,
                          .kind = ActivityKind::kApi});
    const Ticks later = now_ticks() + 5'000;
    while (now_ticks() < later) {
    }
  });
  const FunctionEvent* api = find_row(result->events(), "npuLaunch");
  ASSERT_NE(api, nullptr);
  EXPECT_TRUE(api->is_host());
  ASSERT_NE(api->parent, kNoEvent);
  EXPECT_EQ(result->events()[api->parent].name, "op");
  EXPECT_EQ(find_row(result->events(), "op")->kernels.size(), 1u);
}

TEST_F(DeviceClaims, WaitingHasRowsForWhoAsks) {
  options_.experimental.device_sync_events = true;
  const auto result = recorded([&] {
    call("op", {.name = "stream wait", .kind = ActivityKind::kSync});
  });
  ASSERT_NE(find_row(result->events(), "stream wait"), nullptr);
  EXPECT_TRUE(find_row(result->events(), "op")->kernels.empty())
      << "waiting is not work";
}

TEST_F(DeviceClaims, WorkCanBeLeftUnlinked) {
  options_.experimental.disable_external_correlation = true;
  const auto result = recorded([&] { call("op", {.name = "k"}); });
  EXPECT_TRUE(find_row(result->events(), "op")->kernels.empty());
  EXPECT_NE(find_row(result->events(), "k"), nullptr);
}

// A device may call its work what it likes.
TEST_F(DeviceClaims, NamesThatMeanSomethingElseDoNotDoSo) {
  const auto result = recorded([&] {
    call("op", {.name = "[memory]"});
    call("op", {.name = ""});
  });
  EXPECT_TRUE(result->memory_records().empty());
  EXPECT_NE(find_row(result->events(), "kernel [memory]"), nullptr);
  EXPECT_NE(find_row(result->events(), "kernel"), nullptr);
}

TEST_F(DeviceClaims, MemoryOfTheDeviceIsBounded) {
  options_.max_device_bytes = 4096;
  const auto result = recorded([&] {
    const std::vector<DeviceActivity> batch(10);
    for (int i = 0; i < 50; ++i)
      device_->sink_now()->activities(batch.data(), batch.size());
  });
  const DeviceStatistics& devices = result->statistics().devices;
  EXPECT_EQ(devices.activities, 500u);
  EXPECT_GE(devices.dropped, 500 - 4096 / sizeof(DeviceActivity));
  EXPECT_EQ(placed(devices), 500u);
  options_.max_device_bytes = 1;
  EXPECT_EQ(Profiler::create(options_).error().code,
            ErrorCode::kInvalidArgument);
}

TEST_F(DeviceClaims, ASourceThatThrowsLeavesTheHostsRows) {
  device_->flush_throws = "device lost";
  const auto result = recorded([&] { call("op"); });
  EXPECT_NE(find_row(result->events(), "op"), nullptr);
  ASSERT_EQ(result->statistics().devices.failures.size(), 1u);
  device_->start_throws = "no context";
  Profiler without(options_);
  ASSERT_TRUE(without.start().ok());
  EXPECT_NE(without.warnings().at(0).find("no context"), std::string::npos);
  ASSERT_TRUE(without.stop().ok());
  options_.reduce_on_missing_device = false;
  Profiler refused(options_);
  EXPECT_EQ(refused.start().error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(profiling());
}

// It was there when the session was made.
TEST_F(DeviceClaims, ADeviceThatWentAwayIsAWarningAtTheStart) {
  Profiler profiler(options_);
  EXPECT_TRUE(profiler.warnings().empty());
  device_->abilities = {.devices = 0, .reason = "unplugged"};
  ASSERT_TRUE(profiler.start().ok());
  EXPECT_NE(profiler.warnings().at(0).find("unplugged"), std::string::npos);
  ASSERT_TRUE(profiler.stop().ok());
  device_->abilities = {.devices = 2, .activities = true};
  ASSERT_TRUE(profiler.start().ok());
  EXPECT_TRUE(profiler.warnings().empty());
}

TEST_F(DeviceClaims, EventsThatCannotBeMadeAreCounted) {
  device_->abilities = {.devices = 1, .event_pairs = true, .reason = "none"};
  device_->marks_fail = true;
  const auto result = recorded([&] { WEFT_RECORD_FUNCTION("op"); });
  EXPECT_TRUE(find_row(result->events(), "op")->kernels.empty());
  EXPECT_EQ(result->statistics().devices.event_pairs_unmeasured, 1u);
}

TEST_F(DeviceClaims, PairsOfEventsAreBounded) {
  device_->abilities = {.devices = 1, .event_pairs = true, .reason = "none"};
  options_.max_device_bytes = 4096;
  const auto result = recorded([&] {
    for (int i = 0; i < 100; ++i) {
      WEFT_RECORD_FUNCTION("op");
    }
  });
  const DeviceStatistics& devices = result->statistics().devices;
  EXPECT_EQ(devices.event_pairs + devices.event_pairs_dropped, 100u);
  EXPECT_GT(devices.event_pairs_dropped, 0u);
  EXPECT_EQ(device_->marks_out, 0);
}

// The range ends after the session: its event is given back unmeasured.
TEST_F(DeviceClaims, EventsOfCallsThatOutlastTheSessionAreGivenBack) {
  device_->abilities = {.devices = 1, .event_pairs = true, .reason = "none"};
  {
    Profiler profiler(options_);
    ASSERT_TRUE(profiler.start().ok());
    WEFT_RECORD_FUNCTION("open");
    ASSERT_TRUE(profiler.stop().ok());
    (void)profiler.result();
  }
  {
    // The last callback list that a thread saw goes with its next call.
    const auto handle = add_global_callback(
        RecordCallback::at_start([](const FunctionCall&) {}));
    WEFT_RECORD_FUNCTION("next");
    remove_callback(*handle);
  }
  EXPECT_EQ(device_->marks_out, 0);
}

}  // namespace
}  // namespace weft
