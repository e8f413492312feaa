// SPDX-License-Identifier: Apache-2.0

// What is said of a vendor's library that is not there, or not whole.

#include "cupti/library.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cupti/refusal.h"
#include "cupti/versions.h"

namespace weft::cupti {
namespace {

int driver_version(int* version) {
  *version = 12080;
  return 0;
}
int driver_fails(int*) {
  return 3;
}
std::uint32_t g_version = 27;
int cupti_version(std::uint32_t* version) {
  *version = g_version;
  return 0;
}
int never_called() {
  ADD_FAILURE() << "called";
  return 999;
}

// Libraries that exist only in a test.
class Machine {
 public:
  std::set<std::string> files = {"libcuda.so.1", "libcupti.so.12"};
  std::set<std::string> resident;
  std::set<std::string> missing;  // symbols
  bool driver_answers = true;
  std::vector<std::string> opened;
  std::set<std::string> asked;

  Linker linker() {
    return {[this](const std::string& name, bool resident_only) -> void* {
              if (!resident_only) opened.push_back(name);
              const auto& there = resident_only ? resident : files;
              const auto found = there.find(name);
              return found == there.end() ? nullptr
                                          : const_cast<std::string*>(&*found);
            },
            [this](void*, const char* symbol) -> void* {
              asked.insert(symbol);
              if (missing.count(symbol) != 0) return nullptr;
              if (std::string(symbol) == "cuDriverGetVersion")
                return reinterpret_cast<void*>(driver_answers ? &driver_version
                                                              : &driver_fails);
              if (std::string(symbol) == "cuptiGetVersion")
                return reinterpret_cast<void*>(&cupti_version);
              return reinterpret_cast<void*>(&never_called);
            }};
  }
  std::string refusal(const LibraryNames& names = {}) {
    const Result<Libraries> opened_now = open_libraries(names, linker());
    if (opened_now.ok()) return "";
    EXPECT_EQ(opened_now.error().code, ErrorCode::kUnavailable);
    return opened_now.error().message;
  }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(CuptiLibrary, WithoutADriverCuptiIsNotEvenLookedFor) {
  Machine machine;
  machine.files.erase("libcuda.so.1");
  EXPECT_EQ(machine.refusal(),
            "no NVIDIA driver on this machine (libcuda.so.1 not found)");
  EXPECT_EQ(machine.opened, std::vector<std::string>{"libcuda.so.1"});
  machine.files.insert("libcuda.so.1");
  machine.driver_answers = false;
  EXPECT_TRUE(has(machine.refusal(), "does not say its version (error 3)"));
}

// A server that forks workers must not get CUDA from its tracer.
TEST(CuptiLibrary, ADriverThatTheProgramDidNotLoadIsLeftAlone) {
  Machine machine;
  const LibraryNames automatic{.load_driver = false};
  EXPECT_TRUE(has(machine.refusal(automatic), "WEFT_GPU=auto waits"));
  EXPECT_TRUE(machine.opened.empty());
  machine.resident = {"libcuda.so.1"};
  EXPECT_EQ(machine.refusal(automatic), "");
}

TEST(CuptiLibrary, AMissingCuptiNamesTheDriversCudaAndTheRemedy) {
  Machine machine;
  machine.files.erase("libcupti.so.12");
  const std::string text = machine.refusal();
  EXPECT_TRUE(has(text, "driver for CUDA 12.8 found")) << text;
  EXPECT_TRUE(has(text, "set WEFT_CUPTI_LIBRARY")) << text;
  EXPECT_TRUE(has(machine.refusal({.cupti = "/no/libcupti.so"}),
                  "/no/libcupti.so not"));
}

// CUDA 11 put the minor number into the soname, 12 and 13 do not.
TEST(CuptiLibrary, EverySonameFromCuda11To13IsTried) {
  const std::vector<std::string> names = cupti_candidates({});
  for (const char* soname :
       {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
        "libcupti.so.11.4", "libcupti.so.11.0"}) {
    EXPECT_EQ(std::count(names.begin(), names.end(), soname), 1) << soname;
    Machine machine;
    machine.files = {"libcuda.so.1", soname};
    EXPECT_EQ(machine.refusal(), "") << soname;
  }
  EXPECT_EQ(cupti_candidates({.cupti = "mine"}),
            std::vector<std::string>{"mine"});
}

// Two copies in one process would be two subscribers.
TEST(CuptiLibrary, ACuptiThatIsLoadedAlreadyGoesFirst) {
  Machine machine;
  machine.files.insert("libcupti.so.13");
  machine.resident = {"libcupti.so.12"};
  const Result<Libraries> opened = open_libraries({}, machine.linker());
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_EQ(opened->path, "libcupti.so.12");
  EXPECT_EQ(opened->cupti_version, 27u);
}

// CUPTI of CUDA 13 is of no use with a driver of CUDA 12.
TEST(CuptiLibrary, OneThatTheDriverIsNewEnoughForGoesFirst) {
  Machine machine;  // its driver is 12.8
  machine.files.insert("libcupti.so.13");
  const Result<Libraries> opened = open_libraries({}, machine.linker());
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_EQ(opened->path, "libcupti.so.12");
  machine.files.erase("libcupti.so.12");
  EXPECT_EQ(machine.refusal(), "") << "better than none: it says so itself";
}

// Half a library must not be used: the missing call may be the one that stops.
TEST(CuptiLibrary, EachMissingSymbolIsRefusedByNameOrNotNeeded) {
  Machine whole;
  ASSERT_EQ(whole.refusal(), "");
  std::set<std::string> refused;
  for (const std::string& symbol : whole.asked) {
    Machine machine;
    machine.missing = {symbol};
    const std::string text = machine.refusal();
    if (text.empty()) continue;
    EXPECT_TRUE(has(text, "lacks " + symbol)) << text;
    refused.insert(symbol);
  }
  EXPECT_EQ(
      refused,
      (std::set<std::string>{
          "cuDriverGetVersion", "cuptiActivityDisable", "cuptiActivityEnable",
          "cuptiActivityFlushAll", "cuptiActivityGetNextRecord",
          "cuptiActivityGetNumDroppedRecords", "cuptiActivityRegisterCallbacks",
          "cuptiEnableCallback", "cuptiEnableDomain", "cuptiGetCallbackName",
          "cuptiGetTimestamp", "cuptiGetVersion", "cuptiSubscribe",
          "cuptiUnsubscribe"}));
}

TEST(CuptiLibrary, AnOldVersionIsRefused) {
  g_version = 12;
  Machine machine;
  EXPECT_TRUE(has(machine.refusal(), "too old"));
  g_version = 27;
}

// The rows of ../shared/design/gpu.md 3.4.
TEST(CuptiVersions, EachReleaseIsTrustedWithWhatItCanDo) {
  EXPECT_TRUE(policy_for(0).refused);
  EXPECT_TRUE(policy_for(12).refused);
  for (const std::uint32_t version :
       {13u, 17u, 18u, 23u, 24u, 26u, 27u, 28u, 130000u, 130001u, 130100u,
        130101u, 130200u, 130303u, 140000u, 4'294'967'295u})
    EXPECT_FALSE(policy_for(version).refused) << version;
  EXPECT_EQ(policy_for(17).timestamp, TimestampUse::kNever);
  EXPECT_EQ(policy_for(18).timestamp, TimestampUse::kBeforeContexts);
  for (const std::uint32_t bad : {24u, 28u, 130000u, 130001u, 130099u})
    EXPECT_EQ(policy_for(bad).timestamp, TimestampUse::kNever) << bad;
  EXPECT_EQ(policy_for(130100).timestamp, TimestampUse::kBeforeContexts);
  EXPECT_EQ(policy_for(130303).timestamp, TimestampUse::kAlways);
  EXPECT_FALSE(policy_for(26).may_refuse_buffers);
  EXPECT_TRUE(policy_for(27).may_refuse_buffers);
  EXPECT_FALSE(policy_for(130000).may_disable_kernels);
  EXPECT_TRUE(policy_for(130001).may_disable_kernels);
  EXPECT_TRUE(policy_for(130100).graph_joins_unsure);
  EXPECT_FALSE(policy_for(130101).graph_joins_unsure);
}

TEST(CuptiRefusal, EveryCodeHasWordsAndItsNumber) {
  EXPECT_TRUE(has(words_for(39), "another profiler"));
  EXPECT_TRUE(has(words_for(35), "no permission"));
  for (const int code : {2, 12, 15, 999, 12345})
    EXPECT_TRUE(has(words_for(code), std::to_string(code))) << code;
}

}  // namespace
}  // namespace weft::cupti
