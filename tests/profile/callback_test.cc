// SPDX-License-Identifier: Apache-2.0

// Callbacks at the start and end of calls.

#include "weft/profile/record_callback.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "weft/profile/profiler.h"
#include "weft/profile/record_function.h"
#include "weft/profile/thread_local_state.h"

namespace weft {
namespace {

// Leaves no callback behind, whatever the test did.
class RecordCallbacks : public testing::Test {
 protected:
  ~RecordCallbacks() override {
    clear_global_callbacks();
    clear_thread_local_callbacks();
  }

  RecordCallback noting(const std::string& name) {
    return RecordCallback(
        [this, name](const FunctionCall& call) {
          log.push_back(name + " starts " + std::string(call.name));
          return nullptr;
        },
        [this, name](const FunctionCall& call, CallbackContext*) {
          log.push_back(name + " ends " + std::string(call.name));
        });
  }
  RecordCallback counting() {
    return RecordCallback::at_start([this](const FunctionCall&) { ++count; });
  }

  std::vector<std::string> log;
  int count = 0;
};

void call(const char* name = "call") {
  RecordFunction function;
  function.before(name);
}

TEST_F(RecordCallbacks, RunWithoutAnySession) {
  EXPECT_FALSE(has_global_callbacks());
  const auto handle = add_global_callback(noting("g"));
  ASSERT_TRUE(handle.ok());
  EXPECT_NE(*handle, CallbackHandle::kNone);
  EXPECT_TRUE(has_global_callbacks());
  {
    WEFT_RECORD_FUNCTION("static");
    log.push_back("body");
  }
  EXPECT_EQ(log, (std::vector<std::string>{"g starts static", "body",
                                           "g ends static"}));
  EXPECT_TRUE(remove_callback(*handle));
  call();
  EXPECT_EQ(log.size(), 3u);
  EXPECT_FALSE(has_global_callbacks());
}

// D-30: ends run in reverse.
TEST_F(RecordCallbacks, D30_GlobalOnesStartFirstAndEndLast) {
  ASSERT_TRUE(add_thread_local_callback(noting("t")).ok());
  ASSERT_TRUE(add_global_callback(noting("g1")).ok());
  ASSERT_TRUE(add_global_callback(noting("g2")).ok());
  call("c");
  EXPECT_EQ(log, (std::vector<std::string>{"g1 starts c", "g2 starts c",
                                           "t starts c", "t ends c",
                                           "g2 ends c", "g1 ends c"}));
}

TEST_F(RecordCallbacks, HandlesGrowAndUnknownOnesAreRefused) {
  const auto first = add_global_callback(counting());
  const auto second = add_thread_local_callback(counting());
  EXPECT_LT(static_cast<std::uint64_t>(*first),
            static_cast<std::uint64_t>(*second));
  const auto unknown = static_cast<CallbackHandle>(~std::uint64_t{0});
  EXPECT_FALSE(remove_callback(unknown));
  EXPECT_FALSE(disable_callback(unknown));
  EXPECT_FALSE(reenable_callback(unknown));
  EXPECT_FALSE(remove_callback(CallbackHandle::kNone));
  call();
  EXPECT_EQ(count, 2);
}

TEST_F(RecordCallbacks, AreDisabledAndReenabledByHandle) {
  const auto handle = add_global_callback(counting());
  EXPECT_TRUE(disable_callback(*handle));
  call();
  EXPECT_EQ(count, 0);
  EXPECT_TRUE(reenable_callback(*handle));
  call();
  EXPECT_EQ(count, 1);
}

TEST_F(RecordCallbacks, OfAThreadAreItsOwnAndInherited) {
  ASSERT_TRUE(add_thread_local_callback(counting()).ok());
  EXPECT_TRUE(has_thread_local_callbacks());
  const ThreadLocalStateSnapshot state;
  std::thread other([&] {
    EXPECT_FALSE(has_thread_local_callbacks());
    call();
    const ThreadLocalStateGuard inherited(state);
    EXPECT_TRUE(has_thread_local_callbacks());
    call();
  });
  other.join();
  EXPECT_EQ(count, 1);
  clear_thread_local_callbacks();
  call();
  EXPECT_EQ(count, 1);
}

TEST_F(RecordCallbacks, GuardsTurnThemOffForTheThread) {
  ASSERT_TRUE(add_global_callback(counting()).ok());
  {
    const RecordFunctionGuard off(Callbacks::kOff);
    call();
    {
      const RecordFunctionGuard on;
      call();
    }
    call();
  }
  EXPECT_EQ(count, 1);
  call();
  EXPECT_EQ(count, 2);
}

TEST_F(RecordCallbacks, ScopesAreFiltered) {
  ASSERT_TRUE(add_global_callback(
                  counting().scopes({RecordScope::kUserScope,
                                     RecordScope::kCustomClass}))
                  .ok());
  call();
  EXPECT_EQ(count, 0);
  {
    WEFT_RECORD_USER_SCOPE("user");
  }
  RecordFunction custom(RecordScope::kCustomClass);
  custom.before("custom");
  EXPECT_EQ(count, 2);
  ASSERT_TRUE(add_global_callback(counting().scopes({})).ok());
  call();
  EXPECT_EQ(count, 3) << "no scopes are all scopes";
}

TEST_F(RecordCallbacks, KeepAContextFromStartToEnd) {
  struct Number : CallbackContext {
    int value = 7;
  };
  int seen = 0;
  ASSERT_TRUE(add_global_callback(
                  RecordCallback(
                      [](const FunctionCall&) {
                        return std::make_unique<Number>();
                      },
                      [&](const FunctionCall&, CallbackContext* context) {
                        seen = dynamic_cast<Number&>(*context).value;
                      }))
                  .ok());
  call();
  EXPECT_EQ(seen, 7);
}

TEST_F(RecordCallbacks, ThatThrowAreCountedAndTheirEndStillRuns) {
  bool ended_without_context = false;
  ASSERT_TRUE(
      add_global_callback(
          RecordCallback(
              [](const FunctionCall&) -> std::unique_ptr<CallbackContext> {
                throw std::runtime_error("start");
              },
              [&](const FunctionCall&, CallbackContext* context) {
                ended_without_context = context == nullptr;
                throw std::runtime_error("end");
              }))
          .ok());
  ASSERT_TRUE(add_global_callback(counting()).ok());
  const std::uint64_t before = callback_statistics().thrown;
  EXPECT_NO_THROW(call());
  EXPECT_TRUE(ended_without_context);
  EXPECT_EQ(callback_statistics().thrown, before + 2);
  EXPECT_EQ(count, 1) << "the others run";
}

TEST_F(RecordCallbacks, RemovedWhileACallIsOpenDoNotEnd) {
  const auto handle = add_global_callback(noting("g"));
  const std::uint64_t before = callback_statistics().ends_not_run;
  {
    WEFT_RECORD_FUNCTION("open");
    remove_callback(*handle);
  }
  EXPECT_EQ(log, std::vector<std::string>{"g starts open"});
  EXPECT_EQ(callback_statistics().ends_not_run, before + 1);
}

TEST_F(RecordCallbacks, CallsInsideACallbackRunNone) {
  ASSERT_TRUE(add_global_callback(RecordCallback::at_start(
                                      [this](const FunctionCall&) {
                                        ++count;
                                        call("from a callback");
                                      }))
                  .ok());
  Profiler profiler;
  ASSERT_TRUE(profiler.start().ok());
  call("outer");
  ASSERT_TRUE(profiler.stop().ok());
  EXPECT_EQ(count, 1);
  EXPECT_EQ(profiler.events()->size(), 2u) << "but they are recorded";
}

TEST_F(RecordCallbacks, InputsAndOutputsAreEvaluatedWhenNeeded) {
  int evaluated = 0;
  const auto operation = [&] {
    WEFT_RECORD_FUNCTION("op", ++evaluated, ArrayInput{"int", nullptr, 0});
  };
  ASSERT_TRUE(add_global_callback(counting()).ok());
  operation();
  EXPECT_EQ(evaluated, 0) << "nobody needs inputs";
  std::string inputs, outputs;
  std::size_t num_inputs = 0;
  ASSERT_TRUE(add_global_callback(
                  RecordCallback(
                      [&](const FunctionCall& call) {
                        inputs = call.inputs_text;
                        num_inputs = call.num_inputs;
                        return nullptr;
                      },
                      [&](const FunctionCall& call, CallbackContext*) {
                        outputs = call.outputs_text;
                      })
                      .needs_inputs()
                      .needs_outputs())
                  .ok());
  operation();
  EXPECT_EQ(evaluated, 1);
  EXPECT_EQ(inputs, "1 int[]");
  EXPECT_EQ(num_inputs, 2u);
  RecordFunction explicit_call;
  explicit_call.before("op", 3);
  explicit_call.set_outputs(4.5);
  explicit_call.end();
  EXPECT_EQ(inputs, "3");
  EXPECT_EQ(outputs, "4.5");
}

TEST_F(RecordCallbacks, IdsAreGivenWhenNeeded) {
  std::vector<std::uint64_t> handles;
  const auto note = [&](const FunctionCall& call) {
    handles.push_back(call.handle);
  };
  const auto plain = add_global_callback(RecordCallback::at_start(note));
  call();
  ASSERT_TRUE(remove_callback(*plain));
  ASSERT_TRUE(
      add_global_callback(RecordCallback::at_start(note).needs_ids()).ok());
  call();
  call();
  ASSERT_EQ(handles.size(), 3u);
  EXPECT_EQ(handles[0], 0u);
  EXPECT_GT(handles[1], 0u);
  EXPECT_EQ(handles[2], handles[1] + 1);
}

TEST_F(RecordCallbacks, SeeWhatTheCallIs) {
  FunctionCall seen;
  std::string name;
  ASSERT_TRUE(add_global_callback(
                  RecordCallback::at_start([&](const FunctionCall& call) {
                    seen = call;
                    name = call.name;
                  }))
                  .ok());
  const BackwardScope scope(SequenceNr(12), static_cast<ThreadIndex>(3));
  RecordFunction backward(RecordScope::kBackwardFunction);
  backward.before("AddBackward");
  EXPECT_EQ(name, "AddBackward");
  EXPECT_EQ(seen.scope, RecordScope::kBackwardFunction);
  EXPECT_EQ(seen.sequence_nr, 12);
  EXPECT_EQ(seen.forward_thread, static_cast<ThreadIndex>(3));
  EXPECT_FALSE(seen.has_inputs);
}

TEST_F(RecordCallbacks, ProbabilitiesOutsideOfTheirRangeAreRefused) {
  for (const double wrong : {-0.1, 1.1, 0.0 / 0.0}) {
    const auto refused = add_global_callback(counting().sampling_prob(wrong));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(has_global_callbacks());
}

// D-30: 0 is never, and waiting samples evaluate no inputs.
TEST_F(RecordCallbacks, D30_ZeroIsNeverAndEvaluatesNothing) {
  ASSERT_TRUE(
      add_global_callback(counting().sampling_prob(0).needs_inputs()).ok());
  int evaluated = 0;
  for (int i = 0; i < 1000; ++i) {
    WEFT_RECORD_FUNCTION("op", ++evaluated);
  }
  EXPECT_EQ(count, 0);
  EXPECT_EQ(evaluated, 0);
}

TEST_F(RecordCallbacks, SampledOnesFireAsOftenAsTheyShouldAndRepeatably) {
  seed_callback_sampling(42);
  int evaluated = 0;
  const auto run = [&] {
    const int before = count;
    for (int i = 0; i < 10'000; ++i) {
      WEFT_RECORD_FUNCTION("op", ++evaluated);
    }
    return count - before;
  };
  ASSERT_TRUE(
      add_global_callback(counting().sampling_prob(0.1).needs_inputs()).ok());
  const int first = run();
  // Of 10,000 with p = 0.1: 1000 +- 5 standard deviations of 30.
  EXPECT_GT(first, 850);
  EXPECT_LT(first, 1150);
  EXPECT_EQ(evaluated, count) << "inputs of those alone that fire";
  seed_callback_sampling(42);
  EXPECT_EQ(run(), first);
}

// 2.3.4: starts and ends are drawn together.
TEST_F(RecordCallbacks, ASampledEndFollowsItsStart) {
  seed_callback_sampling(7);
  ASSERT_TRUE(add_global_callback(noting("s").sampling_prob(0.5)).ok());
  for (int i = 0; i < 100; ++i) call("c");
  ASSERT_FALSE(log.empty());
  ASSERT_EQ(log.size() % 2, 0u);
  for (std::size_t i = 0; i < log.size(); i += 2) {
    EXPECT_EQ(log[i], "s starts c");
    EXPECT_EQ(log[i + 1], "s ends c");
  }
}

TEST_F(RecordCallbacks, RunBesideASessionThatRecords) {
  ASSERT_TRUE(add_global_callback(counting().needs_ids()).ok());
  Profiler profiler({.record_shapes = true});
  ASSERT_TRUE(profiler.start().ok());
  {
    WEFT_RECORD_FUNCTION("op", 5);
  }
  ASSERT_TRUE(profiler.stop().ok());
  EXPECT_EQ(count, 1);
  ASSERT_EQ(profiler.events()->size(), 1u);
  const FunctionEvent event = (*profiler.events())[0];
  EXPECT_TRUE(event.finished);
  EXPECT_EQ(event.facts->concrete_inputs, std::vector<std::string>{"5"});
  EXPECT_NE(event.facts->handle, 0u);
}

TEST_F(RecordCallbacks, OnManyThreadsWhileTheyChange) {
  std::atomic<int> starts{0}, ends{0};
  std::atomic<bool> done{false};
  std::thread changer([&] {
    while (!done.load()) {
      const auto handle = add_global_callback(RecordCallback(
          [&](const FunctionCall&) {
            ++starts;
            return nullptr;
          },
          [&](const FunctionCall&, CallbackContext*) { ++ends; }));
      while (starts.load() == 0 && !done.load()) std::this_thread::yield();
      remove_callback(*handle);
    }
  });
  const std::uint64_t not_run = callback_statistics().ends_not_run;
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i)
    callers.emplace_back([] {
      for (int n = 0; n < 2000; ++n) {
        WEFT_RECORD_FUNCTION("op");
      }
    });
  for (std::thread& caller : callers) caller.join();
  done.store(true);
  changer.join();
  EXPECT_EQ(static_cast<std::uint64_t>(starts.load()),
            static_cast<std::uint64_t>(ends.load()) +
                callback_statistics().ends_not_run - not_run);
}

}  // namespace
}  // namespace weft
