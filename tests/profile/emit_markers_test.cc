// SPDX-License-Identifier: Apache-2.0

// Calls as markers of other tools, seen by tools that write them down.

#include "weft/profile/emit_markers.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "marker_label.h"
#include "marker_log.h"
#include "weft/profile/profiler.h"
#include "weft/profile/record_callback.h"
#include "weft/profile/record_function.h"

namespace weft {
namespace {

using test::MarkerCall;
using test::MarkerLog;

FunctionCall call_named(std::string_view name) {
  FunctionCall call;
  call.name = name;
  return call;
}

TEST(MarkerLabel, IsTheNameAlone) {
  EXPECT_EQ(profile::marker_label(call_named("add"), false), "add");
}

// D-21: backward calls do not claim the sequence number as their own.
TEST(MarkerLabel, D21_SaysWhoseSequenceNumberItIs) {
  FunctionCall call = call_named("add");
  call.sequence_nr = 0;
  EXPECT_EQ(profile::marker_label(call, false), "add, seq = 0");
  call.scope = RecordScope::kBackwardFunction;
  EXPECT_EQ(profile::marker_label(call, false), "add, fwd_seq = 0");
  call.sequence_nr = -7;
  EXPECT_EQ(profile::marker_label(call, false), "add");
}

TEST(MarkerLabel, HasPartsInTheirOrder) {
  FunctionCall call = call_named("mm");
  call.sequence_nr = 3;
  call.handle = 12;
  InputWriter inputs;
  const std::int64_t sizes[] = {2, 3};
  inputs.array("float", sizes, 2);
  inputs.integer(5);
  inputs.begin_list();
  inputs.array("float", sizes, 1);
  inputs.array("float", sizes + 1, 1);
  inputs.end_list();
  call.inputs_text = inputs.text();
  EXPECT_EQ(profile::marker_label(call, true),
            "mm, seq = 3, op_id = 12, sizes = [[2, 3], [], [2], [3]]");
  EXPECT_EQ(profile::marker_label(call, false), "mm, seq = 3, op_id = 12");
}

TEST(MarkerLabel, CallsWithoutInputsHaveEmptySizes) {
  EXPECT_EQ(profile::marker_label(call_named("f"), true), "f, sizes = []");
}

struct Nvtx {
  using Emit = EmitNvtx;
  static constexpr const char* variable = "NVTX_INJECTION64_PATH";
  static constexpr const char* recorder = WEFT_NVTX_RECORDER;
};
struct Itt {
  using Emit = EmitItt;
  static constexpr const char* variable = "INTEL_LIBITTNOTIFY64";
  static constexpr const char* recorder = WEFT_ITT_RECORDER;
};

// The tool is loaded by the first emission of the process, and stays.
template <class Library>
class Markers : public testing::Test {
 protected:
  using Emit = typename Library::Emit;

  void SetUp() override {
    if (!Emit::available()) GTEST_SKIP() << "not in this build";
    setenv(Library::variable, Library::recorder, 1);
    load_tool();
    log().calls.clear();
  }
  void TearDown() override {
    clear_global_callbacks();
    clear_thread_local_callbacks();
  }

  static void load_tool() {
    Emit emit;
    ASSERT_TRUE(emit.start().ok());
    ASSERT_TRUE(emit.statistics().attached);
    ASSERT_TRUE(emit.stop().ok());
  }

  static MarkerLog& log() {
    void* const tool = dlopen(Library::recorder, RTLD_NOW | RTLD_NOLOAD);
    EXPECT_NE(tool, nullptr) << dlerror();
    return *reinterpret_cast<MarkerLog* (*)()>(
        dlsym(tool, "weft_test_marker_log"))();
  }

