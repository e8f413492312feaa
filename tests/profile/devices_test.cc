// SPDX-License-Identifier: Apache-2.0

// Sessions with a device of each family: what ran where, for whom, and for how
// long.

#include <gtest/gtest.h>

#include <latch>
#include <ostream>
#include <set>
#include <sstream>
#include <thread>

#include "profile/device_session.h"
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
using test::why;

struct Kind {
  DeviceFamily family;
  Activity activity;
  DeviceType type;
  const char* name;    // of the source
  const char* word;    // what a user writes as use_device
  const char* column;  // of the table
  bool may_use_pairs;
  std::uint64_t first_correlation;
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.word;
}

class Devices : public testing::TestWithParam<Kind> {
 protected:
  ProfilerOptions options() const {
    ProfilerOptions wanted;
    wanted.use_device = GetParam().word;
    return wanted;
  }
  std::shared_ptr<ScriptedDevice> device_ = [] {
    auto device = std::make_shared<ScriptedDevice>();
    device->next_correlation = GetParam().first_correlation;
    return device;
  }();
  Registration registered_{GetParam().family, GetParam().name, device_};
};

INSTANTIATE_TEST_SUITE_P(
    Families, Devices,
    testing::Values(
        Kind{DeviceFamily::kCuda, Activity::kCuda, DeviceType::kCuda, "cupti",
             "cuda", "Self CUDA", true, 1},
        Kind{DeviceFamily::kXpu, Activity::kXpu, DeviceType::kXpu, "xpu-tracer",
             "xpu", "Self XPU", false, 0xfffffffe},
        // Beyond 32 bits: a launch record of two slots.
        Kind{DeviceFamily::kMtia, Activity::kMtia, DeviceType::kMtia, "mtia",
             "mtia", "Self MTIA", false, std::uint64_t{1} << 40},
        Kind{DeviceFamily::kCustom, Activity::kCustom, DeviceType::kCustom,
             "npu", "npu", "Self NPU", true, 1}),
    [](const auto& each) { return std::string(name_of(each.param.family)); });

