// SPDX-License-Identifier: Apache-2.0

// Sessions of the profiler over CUPTI's stand-in: which call work belongs to,
// and what becomes of records that cannot be right.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "gpu/cupti_machine.h"
#include "profile/device_session.h"
#include "weft/profile/record_function.h"
#include "weft/weft.h"

namespace weft {
namespace {

using test::CuptiMachine;
using test::find_row;
using test::placed;
using test::profiled;

const ProfilerOptions kOptions{.use_device = "cuda"};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t kernels_of(const ProfilerResult& result, const std::string& name) {
  const FunctionEvent* event = find_row(result.events(), name);
  return event == nullptr ? 0 : event->kernels.size();
}

// A kernel that says it ran 20 ms before it was launched, however long the
// launch takes.
void launch_before_itself(CuptiMachine& machine) {
  const auto now = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::chrono::system_clock::now().time_since_epoch())
          .count());
  machine.library.launch({.name = "early",
                          .raw_times = true,
                          .start = now - 20'000'000,
                          .end = now - 19'999'000});
}

void expect_sane_rows(const ProfilerResult& result) {
  for (const FunctionEvent& event : result.events()) {
    EXPECT_GE(event.start_ns, 0) << event.name;
    EXPECT_GE(event.duration_ns(), 0) << event.name;
    EXPECT_LE(event.duration_ns(), 60'000'000'000) << event.name;
  }
}

TEST(CuptiSession, KernelsBelongToTheCallAndAreNamedInCxx) {
  CuptiMachine machine;
  const auto result = profiled(kOptions, [&] {
    WEFT_RECORD_FUNCTION("matmul");
    machine.library.launch({.name = "_Z4gemmPf", .device = 1, .stream = 9});
    machine.library.launch({.kind = 1, .bytes = 4096, .call = 31});
  });
  ASSERT_EQ(kernels_of(*result, "matmul"), 2u);
  const FunctionEvent* gemm = find_row(result->events(), "gemm(float*)");
  ASSERT_NE(gemm, nullptr);
  EXPECT_EQ(gemm->device, DeviceType::kCuda);
  EXPECT_NE(find_row(result->events(), "Memcpy HtoD"), nullptr);
  EXPECT_EQ(result->statistics().devices.launches, 2u);
  EXPECT_EQ(result->statistics().devices.launches_without_work, 0u);
  EXPECT_FALSE(machine.library.subscribed());
}

// The host's profile is whole whatever is wrong with the device's side, and
// says in words what that is.
TEST(CuptiSession, WithoutCudaTheHostIsCompleteAndTheReasonIsSaid) {
  struct Case {
    const char* words;
    void (*arrange)(cupti::CuptiOptions&, cupti::Linker&);
  };
  const Case cases[] = {
      {"no NVIDIA driver",
       [](cupti::CuptiOptions& options, cupti::Linker&) {
         options.names.driver = "/nowhere/libcuda.so.1";
       }},
      {"/nowhere/libcupti.so not",
       [](cupti::CuptiOptions& options, cupti::Linker&) {
         options.names.cupti = "/nowhere/libcupti.so";
       }},
      {"lacks cuptiActivityDisable",
       [](cupti::CuptiOptions&, cupti::Linker& linker) {
         linker.symbol = [whole = linker.symbol](void* library,
                                                 const char* name) {
           return std::string(name) == "cuptiActivityDisable"
                      ? nullptr
                      : whole(library, name);
         };
       }},
      {"too old", [](cupti::CuptiOptions&,
                     cupti::Linker&) { test::stand_in().version = 9; }},
      {"no permission",
       [](cupti::CuptiOptions&, cupti::Linker&) {
         test::stand_in().fails["cuptiActivityEnable"] = 35;
       }},
      {"WEFT_GPU=off",
       [](cupti::CuptiOptions& options, cupti::Linker&) {
         options.forbidden = "WEFT_GPU=off forbids it";
       }},
  };
  for (const Case& each : cases) {
    test::stand_in().reset();
    cupti::CuptiOptions options = test::stand_in_options();
    cupti::Linker linker = cupti::system_linker();
    each.arrange(options, linker);
    const test::Registration registered(
        DeviceFamily::kCuda, "cupti",
        std::make_shared<cupti::CuptiSource>(options, linker));
    Profiler profiler(kOptions);
    ASSERT_TRUE(profiler.start().ok()) << each.words;
    for (int i = 0; i < 10; ++i) {
      WEFT_RECORD_FUNCTION("on the host");
    }
    ASSERT_TRUE(profiler.stop().ok()) << each.words;
    EXPECT_EQ((*profiler.result())->events().size(), 10u) << each.words;
    EXPECT_TRUE(std::any_of(
        profiler.warnings().begin(), profiler.warnings().end(),
        [&](const std::string& warning) { return has(warning, each.words); }))
        << each.words;
    EXPECT_TRUE(has(status().gpu, "unavailable: ")) << status().gpu;
    EXPECT_TRUE(has(status().gpu, each.words)) << status().gpu;
    EXPECT_FALSE(test::stand_in().subscribed());
  }
}

// (b): begun before it was launched, which only a clock can have said.
TEST(CuptiSession, K1_06_AKernelBeforeItsLaunchIsShownFromTheLaunchOn) {
  CuptiMachine machine;
  const auto result = profiled(kOptions, [&] {
    WEFT_RECORD_FUNCTION("op");
    launch_before_itself(machine);
  });
  const FunctionEvent* op = find_row(result->events(), "op");
  const FunctionEvent* early = find_row(result->events(), "early");
  ASSERT_NE(op, nullptr);
  ASSERT_NE(early, nullptr);
  EXPECT_EQ(kernels_of(*result, "op"), 1u);
  EXPECT_GE(early->start_ns, op->start_ns);
  const DeviceStatistics& devices = result->statistics().devices;
  EXPECT_EQ(devices.moved_to_launch, 1u);
  EXPECT_GT(devices.most_moved_ns, 0);
}

TEST(CuptiSession, K3_02_EachKernelGoesToTheLaunchWithItsNumber) {
  CuptiMachine machine;
  machine.library.next_correlation = 0xfffffffe;
  const auto result = profiled(kOptions, [&] {
    {
      WEFT_RECORD_FUNCTION("runtime");  // 0xfffffffe
      machine.library.launch();
    }
    {
      WEFT_RECORD_FUNCTION("driver");  // 0xffffffff
      machine.library.launch({.driver_call = true});
    }
    {
      WEFT_RECORD_FUNCTION("zero");  // 0: unknown, whoever launched it
      machine.library.launch();
    }
    {
      WEFT_RECORD_FUNCTION("graph");  // 1
      machine.library.launch({.graph = 5, .records = 1000, .call = 311});
    }
    {
      WEFT_RECORD_FUNCTION("extended");
      machine.library.launch({.call = 430});
    }
    {
      WEFT_RECORD_FUNCTION("reuse");
      machine.library.launch({.correlation = 0xfffffffe});
    }
    WEFT_RECORD_FUNCTION("nobody");
    machine.library.launch({.is_call = false, .correlation = 4711});
  });
  EXPECT_EQ(kernels_of(*result, "runtime"), 1u);
  EXPECT_EQ(kernels_of(*result, "driver"), 1u);
  EXPECT_EQ(kernels_of(*result, "zero"), 0u);
  EXPECT_EQ(kernels_of(*result, "graph"), 1000u);
  EXPECT_EQ(kernels_of(*result, "extended"), 1u);
  EXPECT_EQ(kernels_of(*result, "reuse"), 1u);
  EXPECT_EQ(kernels_of(*result, "nobody"), 0u);
  const DeviceStatistics& devices = result->statistics().devices;
  EXPECT_EQ(devices.activities, 1006u);
  EXPECT_EQ(devices.rows, 1006u) << "kept, also where nothing launched them";
  EXPECT_EQ(devices.launches, 5u);
  EXPECT_EQ(devices.launches_without_work, 0u);
  EXPECT_EQ(devices.repeated_launches, 1u);
  EXPECT_EQ(result->statistics().device.unattributed_device_rows, 2u);
}

// A call whose nested call of the driver has a number of its own.
TEST(CuptiSession, K3_02_ANestedCallWithItsOwnNumberTakesNoKernelAway) {
  CuptiMachine machine;
  machine.library.nested_shares_number = false;
  const auto result = profiled(kOptions, [&] {
    WEFT_RECORD_FUNCTION("op");
    machine.library.launch();
  });
  EXPECT_EQ(kernels_of(*result, "op"), 1u);
  EXPECT_EQ(result->statistics().devices.launches_without_work, 1u);
}

TEST(CuptiSession, K3_05_AStopWaitsOnceForEachDeviceThatTheProgramUses) {
  CuptiMachine machine;
  machine.library.contexts = {0, 1};
  const auto result = profiled(kOptions, [&] {
    WEFT_RECORD_FUNCTION("op");
    machine.library.launch({.name = "first", .device = 0, .unfinished = true});
    machine.library.launch({.name = "second", .device = 1, .unfinished = true});
  });
  EXPECT_EQ(kernels_of(*result, "op"), 2u);
  EXPECT_EQ(machine.library.waits, (std::map<int, int>{{0, 1}, {1, 1}}));
  EXPECT_EQ(result->statistics().devices.launches_without_work, 0u);
}

// A device that nobody waits for: its kernel is in no session, and said to be
// missing.
TEST(CuptiSession, K3_05_AKernelThatEndsTooLateIsInNoOtherSession) {
  CuptiMachine machine;
  machine.library.contexts = {};
  const auto first = profiled(kOptions, [&] {
    WEFT_RECORD_FUNCTION("first");
    machine.library.launch({.unfinished = true});
  });
  EXPECT_EQ(kernels_of(*first, "first"), 0u);
  EXPECT_EQ(first->statistics().devices.launches_without_work, 1u);
  machine.library.finish(0);
  const auto second = profiled(kOptions, [&] {
    WEFT_RECORD_FUNCTION("second");
    machine.library.launch();
  });
  EXPECT_EQ(kernels_of(*second, "second"), 1u);
  const DeviceStatistics& devices = second->statistics().devices;
  EXPECT_EQ(devices.rows, 1u);
  EXPECT_EQ(devices.outside_window, 1u);
  EXPECT_EQ(placed(devices), devices.activities);
}

TEST(CuptiSession, K3_06_TimesThatCannotBeAreCountedByName) {
  CuptiMachine machine;
  const std::uint64_t far = std::uint64_t{1} << 63;
  const auto result = profiled(kOptions, [&] {
    WEFT_RECORD_FUNCTION("op");
    machine.library.launch({.name = "untimed", .raw_times = true});
    machine.library.launch({.name = "reversed", .length_ns = -500});
    machine.library.launch(
        {.name = "far", .raw_times = true, .start = far, .end = far});
    machine.library.launch(
        {.name = "ages", .raw_times = true, .start = 1, .end = far});
    launch_before_itself(machine);
    machine.library.launch({.name = "fine"});
  });
  const DeviceStatistics& devices = result->statistics().devices;
  EXPECT_EQ(devices.activities, 6u);
  EXPECT_EQ(devices.without_time, 1u);
  EXPECT_EQ(devices.reversed, 1u);
  EXPECT_EQ(devices.absurd, 2u);
  EXPECT_GE(devices.moved_to_launch, 1u);
  EXPECT_EQ(devices.rows, 3u);
  EXPECT_EQ(placed(devices), devices.activities);
  EXPECT_EQ(devices.launches_without_work, 0u)
      << "there was work, at an unknown time";
  for (const char* name : {"untimed", "far", "ages"})
    EXPECT_EQ(find_row(result->events(), name), nullptr) << name;
  EXPECT_EQ(find_row(result->events(), "reversed")->duration_ns(), 0);
  expect_sane_rows(*result);
}

// Buffers come in any order.
TEST(CuptiSession, RowsDoNotDependOnTheOrderOfRecords) {
  std::vector<std::string> first;
  for (const std::uint32_t seed : {0u, 1u, 2u, 3u}) {
    CuptiMachine machine;
    machine.library.shuffle = seed;
    const auto result = profiled(kOptions, [&] {
      for (int i = 0; i < 50; ++i) {
        WEFT_RECORD_FUNCTION("op");
        machine.library.launch({.stream = 1 + static_cast<unsigned>(i) % 3});
      }
    });
    std::vector<std::string> rows;
    std::vector<std::int64_t> begins;
    for (const FunctionEvent& event : result->events()) {
      if (event.device != DeviceType::kCuda) continue;
      rows.push_back(event.name + '/' + std::to_string(event.stream));
      begins.push_back(event.start_ns);
    }
    EXPECT_EQ(rows.size(), 50u);
    EXPECT_TRUE(std::is_sorted(begins.begin(), begins.end()));
    if (seed == 0) first = rows;
    EXPECT_EQ(rows, first);
  }
}

}  // namespace
}  // namespace weft