  static std::vector<std::string> labels() {
    std::vector<std::string> all;
    for (const MarkerCall& call : log().calls)
      all.push_back(call.begins ? call.label : ")");
    return all;
  }
};

using Libraries = testing::Types<Nvtx, Itt>;
class LibraryNames {
 public:
  template <class Library>
  static std::string GetName(int) {
    return std::is_same_v<Library, Nvtx> ? "Nvtx" : "Itt";
  }
};
TYPED_TEST_SUITE(Markers, Libraries, LibraryNames);

using Strings = std::vector<std::string>;

TYPED_TEST(Markers, NestAsCallsDo) {
  typename TestFixture::Emit emit;
  ASSERT_TRUE(emit.start().ok());
  {
    WEFT_RECORD_FUNCTION("outer");
    WEFT_RECORD_FUNCTION_SEQ(SequenceNr(7), "inner");
  }
  ASSERT_TRUE(emit.stop().ok());
  { WEFT_RECORD_FUNCTION("later"); }
  EXPECT_EQ(TestFixture::labels(),
            (Strings{"outer", "inner, seq = 7", ")", ")"}));
  EXPECT_EQ(emit.statistics().begun, 2u);
  EXPECT_EQ(emit.statistics().ended, 2u);
}

// D-22: an option that is accepted must show.
TYPED_TEST(Markers, D22_ShowShapesWhenAsked) {
  const ArrayInput input{"float", nullptr, 0};
  typename TestFixture::Emit emit({.record_shapes = true});
  ASSERT_TRUE(emit.start().ok());
  { WEFT_RECORD_FUNCTION("op", input, std::vector<std::int64_t>{1, 2}); }
  ASSERT_TRUE(emit.stop().ok());
  EXPECT_EQ(TestFixture::labels(), (Strings{"op, sizes = [[], []]", ")"}));
}

TYPED_TEST(Markers, OfOtherScopesAreLeftOut) {
  typename TestFixture::Emit emit({.scopes = {RecordScope::kUserScope}});
  ASSERT_TRUE(emit.start().ok());
  {
    WEFT_RECORD_FUNCTION("op");
    WEFT_RECORD_USER_SCOPE("mine");
  }
  ASSERT_TRUE(emit.stop().ok());
  EXPECT_EQ(TestFixture::labels(), (Strings{"mine", ")"}));
}

TYPED_TEST(Markers, WhatCannotBeHonouredIsRefused) {
  for (const auto& [option, name] :
       {std::pair{&MarkerOptions::profile_memory, "profile_memory"},
        {&MarkerOptions::with_stack, "with_stack"},
        {&MarkerOptions::with_flops, "with_flops"},
        {&MarkerOptions::with_modules, "with_modules"}}) {
    MarkerOptions options;
    options.*option = true;
    typename TestFixture::Emit emit(options);
    const auto started = emit.start();
    ASSERT_FALSE(started.ok()) << name;
    EXPECT_EQ(started.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(started.error().message.find(name), std::string::npos);
    EXPECT_FALSE(emit.running());
  }
  EXPECT_FALSE(has_thread_local_callbacks());
}

TYPED_TEST(Markers, ASecondStartIsRefused) {
  typename TestFixture::Emit emit;
  ASSERT_TRUE(emit.start().ok());
  EXPECT_EQ(emit.start().error().code, ErrorCode::kBusy);
  EXPECT_TRUE(emit.stop().ok());
  EXPECT_EQ(emit.stop().error().code, ErrorCode::kNotRunning);
  EXPECT_TRUE(emit.start().ok());
}

TYPED_TEST(Markers, AndSessionsOfOneThreadExcludeEachOther) {
  typename TestFixture::Emit emit;
  Profiler profiler;
  ASSERT_TRUE(profiler.start().ok());
  EXPECT_EQ(emit.start().error().code, ErrorCode::kBusy);
  ASSERT_TRUE(profiler.stop().ok());
  ASSERT_TRUE(emit.start().ok());
  EXPECT_TRUE(profiling());
  EXPECT_EQ(profiler.start().error().code, ErrorCode::kBusy);
  ASSERT_TRUE(emit.stop().ok());
  EXPECT_FALSE(profiling());
}

TYPED_TEST(Markers, SwitchedOffDoNothing) {
  typename TestFixture::Emit emit({.enabled = false, .with_stack = true});
  EXPECT_TRUE(emit.start().ok());
  EXPECT_EQ(emit.start().error().code, ErrorCode::kBusy);
  { WEFT_RECORD_FUNCTION("op"); }
  EXPECT_TRUE(emit.stop().ok());
  EXPECT_TRUE(TestFixture::labels().empty());
}

TYPED_TEST(Markers, TheDeviceIsWaitedForAtBothEdges) {
  int waits = 0;
  typename TestFixture::Emit emit({.synchronize = [&] { ++waits; }});
  ASSERT_TRUE(emit.start().ok());
  EXPECT_EQ(waits, 1);
  ASSERT_TRUE(emit.stop().ok());
  EXPECT_EQ(waits, 2);
}

// K8-07: a range without an end shifts all that follow it in the tool.
TYPED_TEST(Markers, K8_07_AreBalancedPerThreadWhenEmissionIsToggled) {
  constexpr int kThreads = 4;
  constexpr int kScopes = 2500;
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < kScopes / 2; ++i) {
        WEFT_RECORD_FUNCTION("outer");
        WEFT_RECORD_FUNCTION("inner");
      }
      ++done;
    });
  std::uint64_t begun = 0;
  // At least once with all of them at work, or over.
  do {
    typename TestFixture::Emit emit({.coverage = ThreadCoverage::kAllThreads});
    ASSERT_TRUE(emit.start().ok());
    { WEFT_RECORD_FUNCTION("toggler"); }
    ASSERT_TRUE(emit.stop().ok());
    begun += emit.statistics().begun;
  } while (done < kThreads);
  for (std::thread& thread : threads) thread.join();
  std::map<pid_t, int> open;
  std::uint64_t begins = 0;
  for (const MarkerCall& call : TestFixture::log().calls) {
    open[call.thread] += call.begins ? 1 : -1;
    ASSERT_GE(open[call.thread], 0);
    begins += call.begins ? 1 : 0;
  }
  for (const auto& [thread, count] : open) EXPECT_EQ(count, 0) << thread;
  EXPECT_GE(begins, begun);
  EXPECT_GE(begun, 1u);
}