TEST_P(Devices, KernelsBelongToTheCallThatLaunchedThem) {
  const auto result = profiled(options(), [&] {
    WEFT_RECORD_USER_SCOPE("request");
    {
      WEFT_RECORD_FUNCTION("matmul");
      device_->launch({.name = "gemm", .ticks = 50'000});
      device_->launch({.name = "bias", .ticks = 20'000});
    }
    device_->launch(
        {.name = "copy", .ticks = 10'000, .kind = ActivityKind::kCopy});
  });
  const EventList& events = result->events();
  ASSERT_EQ(events.size(), 5u) << "two calls, three pieces of device work";
  const FunctionEvent* matmul = find_row(events, "matmul");
  const FunctionEvent* request = find_row(events, "request");
  ASSERT_NE(matmul, nullptr);
  ASSERT_NE(request, nullptr);
  ASSERT_EQ(matmul->kernels.size(), 2u);
  EXPECT_EQ(matmul->kernels[0].name, "gemm");
  EXPECT_EQ(matmul->kernels[0].device, GetParam().type);
  EXPECT_EQ(matmul->kernels[0].stream, 7);
  EXPECT_EQ(request->kernels.size(), 1u);
  const DeviceFamily family = GetParam().family;
  expect_lasts(matmul->device_time_total_ns[family], 70'000);
  expect_lasts(request->device_time_total_ns[family], 80'000);
  expect_lasts(request->self_device_time_total_ns[family], 10'000);
  const FunctionEvent* gemm = find_row(events, "gemm");
  ASSERT_NE(gemm, nullptr);
  EXPECT_EQ(gemm->device, GetParam().type);
  EXPECT_GE(gemm->start_ns, matmul->start_ns);
  EXPECT_NE(events.key_averages().table().find(GetParam().column),
            std::string::npos)
      << events.key_averages().table();
  const ProfilerStatistics& statistics = result->statistics();
  EXPECT_EQ(statistics.devices.launches, 3u);
  EXPECT_EQ(statistics.devices.launches_without_work, 0u);
  EXPECT_EQ(statistics.device.unattributed_device_rows, 0u);
  EXPECT_EQ(statistics.devices.activities, 3u);
  EXPECT_EQ(placed(statistics.devices), 3u);
  EXPECT_EQ(device_->starts, 1);
  EXPECT_EQ(device_->stops, 1);
}

// The trace has an arrow from each call to its work, and a row a stream.
TEST_P(Devices, TheTraceDrawsTheWorkAndItsArrows) {
  const auto result = profiled(options(), [&] {
    WEFT_RECORD_FUNCTION("op");
    device_->launch({.name = "on stream 7"});
    device_->launch({.name = "on stream 9", .stream = 9, .device = 1});
  });
  std::ostringstream out;
  result->events().write_chrome_trace(out);
  const std::string json = out.str();
  std::size_t arrows = 0;
  for (std::size_t at = json.find("\"f\",\"bp\""); at != std::string::npos;
       at = json.find("\"f\",\"bp\"", at + 1))
    ++arrows;
  EXPECT_EQ(arrows, 2u);
  EXPECT_NE(json.find("on stream 9"), std::string::npos);
}

TEST_P(Devices, ADeviceThatIsNotThereIsAWarningOrAnErrorWithTheReason) {
  device_->abilities = {.devices = 0, .reason = "no driver is loaded"};
  ProfilerOptions wanted = options();
  Result<Profiler> reduced = Profiler::create(wanted);
  ASSERT_TRUE(reduced.ok());
  ASSERT_EQ(reduced->warnings().size(), 1u);
  EXPECT_NE(reduced->warnings()[0].find("no driver is loaded"),
            std::string::npos);
  EXPECT_EQ(reduced->config().activities, std::set{Activity::kCpu});
  wanted.reduce_on_missing_device = false;
  EXPECT_EQ(Profiler::create(wanted).error().code, ErrorCode::kUnavailable);
}

TEST_P(Devices, ADeviceAloneHasRowsThatBelongToNobody) {
  ProfilerOptions wanted = options();
  wanted.activities = {};
  const auto result = profiled(wanted, [&] {
    WEFT_RECORD_FUNCTION("not recorded");
    device_->launch({.name = "alone"});
  });
  ASSERT_EQ(result->events().size(), 1u);
  EXPECT_EQ(result->events()[0].name, "alone");
  EXPECT_EQ(result->statistics().device.unattributed_device_rows, 1u);
}

// Without a tracer: pairs of device events around calls, for the families that
// had them; the others are missing.
TEST_P(Devices, WithoutATracerPairsOfEventsTimeTheCalls) {
  device_->abilities = {
      .devices = 1, .event_pairs = true, .reason = "no tracer"};
  if (!GetParam().may_use_pairs) {
    EXPECT_EQ(Profiler::create(options())->config().activities,
              std::set{Activity::kCpu});
    return;
  }
  Profiler profiler(options());
  ASSERT_TRUE(profiler.start().ok());
  EXPECT_NE(profiler.warnings().at(0).find("no tracer"), std::string::npos);
  {
    WEFT_RECORD_FUNCTION("outer");
    WEFT_RECORD_FUNCTION("inner");
  }
  ASSERT_TRUE(profiler.stop().ok());
  const EventList events = *profiler.events();
  // Marks at 1000, 1250, 1500, 1750: outer has the first and the last.
  const FunctionEvent* outer = find_row(events, "outer");
  ASSERT_NE(outer, nullptr);
  ASSERT_EQ(outer->kernels.size(), 1u);
  EXPECT_EQ(outer->kernels[0].duration_ns, 750);
  EXPECT_EQ(outer->kernels[0].device, GetParam().type);
  EXPECT_TRUE(outer->is_legacy);
  EXPECT_EQ(find_row(events, "inner")->kernels.at(0).duration_ns, 250);
  EXPECT_EQ(profiler.statistics()->devices.event_pairs, 2u);
  EXPECT_EQ(device_->marks_out, 0) << "every event was given back";
}

TEST_P(Devices, PairsNeedTheHostAndPermission) {
  if (!GetParam().may_use_pairs) return;
  device_->abilities = {
      .devices = 1, .event_pairs = true, .reason = "no tracer"};
  ProfilerOptions wanted = options();
  wanted.activities = {};
  EXPECT_EQ(Profiler::create(wanted).error().code, ErrorCode::kInvalidArgument);
  wanted = options();
  wanted.allow_device_event_fallback = false;
  EXPECT_EQ(Profiler::create(wanted)->config().activities,
            std::set{Activity::kCpu});
}

TEST_P(Devices, OnePausesWhileTheHostGoesOn) {
  Profiler profiler(options());
  const auto call = [&](const char* name) {
    WEFT_RECORD_FUNCTION("call");
    device_->launch({.name = name});
  };
  ASSERT_TRUE(profiler.start().ok());
  EXPECT_TRUE(profiler.warnings().empty());
  call("first");
  const std::set<Activity> device{GetParam().activity};
  ASSERT_TRUE(profiler.pause(device).ok());
  EXPECT_EQ(profiler.pause(device).error().code, ErrorCode::kBusy);
  EXPECT_EQ(profiler.warnings().size(), 1u) << "one side alone";
  EXPECT_EQ(device_->stops, 1);
  { WEFT_RECORD_FUNCTION("host alone"); }
  ASSERT_TRUE(profiler.resume(device).ok());
  EXPECT_EQ(profiler.resume(device).error().code, ErrorCode::kBusy);
  call("second");
  // Both, and both again.
  ASSERT_TRUE(profiler.pause().ok());
  { WEFT_RECORD_FUNCTION("nobody looks"); }
  ASSERT_TRUE(profiler.resume().ok());
  call("third");
  ASSERT_TRUE(profiler.stop().ok());
  const EventList events = *profiler.events();
  EXPECT_EQ(events.key_averages().find("call")->count, 3u);
  EXPECT_NE(find_row(events, "host alone"), nullptr);
  EXPECT_EQ(find_row(events, "nobody looks"), nullptr);
  for (const char* name : {"first", "second", "third"}) {
    EXPECT_NE(find_row(events, name), nullptr) << name;
  }
  EXPECT_EQ(profiler.statistics()->device.unattributed_device_rows, 0u);
  EXPECT_EQ(profiler.statistics()->devices.launches, 3u);
  EXPECT_EQ(profiler
                .pause({GetParam().activity == Activity::kXpu ? Activity::kMtia
                                                              : Activity::kXpu})
                .error()
                .code,
            ErrorCode::kNotRunning);
}

TEST_P(Devices, AnActivityOfAnotherSessionCannotBePaused) {
  Profiler profiler(options());
  ASSERT_TRUE(profiler.start().ok());
  const Activity other =
      GetParam().activity == Activity::kXpu ? Activity::kMtia : Activity::kXpu;
  EXPECT_EQ(profiler.pause({other}).error().code, ErrorCode::kInvalidArgument);
}

// Two families may use the same numbers.
TEST(DeviceFamilies, NumbersOfTwoFamiliesAreNotMixedUp) {
  const auto cuda = std::make_shared<ScriptedDevice>();
  const auto npu = std::make_shared<ScriptedDevice>();
  const Registration first(DeviceFamily::kCuda, "cupti", cuda);
  const Registration second(DeviceFamily::kCustom, "npu", npu);
  const auto result = profiled(
      {.activities = {Activity::kCpu, Activity::kCuda, Activity::kCustom}},
      [&] {
        {
          WEFT_RECORD_FUNCTION("on cuda");
          cuda->launch({.name = "c"});
        }
        WEFT_RECORD_FUNCTION("on npu");
        npu->launch({.name = "n"});
      });
  const EventList& events = result->events();
  ASSERT_EQ(find_row(events, "on cuda")->kernels.size(), 1u);
  EXPECT_EQ(find_row(events, "on cuda")->kernels[0].name, "c");
  ASSERT_EQ(find_row(events, "on npu")->kernels.size(), 1u);
  EXPECT_EQ(find_row(events, "on npu")->kernels[0].name, "n");
  EXPECT_EQ(events.options().device_name, "npu");
}

TEST(DeviceFamilies, ACustomDeviceIsKnownByItsNameAlone) {
  const auto npu = std::make_shared<ScriptedDevice>();
  const Registration registered(DeviceFamily::kCustom, "npu", npu);
  Result<Profiler> other = Profiler::create({.use_device = "tpu"});
  ASSERT_TRUE(other.ok());
  EXPECT_NE(other->warnings().at(0).find("npu"), std::string::npos);
  EXPECT_EQ(other->config().use_device, "");
  Result<Profiler> unnamed =
      Profiler::create({.activities = {Activity::kCustom}});
  ASSERT_TRUE(unnamed.ok());
  EXPECT_EQ(unnamed->config().use_device, "npu");
}

// What threads outside the session have the device do is not the session's.
TEST(DeviceFamilies, WorkOfThreadsThatAreNotCoveredIsLeftOut) {
  const auto device = std::make_shared<ScriptedDevice>();
  const Registration registered(DeviceFamily::kCuda, "cupti", device);
  const auto body = [&] {
    {
      WEFT_RECORD_FUNCTION("mine");
      device->launch({.name = "my kernel"});
    }
    std::thread([&] {
      WEFT_RECORD_FUNCTION("theirs");
      device->launch({.name = "their kernel"});
    }).join();
  };
  const ProfilerOptions one{.use_device = "cuda",
                            .coverage = ThreadCoverage::kThisThread};
  const auto mine = profiled(one, body);
  EXPECT_EQ(mine->events().size(), 2u);
  EXPECT_EQ(find_row(mine->events(), "their kernel"), nullptr);
  EXPECT_EQ(mine->statistics().devices.outside_coverage, 1u);
  const ProfilerOptions all{.use_device = "cuda",
                            .coverage = ThreadCoverage::kAllThreads};
  const auto both = profiled(all, body);
  EXPECT_EQ(both->events().size(), 4u);
  EXPECT_EQ(find_row(both->events(), "theirs")->kernels.size(), 1u);
}

// Sessions of two threads share the device, and each gets its own work.
TEST(DeviceFamilies, SessionsOfTwoThreadsShareADevice) {
  const auto device = std::make_shared<ScriptedDevice>();
  const Registration registered(DeviceFamily::kCuda, "cupti", device);
  const ProfilerOptions options{.use_device = "cuda"};
  std::latch both(2);
  const auto session = [&](const char* name, std::string* kernels) {
    const auto result = profiled(options, [&] {
      both.arrive_and_wait();
      WEFT_RECORD_FUNCTION("op");
      device->launch({.name = name});
    });
    for (const FunctionEvent& event : result->events())
      if (!event.is_host()) *kernels += event.name;
  };
  std::string first, second;
  std::thread other(session, "b", &second);
  session("a", &first);
  other.join();
  EXPECT_EQ(first, "a");
  EXPECT_EQ(second, "b");
  EXPECT_EQ(device->starts, 1);
  EXPECT_EQ(device->stops, 1);
}

}  // namespace
}  // namespace weft
