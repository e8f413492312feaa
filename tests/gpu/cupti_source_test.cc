// SPDX-License-Identifier: Apache-2.0

// CUPTI's source against a library that behaves as a test says.

#include "cupti/cupti_source.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gpu/cupti_machine.h"
#include "gpu/open_cuda_tap.h"
#include "runtime/collection.h"
#include "weft/gpu/device_tap.h"
#include "weft/gpu/launch_word.h"
#include "weft/internal/definitions.h"
#include "weft/status.h"

namespace weft {
namespace {

using test::CuptiMachine;
using test::open_tap;

constexpr DeviceFamily kCuda = DeviceFamily::kCuda;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::uint64_t placed(const DeviceAccounts& accounts) {
  return accounts.kept + accounts.dropped + accounts.late +
         accounts.unknown_kind + accounts.unknown_device;
}

std::multiset<std::string> names_of(const DeviceRecords& records) {
  std::multiset<std::string> names;
  for (const DeviceActivity& activity : records.activities)
    names.emplace(internal::text_of(activity.name));
  return names;
}

TEST(CuptiSource, EveryKindOfRecordArrivesWithItsFields) {
  const test::Collection with_names;
  CuptiMachine machine;
  machine.library.contexts = {};
  DeviceTap tap = open_tap({.api_calls = true, .whole_graphs = true});
  machine.library.launch(
      {.kind = 9, .device = 1, .context = 5, .is_call = false});
  const auto kernel = machine.library.launch(
      {.name = "gemm", .device = 1, .context = 5, .stream = 9, .graph = 3});
  machine.library.launch({.kind = 1, .bytes = 4096, .call = 31});
  machine.library.launch({.kind = 22, .bytes = 77, .call = 31});
  machine.library.launch({.kind = 2, .bytes = 12, .call = 51});
  machine.library.launch({.kind = 38, .context = 5, .is_call = false});
  machine.library.launch({.kind = 17, .is_call = false});
  machine.library.launch({.kind = 5, .call = 211});
  machine.library.launch({.kind = 51, .graph = 4, .call = 311});
  const DeviceRecords records = tap.close();
  EXPECT_EQ(names_of(records),
            (std::multiset<std::string>{"", "CUDA graph", "Context Sync",
                                        "Memcpy HtoD", "Memcpy PtoP", "Memset",
                                        "cudaLaunchKernel_v7000", "gemm"}));
  const auto of = [&](const char* name) {
    return *std::find_if(records.activities.begin(), records.activities.end(),
                         [&](const DeviceActivity& activity) {
                           return internal::text_of(activity.name) == name;
                         });
  };
  const DeviceActivity gemm = of("gemm");
  EXPECT_EQ(gemm.kind, ActivityKind::kKernel);
  EXPECT_EQ(gemm.device, 1u);
  EXPECT_EQ(gemm.context, 5u);
  EXPECT_EQ(gemm.stream, 9u);
  EXPECT_EQ(gemm.correlation, kernel);
  EXPECT_EQ(gemm.graph, 3u);
  EXPECT_EQ(gemm.graph_node, 1u);
  EXPECT_EQ(gemm.end - gemm.start, 1000u);
  EXPECT_EQ(of("Memcpy HtoD").bytes, 4096u);
  EXPECT_EQ(of("Memcpy PtoP").bytes, 77u);
  EXPECT_EQ(of("Memset").kind, ActivityKind::kFill);
  EXPECT_EQ(of("Context Sync").device, 1u) << "by its context";
  EXPECT_EQ(of("CUDA graph").graph, 4u);
  EXPECT_EQ(records.accounts.lost, 0u);
  EXPECT_EQ(placed(records.accounts), records.accounts.delivered);
}

// The struct of a version is as long as that version made it; one binary reads
// all of them, and those that are not out yet.
TEST(CuptiSource, RecordsOfEveryVersionAreRead) {
  const test::Collection with_names;
  for (const std::uint32_t version :
       {13u, 14u, 15u, 16u, 17u, 18u, 19u, 20u, 22u, 23u, 24u, 26u, 28u,
        130000u, 130001u, 130100u, 140000u}) {
    CuptiMachine machine;
    machine.library.version = version;
    DeviceTap tap = open_tap();
    for (const std::uint32_t kind : {10u, 1u, 22u, 2u, 38u, 17u, 9u})
      for (int i = 0; i < 3; ++i) machine.library.launch({.kind = kind});
    const DeviceRecords records = tap.close();
    EXPECT_EQ(records.activities.size(), 18u) << version;
    EXPECT_EQ(records.accounts.lost, 0u) << version;
    EXPECT_EQ(names_of(records).count("_Z6kernelPf"), 3u) << version;
  }
}

TEST(CuptiSource, LaunchesLieInTheRingOfTheThreadThatMadeThem) {
  CuptiMachine machine;
  DeviceTap tap = open_tap();
  test::Collection collected;
  std::vector<std::uint32_t> numbers;
  numbers.push_back(machine.library.launch());
  numbers.push_back(machine.library.launch({.driver_call = true}));
  // What CUDA adds later is known by its name.
  numbers.push_back(machine.library.launch({.call = 430}));
  machine.library.launch(
      {.kind = 38, .driver_call = true, .call = 7});  // launches nothing
  (void)tap.close();
  machine.library.launch();
  std::vector<std::uint32_t> recorded, words;
  for (const auto& thread : collected.stop().threads())
    for (const auto& record : thread.second.records)
      if (record.kind == RecordKind::kLaunch) {
        recorded.push_back(record.low());
        words.push_back(record.high());
      }
  EXPECT_EQ(words, (std::vector<std::uint32_t>{launch_word(kCuda, 0x200d3),
                                               launch_word(kCuda, 0x10133),
                                               launch_word(kCuda, 0x201ae)}));
  EXPECT_EQ(recorded, numbers)
      << "the driver's call below the runtime's is the same launch";
}

TEST(CuptiSource, KindsThatWeftDoesNotKnowAreCounted) {
  const test::Collection with_names;
  CuptiMachine machine;
  DeviceTap tap = open_tap();
  machine.library.launch();
  std::vector<std::uint8_t> memory(128, 0);
  memory[0] = 49;
  machine.library.put(memory);
  machine.library.launch();
  DeviceRecords records = tap.close();
  EXPECT_EQ(records.accounts.kept, 2u);
  EXPECT_EQ(records.accounts.unknown_kind, 1u);
  // What the library itself does not know ends the buffer.
  DeviceTap next = open_tap();
  machine.library.launch();
  machine.library.put(std::vector<std::uint8_t>(64, 0xee));
  machine.library.launch();
  records = next.close();
  EXPECT_EQ(records.accounts.kept, 1u);
  EXPECT_EQ(records.lost.at("rests of buffers could not be read"), 1u);
}

TEST(CuptiSource, NothingIsOnBeforeASessionAndNothingAfterIt) {
  CuptiMachine machine;
  (void)probe_device_source(kCuda);
  EXPECT_EQ(machine.library.calls(),
            std::vector<std::string>{"cuptiGetVersion"});
  EXPECT_TRUE(has(status().gpu, "open: ")) << status().gpu;
  DeviceTap tap = open_tap();
  EXPECT_TRUE(machine.library.subscribed());
  EXPECT_EQ(machine.library.callbacks_on(), 7u);
  EXPECT_EQ(machine.library.kinds_on(), 7u);
  EXPECT_TRUE(has(status().gpu, "running: ")) << status().gpu;
  (void)tap.close();
  EXPECT_FALSE(machine.library.subscribed());
  EXPECT_EQ(machine.library.callbacks_on(), 0u);
  EXPECT_EQ(machine.library.kinds_on(), 0u);
  EXPECT_TRUE(has(status().gpu, "open: ")) << status().gpu;
}

// The check: subscribe fails, and nothing else of CUPTI is called.
TEST(CuptiSource, K3_01_AnotherProfilerIsInTheWay) {
  for (const int code : {39, 35, 2, 12, 14, 15, 999}) {
    CuptiMachine machine;
    machine.library.fails["cuptiSubscribe"] = code;
    const Result<DeviceTap> tap = DeviceTap::open(kCuda, {});
    ASSERT_FALSE(tap.ok()) << code;
    EXPECT_EQ(tap.error().code, ErrorCode::kUnavailable);
    EXPECT_TRUE(has(tap.error().message, std::to_string(code)));
    EXPECT_TRUE(has(status().gpu, "unavailable: ")) << status().gpu;
    EXPECT_TRUE(has(status().gpu, tap.error().message)) << status().gpu;
    EXPECT_EQ(machine.library.calls(),
              (std::vector<std::string>{"cuptiGetVersion", "cuptiSubscribe"}));
  }
}

TEST(CuptiSource, K3_01_ASecondToolCanSubscribeWhenASessionIsOver) {
  CuptiMachine machine;
  EXPECT_EQ(machine.library.subscribe_other_tool(), 0);
  const Result<DeviceTap> refused = DeviceTap::open(kCuda, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(has(refused.error().message, "another profiler"));
  EXPECT_TRUE(machine.library.subscribed()) << "the other one's";
  machine.library.unsubscribe_other_tool();
  {
    DeviceTap tap = open_tap();
    EXPECT_EQ(machine.library.subscribe_other_tool(), 39);
  }
  EXPECT_EQ(machine.library.subscribe_other_tool(), 0);
  machine.library.unsubscribe_other_tool();
}

// A call that fails half-way must leave nothing switched on.
TEST(CuptiSource, AFailureOfAnyCallIsARefusalOrOnlyAMissingPart) {
  struct Case {
    const char* call;
    bool refused;
  };
  for (const Case& each :
       {Case{"cuptiEnableDomain", false}, Case{"cuptiSetThreadIdType", false},
        Case{"cuptiActivitySetAttribute", false},
        Case{"cuptiActivityRegisterCallbacks", true},
        Case{"cuptiEnableCallback", true}, Case{"cuptiActivityEnable", true},
        Case{"cuptiGetTimestamp", false}, Case{"cuptiActivityFlushAll", false},
        Case{"cuptiActivityGetNumDroppedRecords", false}}) {
    CuptiMachine machine;
    machine.library.fails[each.call] = 35;
    {
      Result<DeviceTap> tap = DeviceTap::open(kCuda, {});
      EXPECT_EQ(!tap.ok(), each.refused) << each.call;
      if (!tap.ok()) {
        EXPECT_TRUE(has(tap.error().message, "no permission"))
            << tap.error().message;
      }
    }
    EXPECT_FALSE(machine.library.subscribed()) << each.call;
    EXPECT_EQ(machine.library.callbacks_on(), 0u) << each.call;
    EXPECT_EQ(machine.library.kinds_on(), 0u) << each.call;
  }
}

TEST(CuptiSource, AKindThatIsNotToBeHadIsLeftOut) {
  CuptiMachine machine;
  machine.library.kinds_missing = {38, 17};
  DeviceTap tap = open_tap();
  machine.library.launch();
  EXPECT_EQ(tap.close().accounts.kept, 1u);
}

TEST(CuptiSource, AVersionThatIsTooOldIsRefused) {
  CuptiMachine machine;
  machine.library.version = 12;
  const DeviceAbilities abilities = probe_device_source(kCuda);
  EXPECT_FALSE(abilities.activities);
  EXPECT_TRUE(has(abilities.reason, "too old")) << abilities.reason;
}

TEST(CuptiSource, ADriverWithoutDevicesHasNoActivities) {
  CuptiMachine machine;
  machine.library.devices = 0;
  EXPECT_TRUE(has(probe_device_source(kCuda).reason, "no device"));
}

TEST(CuptiSource, TooLittleMemoryIsRefusedWithTheLimit) {
  CuptiMachine machine;
  const Result<DeviceTap> tap = DeviceTap::open(kCuda, {.memory_bytes = 5000});
  ASSERT_FALSE(tap.ok());
  EXPECT_EQ(tap.error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(has(tap.error().message, "5000")) << tap.error().message;
  EXPECT_TRUE(has(tap.error().message, "4194304")) << tap.error().message;
}

TEST(CuptiSource, AFatalErrorEndsTheCallsAndKeepsWhatThereWas) {
  CuptiMachine machine;
  DeviceTap tap = open_tap();
  machine.library.launch();
  (void)device_accounts(kCuda);
  machine.library.fail_fatally();
  const std::size_t before = machine.library.calls_of("cuptiActivityDisable");
  const DeviceRecords records = tap.close();
  ASSERT_EQ(records.failures.size(), 1u);
  EXPECT_TRUE(has(records.failures[0], "fatal error")) << records.failures[0];
  EXPECT_TRUE(has(status().gpu, "lost: ")) << status().gpu;
  EXPECT_EQ(machine.library.calls_of("cuptiActivityDisable"), before);
  EXPECT_EQ(machine.library.calls_of("cuptiUnsubscribe"), 0u);
  machine.library.unsubscribe_all();
}

// Between versions that give kernels no times, and versions that give wrong
// ones when a context was there before.
TEST(CuptiSource, HostStampsAreOursOnlyWhereThatWorks) {
  struct Case {
    std::uint32_t version;
    bool initialised;
    bool ours;
  };
  for (const Case& each :
       {Case{23, false, true}, Case{23, true, false}, Case{24, false, false},
        Case{130001, false, false}, Case{130100, false, true},
        Case{130100, true, false}, Case{130303, true, true}}) {
    CuptiMachine machine;
    machine.library.version = each.version;
    machine.library.cuda_initialised = each.initialised;
    DeviceTap tap = open_tap();
    machine.library.launch();
    const DeviceRecords records = tap.close();
    EXPECT_EQ(
        machine.library.calls_of("cuptiActivityRegisterTimestampCallback"),
        each.ours ? 1u : 0u)
        << each.version;
    ASSERT_EQ(records.activities.size(), 1u);
    ASSERT_GE(records.clock_pairs.size(), 2u);
    EXPECT_GE(records.activities[0].start,
              records.clock_pairs.front().device_time);
    EXPECT_LE(records.activities[0].start,
              records.clock_pairs.back().device_time);
  }
}

// Kernels of 13.0 must not be disabled while CUDA runs.
TEST(CuptiSource, K3_04_ThePolicyOfStoppingFollowsTheVersion) {
  CuptiMachine machine;
  machine.library.version = 130000;
  (void)open_tap().close();
  EXPECT_EQ(machine.library.calls_of("cuptiActivityDisable"), 6u);
  EXPECT_EQ(machine.library.kinds_on(), 1u);
  EXPECT_FALSE(machine.library.subscribed());
  machine.library.launch();  // asks for a buffer, perhaps, and gets none
}

TEST(CuptiSource, K3_05_WhoDoesNotWantToWaitGetsWhatThereIs) {
  CuptiMachine machine;
  DeviceTap tap = open_tap({.wait_for_device = false});
  machine.library.launch();
  machine.library.launch({.unfinished = true});
  EXPECT_EQ(tap.close().accounts.kept, 1u);
  EXPECT_TRUE(machine.library.waits.empty());
  DeviceTap waits = open_tap();
  machine.library.launch({.unfinished = true});
  (void)waits.close();
  EXPECT_EQ(machine.library.waits, (std::map<int, int>{{0, 1}}));
}

// A signal to the process is the program's, and none of its handlers may run
// on a thread that it does not know.
TEST(CuptiSource, ItsThreadGetsNoSignals) {
  CuptiMachine machine;
  DeviceTap tap = open_tap();
  int found = 0;
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream comm(task.path() / "comm"), about(task.path() / "status");
    std::string name, line;
    std::getline(comm, name);
    if (name != "weft-cupti") continue;
    ++found;
    std::uint64_t blocked = 0;
    while (std::getline(about, line))
      if (line.rfind("SigBlk:", 0) == 0)
        blocked = std::stoull(line.substr(7), nullptr, 16);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGPROF})
      EXPECT_NE(blocked >> (signal - 1) & 1, 0u) << signal;
  }
  EXPECT_EQ(found, 1);
}

// CUDA does not survive a fork, and the parent's run must.
TEST(CuptiSource, AForkedChildCallsNothing) {
  auto machine = std::make_unique<CuptiMachine>();
  test::CuptiStandIn& library = machine->library;
  DeviceTap tap = open_tap();
  library.launch();
  const pid_t child = fork();
  if (child == 0) {
    // Waiting for the parent's thread would take for ever.
    alarm(30);
    const std::uint64_t before = library.calls_made;
    const bool refused = !DeviceTap::open(kCuda, {}).ok() &&
                         probe_device_source(kCuda).devices == 0;
    (void)tap.close();
    machine.reset();
    _exit(refused && library.calls_made == before ? 0 : 1);
  }
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  EXPECT_TRUE(WIFEXITED(state));
  EXPECT_EQ(WEXITSTATUS(state), 0);
  EXPECT_EQ(tap.close().accounts.kept, 1u);
}

}  // namespace
}  // namespace weft