TYPED_TEST(Markers, ACallThatIsOpenAtTheStopStillEnds) {
  typename TestFixture::Emit emit;
  ASSERT_TRUE(emit.start().ok());
  RecordFunction call;
  call.before("open");
  ASSERT_TRUE(emit.stop().ok());
  EXPECT_EQ(TestFixture::labels(), Strings{"open"});
  call.end();
  EXPECT_EQ(TestFixture::labels(), (Strings{"open", ")"}));
}

// Popped on another thread it would take a range of that one.
TYPED_TEST(Markers, ACallThatEndsElsewhereIsCountedNotEnded) {
  typename TestFixture::Emit emit;
  ASSERT_TRUE(emit.start().ok());
  auto call = std::make_unique<RecordFunction>();
  call->before("wanders");
  std::thread([&] { call = nullptr; }).join();
  ASSERT_TRUE(emit.stop().ok());
  EXPECT_EQ(TestFixture::labels(), Strings{"wanders"});
  EXPECT_EQ(emit.statistics().not_ended, 1u);
}

// In processes of their own: a library looks for its tool once.
template <class Emit>
void emit_without_a_tool(const char* variable) {
  unsetenv(variable);
  Emit emit;
  const bool started = emit.start().ok();
  { WEFT_RECORD_FUNCTION("op"); }
  const bool idle = !has_thread_local_callbacks() &&
                    !emit.statistics().attached &&
                    emit.statistics().begun == 0;
  std::exit(started && idle && emit.stop().ok() ? 0 : 1);
}

TEST(MarkersDeathTest, WithoutAToolNothingIsInstalled) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  if (EmitNvtx::available()) {
    EXPECT_EXIT(emit_without_a_tool<EmitNvtx>("NVTX_INJECTION64_PATH"),
                testing::ExitedWithCode(0), "");
  }
  if (EmitItt::available()) {
    EXPECT_EXIT(emit_without_a_tool<EmitItt>("INTEL_LIBITTNOTIFY64"),
                testing::ExitedWithCode(0), "");
  }
}

TEST(MarkersDeathTest, ABuildWithoutTheLibraryRefusesInWords) {
  if (EmitItt::available() && EmitNvtx::available())
    GTEST_SKIP() << "this build has both";
  if (!EmitItt::available()) {
    const auto started = EmitItt().start();
    EXPECT_EQ(started.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(started.error().message.find("ittapi"), std::string::npos);
  }
  if (!EmitNvtx::available()) {
    const auto started = EmitNvtx().start();
    EXPECT_EQ(started.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(started.error().message.find("NVTX"), std::string::npos);
  }
}

}  // namespace
}  // namespace weft
