// SPDX-License-Identifier: Apache-2.0
#include "call_stack.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "code_address.h"
#include "ringbuf/single_step.h"
#include "runtime/scale.h"
#include "stack_table.h"
#include "weft/profile/captured_stack.h"
#include "weft/session.h"

namespace weft::profile {
namespace {

__attribute__((noinline)) StringId stack_here() { return call_stack(walk_start()); }

// Calls itself, then `call`; keeps each of its frames, since it has something to
// do afterwards.
volatile int depth_left = 0;
template <class F>
__attribute__((noinline)) void at_depth(int depth, const F& call) {
  if (depth > 0) {
    at_depth(depth - 1, call);
  } else {
    call();
  }
  depth_left = depth;
}

class CallStack : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(weft::init("/dev/null").ok());
    const auto ready = prepare_call_stacks();
    ASSERT_TRUE(ready.ok()) << ready.error().message;
  }
  void TearDown() override { weft::shutdown(); }
};

// A record carries one id; a stack that comes again must not be described again.
TEST_F(CallStack, EqualStacksHaveOneId) {
  std::vector<StringId> stacks(1000);
  const std::uint64_t before = call_stack_counts().described;
  for (StringId& stack : stacks) stack = stack_here();
  // Once more if frame pointers were found not to hold.
  EXPECT_LE(call_stack_counts().described - before, 2u);
  EXPECT_GE(call_stack_counts().described - before, 1u);
  EXPECT_NE(stacks[0], StringId::kNone);
  EXPECT_EQ(stacks, std::vector<StringId>(1000, stacks[0]));
}

TEST_F(CallStack, DifferentStacksHaveDifferentIds) {
  StringId shallow = StringId::kNone;
  StringId deep = StringId::kNone;
  at_depth(3, [&] { shallow = stack_here(); });
  at_depth(4, [&] { deep = stack_here(); });
  EXPECT_NE(shallow, deep);
}

// A recursion without end must cost a bounded walk, and be told.
TEST_F(CallStack, DeepStacksKeepTheInnermostFramesAndAreMarked) {
  WalkedStack stack;
  at_depth(1000, [&] { unwind(walk_start(), stack); });
  EXPECT_EQ(stack.count, kMaxStackFrames);
  EXPECT_TRUE(stack.cut);
  WalkedStack whole;
  at_depth(3, [&] { unwind(walk_start(), whole); });
  EXPECT_FALSE(whole.cut);
}

TEST_F(CallStack, FramePointersGiveWhatTheUnwinderGives) {
  know_this_stack();
  at_depth(5, [&] {
    const WalkStart start = walk_start();
    WalkedStack by_pointers;
    WalkedStack unwound;
    ASSERT_TRUE(may_walk_frame_pointers(start));
    walk_frame_pointers(start, by_pointers);
    unwind(start, unwound);
    // Those of at_depth(); who knows how the framework below was built.
    ASSERT_GE(by_pointers.count, 6u);
    ASSERT_GE(unwound.count, 6u);
    for (std::size_t i = 0; i < 6; ++i)
      EXPECT_EQ(by_pointers.frames[i], unwound.frames[i]) << i;
  });
}

// In a process of its own: the switch is for good.
TEST_F(CallStack, OneStackThatDiffersEndsFramePointers) {
  know_this_stack();
  const auto end_them = [] {
    const WalkStart start = walk_start();
    WalkedStack by_pointers;
    walk_frame_pointers(start, by_pointers);
    WalkedStack other = by_pointers;
    ++other.frames[0];
    const bool before = may_walk_frame_pointers(start);
    const bool hold = frame_pointers_hold(by_pointers, other);
    _exit(before && !hold && !may_walk_frame_pointers(start) ? 0 : 1);
  };
  EXPECT_EXIT(end_them(), testing::ExitedWithCode(0), "");
}

// Frames that are missing in the middle look like a shorter stack.
TEST_F(CallStack, FramePointersThatSkipFramesOfTheProgramDoNotHold) {
  know_this_stack();
  const auto skip = [] {
    WalkedStack unwound;
    at_depth(5, [&] { unwind(walk_start(), unwound); });
    WalkedStack shorter = unwound;
    shorter.count = 2;
    _exit(frame_pointers_hold(shorter, unwound) ? 1 : 0);
  };
  EXPECT_EXIT(skip(), testing::ExitedWithCode(0), "");
}

// Saved words of such a stack may lead anywhere.
TEST_F(CallStack, StacksThatTheSystemDidNotGiveAreUnwound) {
  know_this_stack();
  static std::array<char, 256 << 10> memory;
  static bool may_walk = true;
  static StringId stack = StringId::kNone;
  stack_t alternate = {};
  alternate.ss_sp = memory.data();
  alternate.ss_size = memory.size();
  stack_t before = {};
  ASSERT_EQ(sigaltstack(&alternate, &before), 0);
  struct sigaction action = {};
  action.sa_flags = SA_ONSTACK;
  action.sa_handler = [](int) {
    may_walk = may_walk_frame_pointers(walk_start());
    stack = stack_here();
  };
  struct sigaction old = {};
  ASSERT_EQ(sigaction(SIGUSR1, &action, &old), 0);
  raise(SIGUSR1);
  sigaction(SIGUSR1, &old, nullptr);
  sigaltstack(&before, nullptr);
  EXPECT_FALSE(may_walk);
  EXPECT_NE(stack, StringId::kNone);
}

TEST_F(CallStack, AThreadWhoseStackIsNotKnownIsUnwound) {
  bool may_walk = true;
  StringId stack = StringId::kNone;
  std::thread([&] {
    may_walk = may_walk_frame_pointers(walk_start());
    stack = stack_here();
  }).join();
  EXPECT_FALSE(may_walk);
  EXPECT_NE(stack, StringId::kNone);
}

// Its strings are numbered anew: an id of the parent's would name another text.
TEST_F(CallStack, AForkedChildKnowsNoneOfItsParentsStacks) {
  // Their children cannot make threads, or cannot allocate.
  if (test::kSlowdown != 1) GTEST_SKIP() << "a sanitizer's child cannot";
  stack_here();
  const pid_t child = fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    const StringId unknown = stack_here();
    const bool begun = weft::init("/dev/null").ok();
    const std::uint64_t before = call_stack_counts().described;
    const StringId stack = stack_here();
    _exit(unknown == StringId::kNone && begun && stack != StringId::kNone &&
                  call_stack_counts().described == before + 1
              ? 0
              : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(CallStack, AddressesBelongToTheModuleThatHoldsThem) {
  CodeModule own;
  ASSERT_TRUE(find_module(reinterpret_cast<std::uintptr_t>(&stack_here), &own));
  EXPECT_TRUE(own.path.empty());
  CodeModule libc;
  ASSERT_TRUE(find_module(reinterpret_cast<std::uintptr_t>(&mallinfo2), &libc));
  EXPECT_NE(libc.path.find("/libc"), std::string_view::npos) << libc.path;
  EXPECT_EQ(libc.build_id.size(), 20u);
  CodeModule none;
  EXPECT_FALSE(find_module(16, &none));
}

#ifdef WEFT_TEST_CAN_SINGLE_STEP

}  // namespace
}  // namespace weft::profile

// The sanitizers have a malloc of their own; here each call of a thread counts.
namespace {
constinit thread_local std::uint64_t allocations = 0;
}
extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" void* __libc_calloc(std::size_t count, std::size_t bytes);
extern "C" void* malloc(std::size_t bytes) noexcept {
  ++allocations;
  return __libc_malloc(bytes);
}
extern "C" void* calloc(std::size_t count, std::size_t bytes) noexcept {
  ++allocations;
  return __libc_calloc(count, bytes);
}

namespace weft::profile {
namespace {

std::string counted;

// A lock or an allocation in a signal handler may stop the program for ever.
TEST_F(CallStack, NothingIsAllocatedForNewOrKnownStacks) {
  stack_here();
  const std::uint64_t before = allocations;
  for (int depth = 0; depth < 50; ++depth) at_depth(depth, [] { stack_here(); });
  EXPECT_EQ(allocations, before);
  // The count itself works.
  std::string(1000, 'x').swap(counted);
  EXPECT_GT(allocations, before);
}

volatile sig_atomic_t steps = 0;
volatile sig_atomic_t missing = 0;

class CallStackSignal : public ringbuf::SingleStepTest {
 protected:
  CallStackSignal()
      : SingleStepTest([](int) {
          steps = steps + 1;
          if (stack_here() == StringId::kNone) missing = missing + 1;
        }) {}
  void SetUp() override {
    ASSERT_TRUE(weft::init("/dev/null").ok());
    ASSERT_TRUE(prepare_call_stacks().ok());
    SingleStepTest::SetUp();
  }
  void TearDown() override {
    SingleStepTest::TearDown();
    weft::shutdown();
  }
};

// A handler may take a stack wherever it interrupts the taking of one.
TEST_F(CallStackSignal, AHandlerTakesAStackAtEveryInstructionOfTakingOne) {
  StringId new_stack = StringId::kNone;
  StringId known_stack = StringId::kNone;
  for (StringId* stack : {&new_stack, &known_stack}) {
    ringbuf::set_trap_flag();
    *stack = stack_here();
    ringbuf::clear_trap_flag();
  }
  EXPECT_GT(steps, 1000);
  EXPECT_EQ(missing, 0);
  EXPECT_NE(new_stack, StringId::kNone);
  EXPECT_EQ(known_stack, new_stack);
}

#endif  // WEFT_TEST_CAN_SINGLE_STEP

TEST(StackTable, KeepsAndFinds) {
  StackTable table;
  EXPECT_FALSE(table.keep(7, StringId(3)));
  ASSERT_TRUE(table.reserve());
  EXPECT_EQ(table.find(7), StringId::kNone);
  EXPECT_TRUE(table.keep(7, StringId(3)));
  EXPECT_TRUE(table.keep(0, StringId(4)));
  // Another with the same place.
  EXPECT_TRUE(table.keep(7 + StackTable::kPlaces, StringId(5)));
  EXPECT_EQ(table.find(7), StringId(3));
  EXPECT_EQ(table.find(0), StringId(4));
  EXPECT_EQ(table.find(7 + StackTable::kPlaces), StringId(5));
}

TEST(StackTable, RefusesWhenThereIsNoPlaceNearby) {
  StackTable table;
  ASSERT_TRUE(table.reserve());
  for (std::size_t i = 1; i <= StackTable::kMaxProbes; ++i)
    EXPECT_TRUE(table.keep(i * StackTable::kPlaces, StringId(1)));
  const std::uint64_t one_more =
      (StackTable::kMaxProbes + 1) * StackTable::kPlaces;
  EXPECT_FALSE(table.keep(one_more, StringId(2)));
  EXPECT_EQ(table.find(one_more), StringId::kNone);
}

// Readers must never see the text of another stack.
TEST(StackTable, ThreadsThatKeepTheSameStacksAgree) {
  StackTable table;
  ASSERT_TRUE(table.reserve());
  constexpr std::uint32_t kStacks = 5000;
  std::vector<std::thread> threads;
  std::atomic<std::uint64_t> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (std::uint32_t i = 1; i <= kStacks; ++i) {
        const std::uint64_t hash = std::uint64_t{i} * 0x9e3779b97f4a7c15u;
        const StringId found = table.find(hash);
        if (found != StringId::kNone && found != StringId(i)) ++wrong;
        table.keep(hash, StringId(i));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
  for (std::uint32_t i = 1; i <= kStacks; ++i)
    EXPECT_EQ(table.find(std::uint64_t{i} * 0x9e3779b97f4a7c15u), StringId(i));
}

TEST(CapturedStack, TextIsTakenApart) {
  const auto stack = parse_captured_stack("2f+1a2b;0+7fff00;31+1;...");
  ASSERT_TRUE(stack.has_value());
  ASSERT_EQ(stack->frames.size(), 3u);
  EXPECT_EQ(stack->frames[0].module, StringId(0x2f));
  EXPECT_EQ(stack->frames[0].offset, 0x1a2bu);
  EXPECT_EQ(stack->frames[1].module, StringId::kNone);
  EXPECT_TRUE(stack->cut);
  EXPECT_FALSE(parse_captured_stack("2f+1")->cut);
}

TEST(CapturedStack, OtherTextIsRefused) {
  for (const char* text :
       {"", "...", ";", "2f", "+", "2f+", "+1", "2f+1;", "2f+1;;2f+1", "2f+1;..",
        "g+1", "2f+1 ", "-1+1", "100000000+1", "1+10000000000000000",
        "2f+1;...;2f+1"})
    EXPECT_FALSE(parse_captured_stack(text).has_value()) << text;
}

TEST(CapturedStack, ModulesAreTakenApart) {
  const auto module =
      parse_loaded_module("module 8f3c 7f00a000 32000 /opt/a b/lib.so");
  ASSERT_TRUE(module.has_value());
  EXPECT_EQ(*module,
            (LoadedModule{"8f3c", 0x7f00a000, 0x32000, "/opt/a b/lib.so"}));
  EXPECT_EQ(parse_loaded_module("module - 0 1 /a")->build_id, "");
  for (const char* text :
       {"", "module", "module 8f 0 1", "other 8f 0 1 /a", "module 8f x 1 /a",
        "module 8f 0 -1 /a", "module 8F 0 1 /a", "module 8f3 0 1 /a",
        "module ../ab 0 1 /a"})
    EXPECT_FALSE(parse_loaded_module(text).has_value()) << text;
}

[[noreturn]] void ask_for_stacks_without_memory() {
  const rlimit nothing_more{0, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &nothing_more);
  const Result<void> ready = prepare_call_stacks();
  std::fputs(ready.ok() ? "ready" : ready.error().message.c_str(), stderr);
  std::_Exit(0);
}

// Field check K8-08: who asked for stacks and can have none learns why; a
// session's start returns this. In a process of its own: the memory is taken
// once.
TEST(CallStackDeathTest, K8_08_StacksThatCannotBeHadAreRefusedInWords) {
  if (test::kSlowdown != 1) GTEST_SKIP() << "a sanitizer needs the space";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(ask_for_stacks_without_memory(), testing::ExitedWithCode(0),
              "stacks: no memory for a table");
}

}  // namespace
}  // namespace weft::profile
