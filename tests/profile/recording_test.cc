// SPDX-License-Identifier: Apache-2.0

// What calls carry: inputs, FLOPs, scopes, sequence numbers, modules, memory,
// events of backends, ends elsewhere; and which threads a session covers.

#include <gtest/gtest.h>

#include <coroutine>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "export/weft_file.h"
#include "runtime/collection.h"
#include "weft/clock.h"
#include "weft/profile/symbolizer.h"
#include "weft/profile/async_range.h"
#include "weft/profile/backend_event.h"
#include "weft/profile/function_input.h"
#include "weft/profile/memory_report.h"
#include "weft/profile/memory_summary.h"
#include "weft/profile/module_scope.h"
#include "weft/profile/profiler.h"
#include "weft/profile/record_function.h"
#include "weft/profile/thread_local_state.h"
#include "weft/weft.h"

namespace weft {
namespace {

// A tensor of the program's own, and how it describes itself.
struct Tensor {
  std::vector<std::int64_t> sizes;
};

struct Thrower {};

}  // namespace

template <>
struct InputTraits<Tensor> {
  static void describe(InputWriter& inputs, const Tensor& tensor) {
    inputs.array("float", tensor.sizes.data(), tensor.sizes.size());
  }
};

template <>
struct InputTraits<Thrower> {
  static void describe(InputWriter&, const Thrower&) { throw 1; }
};

namespace {

template <class Body>
std::shared_ptr<const ProfilerResult> profiled(ProfilerOptions options,
                                               const Body& body) {
  Profiler profiler(std::move(options));
  const Result<void> started = profiler.start();
  EXPECT_TRUE(started.ok()) << (started.ok() ? "" : started.error().message);
  body();
  EXPECT_TRUE(profiler.stop().ok());
  auto result = profiler.result();
  EXPECT_TRUE(result.ok());
  return *result;
}

const FunctionEvent* find(const ProfilerResult& result,
                          const std::string& name) {
  for (const FunctionEvent& event : result.events())
    if (event.name == name) return &event;
  ADD_FAILURE() << "no event " << name;
  static const FunctionEvent none;
  return &none;
}

const ProfilerOptions kShapes{.record_shapes = true};

TEST(Inputs, ShapesTypesAndValues) {
  const auto result = profiled(kShapes, [] {
    const Tensor a{{2, 3}};
    const std::vector<std::int64_t> strides{1, 1};
    const std::vector<Tensor> list{{{4}}, {{5, 6}}};
    WEFT_RECORD_FUNCTION("op", a, Tensor{{}}, 7, 2.0, true, strides, list,
                         std::string("text"), ArrayInput{"int", nullptr, 0});
    WEFT_RECORD_FUNCTION("none");
  });
  const FunctionEvent* op = find(*result, "op");
  EXPECT_EQ(to_string(op->input_shapes),
            "[[2, 3], [], [], [], [], [], [], [], []]");
  EXPECT_EQ(op->facts->input_types,
            (std::vector<std::string>{"float", "float", "Scalar", "Scalar",
                                      "Scalar", "ScalarList", "TensorList", "",
                                      "int"}));
  EXPECT_EQ(op->facts->concrete_inputs,
            (std::vector<std::string>{"", "", "7", "2.0", "true", "(1,1)", "",
                                      "", ""}));
  EXPECT_TRUE(find(*result, "none")->input_shapes.empty());
}

TEST(Inputs, AreEvaluatedOnceAndOnlyWhenWanted) {
  int evaluated = 0;
  const auto call = [&] { WEFT_RECORD_FUNCTION("op", ++evaluated); };
  call();
  EXPECT_EQ(evaluated, 0);
  profiled({}, call);
  EXPECT_EQ(evaluated, 0);
  profiled(kShapes, call);
  EXPECT_EQ(evaluated, 1);
  profiled({.activities = {Activity::kCpu}}, call);
  EXPECT_EQ(evaluated, 1) << "the site has gone back to its fast path";
}

TEST(Inputs, OnlyTheSessionThatWantsThemShowsThem) {
  Profiler all({.coverage = ThreadCoverage::kAllThreads});
  ASSERT_TRUE(all.start().ok());
  const auto result =
      profiled(kShapes, [] { WEFT_RECORD_FUNCTION("op", Tensor{{8}}); });
  ASSERT_TRUE(all.stop().ok());
  EXPECT_EQ(to_string(find(*result, "op")->input_shapes), "[[8]]");
  EXPECT_TRUE(find(**all.result(), "op")->input_shapes.empty());
}

// D-16: sizes are copied, so that what they belong to may go.
TEST(D16, InputsMayGoBeforeTheSessionDoes) {
  const auto result = profiled(kShapes, [] {
    auto tensor = std::make_unique<Tensor>(Tensor{{3, 3}});
    RecordFunction call;
    call.before("op", *tensor);
    tensor.reset();
    call.end();
  });
  EXPECT_EQ(to_string(find(*result, "op")->input_shapes), "[[3, 3]]");
}

TEST(Inputs, MoreThanARecordHoldsIsCountedAndNotGuessed) {
  const auto result = profiled(kShapes, [] {
    const std::vector<Tensor> many(300, Tensor{{1'000'000, 1'000'000}});
    WEFT_RECORD_FUNCTION("op", Tensor{{2}}, many, 5);
  });
  EXPECT_EQ(result->statistics().incomplete_inputs, 1u);
  const FunctionEvent* op = find(*result, "op");
  ASSERT_GE(op->input_shapes.size(), 1u);
  EXPECT_EQ(op->input_shapes[0], (Shape{2}));
}

// Of the record of a call, beside its head.
template <class Call>
std::size_t slots_of_values(Call call) {
  test::Collection trace;
  const auto result = profiled(kShapes, call);
  EXPECT_NE(find(*result, "op"), nullptr);
  std::size_t slots = 0;
  for (const auto& [index, thread] : trace.stop().threads()) {
    for (const auto& record : thread.records) {
      if (record.kind == RecordKind::kSpanBegin) slots += record.values.size();
    }
  }
  return slots;
}

// What shapes cost is slots: one for all dimensions of an array, its type
// included, or less.
TEST(Inputs, ArraysTakeASlotEachAtMost) {
  EXPECT_EQ(slots_of_values([] {
              WEFT_RECORD_FUNCTION("op", Tensor{{2, 3}});
            }),
            1u);
  const Tensor images{{1024, 1024, 224, 224}};
  EXPECT_EQ(slots_of_values([&] { WEFT_RECORD_FUNCTION("op", images); }), 1u);
  EXPECT_EQ(slots_of_values([&] {
              WEFT_RECORD_FUNCTION("op", images, images);
            }),
            2u);
  const Tensor words{{32, 128, 50257}};
  EXPECT_EQ(slots_of_values([&] {
              WEFT_RECORD_FUNCTION("op", words, words, words, words);
            }),
            3u);
}

TEST(Inputs, WhatTheirTypeThrowsStaysInside) {
  const auto result =
      profiled(kShapes, [] { WEFT_RECORD_FUNCTION("op", Thrower()); });
  EXPECT_EQ(to_string(find(*result, "op")->input_shapes), "[[]]");
}

TEST(Inputs, HostileTextGivesSomeAnswer) {
  for (const char* text :
       {"", " ", "{", "}", "{}", "[", "]", "a[1,", "a[1,]", "(1", "(x)", "!",
        "[99999999999999999999]", "{float[1] !", "float[1] float[2", "--"}) {
    const ParsedInputs whole = parse_inputs(text);
    EXPECT_LE(whole.inputs.size(), 4u) << text;
    EXPECT_FALSE(parse_inputs(text, InputText::kCut).complete) << text;
  }
  EXPECT_TRUE(parse_inputs("float[1] {} 3").complete);
  EXPECT_EQ(parse_inputs("float[1] {} 3").inputs.size(), 3u);
  EXPECT_FALSE(parse_inputs("float[1] !").complete);
}

// TV-F1 and TV-F3, from calls.
TEST(Flops, AreCountedFromRecordedInputs) {
  const auto result = profiled({.with_flops = true}, [] {
    WEFT_RECORD_FUNCTION("aten::mm", Tensor{{128, 20}}, Tensor{{20, 30}});
    const std::vector<int> one{1, 1}, zero{0, 0};
    WEFT_RECORD_FUNCTION("aten::conv2d", Tensor{{40, 16, 18, 260}},
                         Tensor{{33, 16, 18, 18}}, Tensor{{33}}, one, zero,
                         one, 1);
    WEFT_RECORD_FUNCTION("unknown", Tensor{{2}});
  });
  EXPECT_EQ(find(*result, "aten::mm")->flops, 153600u);
  EXPECT_EQ(find(*result, "aten::conv2d")->flops, 3325639680u);
  EXPECT_FALSE(find(*result, "unknown")->flops.has_value());
  // D-17: unknown FLOPs print.
  EXPECT_NE(result->events().table().find("FLOPs"), std::string::npos);
}

TEST(Flops, ServicesAddFormulas) {
  ProfilerOptions options{.with_flops = true};
  options.formulas.add("mine", [](std::span<const OpInput>) { return 99; });
  const auto result = profiled(std::move(options),
                               [] { WEFT_RECORD_FUNCTION("mine", 1); });
  EXPECT_EQ(find(*result, "mine")->flops, 99u);
}

TEST(Scopes, AllTenTravelAndAreFiltered) {
  const auto body = [] {
    for (std::size_t i = 0; i < kRecordScopes; ++i) {
      RecordFunction call(static_cast<RecordScope>(i));
      call.before("scope " + std::to_string(i));
    }
    WEFT_RECORD_FUNCTION_WITH_SCOPE(RecordScope::kBuildFeature, "static 5");
    WEFT_SPAN("no scope");
  };
  const auto all = profiled({}, body);
  EXPECT_EQ(all->events().size(), kRecordScopes + 2);
  for (std::size_t i = 0; i < kRecordScopes; ++i)
    EXPECT_EQ(find(*all, "scope " + std::to_string(i))->scope,
              static_cast<RecordScope>(i));
  EXPECT_EQ(find(*all, "static 5")->scope, RecordScope::kBuildFeature);
  const auto some = profiled(
      {.scopes = {RecordScope::kUserScope, RecordScope::kBuildFeature}}, body);
  EXPECT_EQ(some->events().size(), 3u);
  EXPECT_EQ(find(*some, "scope 7")->scope, RecordScope::kUserScope);
}

TEST(UserScopes, HaveTheUsersText) {
  const auto body = [] {
    WEFT_RECORD_USER_SCOPE("text", std::string("GET /"));
    WEFT_RECORD_USER_SCOPE("number", 17);
    WEFT_RECORD_USER_SCOPE("bare");
    WEFT_RECORD_USER_SCOPE_DYN(std::string("made"), "up");
  };
  const auto result = profiled(kShapes, body);
  EXPECT_EQ(find(*result, "text")->facts->args, "GET /");
  EXPECT_EQ(find(*result, "number")->facts->args, "17");
  EXPECT_EQ(find(*result, "made")->facts->args, "up");
  EXPECT_EQ(find(*result, "bare")->facts->args, "");
  // The text counts as one input that is no array.
  EXPECT_EQ(to_string(find(*result, "text")->input_shapes), "[[]]");
  EXPECT_EQ(to_string(find(*result, "bare")->input_shapes), "[]");
}

// 2.4.1: nothing of this may throw or crash.
TEST(RecordFunctions, MayBeMisused) {
  RecordFunction twice, never_begun, never_ended;
  const auto result = profiled({}, [&] {
    twice.end();
    twice.before("first");
    twice.before("second");  // ends the first
    twice.end();
    twice.end();
    never_begun.end();
    never_ended.before("left open");
  });
  EXPECT_TRUE(find(*result, "first")->finished);
  EXPECT_TRUE(find(*result, "second")->finished);
  EXPECT_FALSE(find(*result, "left open")->finished);
}

TEST(RecordFunctions, EndedOutOfOrderDoNotNest) {
  const auto result = profiled({}, [] {
    RecordFunction a, b;
    a.before("a");
    b.before("b");
    a.end();
    b.end();
  });
  EXPECT_EQ(result->events().size(), 2u);
  EXPECT_EQ(find(*result, "b")->parent, kNoEvent);
  // 2.27: partial overlap is counted as malformed. (A clock of one tick's
  // resolution may give both the same times.)
  const bool same_times = find(*result, "a")->end_ns >=
                          find(*result, "b")->end_ns;
  EXPECT_EQ(result->statistics().list.partial_overlaps, same_times ? 0u : 1u);
}

// TV-L1, recorded: forward on this thread, backward on another. D-21: the number
// is stored on both sides.
TEST(D21, SequenceNumbersJoinForwardAndBackward) {
  SequenceNr add, sum;
  const auto result = profiled({.coverage = ThreadCoverage::kAllThreads}, [&] {
    add = next_sequence_nr();
    {
      WEFT_RECORD_FUNCTION_SEQ(add, "add");
    }
    sum = next_sequence_nr();
    {
      WEFT_RECORD_FUNCTION_SEQ(sum, "sum");
    }
    const ThreadIndex forward = this_thread_index();
    std::thread engine([&] {
      const BackwardScope outer(sum, forward);
      {
        WEFT_RECORD_FUNCTION_WITH_SCOPE(RecordScope::kBackwardFunction,
                                        "SumBackward0");
      }
      {
        const BackwardScope inner(add, forward);
        WEFT_RECORD_FUNCTION_WITH_SCOPE(RecordScope::kBackwardFunction,
                                        "AddBackward0");
        WEFT_RECORD_FUNCTION("helper");
      }
      WEFT_RECORD_FUNCTION_WITH_SCOPE(RecordScope::kBackwardFunction,
                                      "sum again");
    });
    engine.join();
  });
  EXPECT_EQ(sum.value, add.value + 1);
  const FunctionEvent* forward = find(*result, "add");
  const FunctionEvent* backward = find(*result, "AddBackward0");
  EXPECT_EQ(forward->sequence_nr, add.value);
  EXPECT_EQ(forward->fwd_thread, 0);
  EXPECT_EQ(backward->sequence_nr, add.value);
  EXPECT_EQ(backward->fwd_thread, forward->thread);
  EXPECT_EQ(backward->scope, RecordScope::kBackwardFunction);
  EXPECT_EQ(find(*result, "SumBackward0")->sequence_nr, sum.value);
  EXPECT_EQ(find(*result, "sum again")->sequence_nr, sum.value) << "it nests";
  EXPECT_EQ(find(*result, "helper")->sequence_nr, -1);
}

TEST(Modules, AreTheHierarchyOfCallsAndNoRows) {
  const auto body = [] {
    WEFT_MODULE("TOP(Net)::forward");
    WEFT_RECORD_FUNCTION("outer");
    {
      WEFT_MODULE("A0(A)::forward");
      WEFT_RECORD_FUNCTION("inner");
    }
    WEFT_RECORD_FUNCTION("after");
  };
  const auto with = profiled({.with_modules = true}, body);
  EXPECT_EQ(with->events().size(), 3u);
  EXPECT_EQ(find(*with, "inner")->facts->modules,
            (std::vector<std::string>{"TOP(Net)::forward", "A0(A)::forward"}));
  EXPECT_EQ(find(*with, "after")->facts->modules,
            (std::vector<std::string>{"TOP(Net)::forward"}));
  EXPECT_TRUE(find(*profiled({}, body), "inner")->facts->modules.empty());
}

TEST(MemoryReports, AreChargedToTheInnermostRangeOfTheThread) {
  int block = 0;
  const auto body = [&] {
    WEFT_RECORD_FUNCTION("outer");
    {
      WEFT_RECORD_FUNCTION("inner");
      report_alloc(&block, 64);
    }
    report_free(&block, 24, {DeviceType::kCuda, 1}, {100, 200});
  };
  const auto result = profiled({.profile_memory = true}, body);
  EXPECT_EQ(find(*result, "inner")->self_memory.cpu_bytes, 64);
  EXPECT_EQ(find(*result, "outer")->memory.cpu_bytes, 64);
  EXPECT_EQ(find(*result, "outer")->self_memory.cpu_bytes, 0);
  EXPECT_EQ(
      find(*result, "outer")->self_memory.device_bytes[DeviceFamily::kCuda],
      -24);
  ASSERT_EQ(result->memory_records().size(), 2u);
  const MemoryRecord& alloc = result->memory_records()[0];
  EXPECT_EQ(alloc.bytes, 64);
  EXPECT_EQ(alloc.address, reinterpret_cast<std::uintptr_t>(&block));
  EXPECT_EQ(alloc.total_allocated, -1);
  const MemoryRecord& release = result->memory_records()[1];
  EXPECT_EQ(release.bytes, -24);
  EXPECT_EQ(release.device, DeviceType::kCuda);
  EXPECT_EQ(release.device_index, 1);
  EXPECT_EQ(release.total_allocated, 100);
  EXPECT_EQ(release.total_reserved, 200);
  EXPECT_NE(result->events().table().find("CPU Mem"), std::string::npos);

  const auto without = profiled({}, body);
  EXPECT_TRUE(without->memory_records().empty());
  EXPECT_EQ(find(*without, "inner")->memory.cpu_bytes, 0);
  EXPECT_FALSE(memory_wanted());
}

// D-05: threads are not charged for each other.
TEST(D05, MemoryIsTheThreadsOwn) {
  const auto result = profiled(
      {.profile_memory = true, .coverage = ThreadCoverage::kAllThreads}, [] {
        WEFT_RECORD_FUNCTION("mine");
        std::thread other([] {
          WEFT_RECORD_FUNCTION("theirs");
          report_alloc(nullptr, 1000);
        });
        other.join();
        report_alloc(nullptr, 10);
      });
  EXPECT_EQ(find(*result, "mine")->memory.cpu_bytes, 10);
  EXPECT_EQ(find(*result, "theirs")->memory.cpu_bytes, 1000);
}

// D-37, and 2.27: memory outside any range, and failed allocations.
TEST(D37, OutOfMemoryHasItsSizeAndFreesOutsideHaveRows) {
  const auto result = profiled({.profile_memory = true}, [] {
    report_free(nullptr, 512);
    WEFT_RECORD_FUNCTION("op");
    report_out_of_memory(1 << 20);
  });
  EXPECT_EQ(find(*result, "[memory]")->memory.cpu_bytes, -512);
  EXPECT_EQ(find(*result, "[OutOfMemory]")->requested_bytes, 1 << 20);
  EXPECT_EQ(find(*result, "op")->memory.cpu_bytes, 0);
}

// Field check K8-06.
TEST(K8_06, AllocatedAndFreedAreTwoColumnsAndEachByteHasARow) {
  static char blocks[8];
  std::int64_t in_use = 0;  // what the program's own counter says
  const auto allocate = [&](int block, std::int64_t bytes) {
    in_use += bytes;
    report_alloc(&blocks[block], bytes, {}, {in_use, -1});
  };
  const auto release = [&](int block, std::int64_t bytes) {
    in_use -= bytes;
    report_free(&blocks[block], bytes, {}, {in_use, -1});
  };
  constexpr std::int64_t kBefore = 10 << 20;
  allocate(0, kBefore);  // nobody listens
  const std::int64_t at_start = in_use;
  const auto result = profiled(
      {.profile_memory = true, .coverage = ThreadCoverage::kAllThreads}, [&] {
        {
          WEFT_RECORD_FUNCTION("frees what was before");
          release(0, kBefore);
        }
        {
          WEFT_RECORD_FUNCTION("A");
          allocate(1, 1000);
        }
        std::thread other([&] {
          WEFT_RECORD_FUNCTION("B");
          release(1, 1000);
        });
        other.join();
        allocate(2, 300);
        release(2, 300);
        {
          WEFT_RECORD_FUNCTION("reallocates");
          allocate(3, 50);
          release(3, 50);
          allocate(3, 80);
        }
        WEFT_RECORD_FUNCTION("many small ones");
        for (int i = 0; i < 2000; ++i) {
          allocate(4, 16);
          release(4, 16);
        }
      });
  const MemorySummary summary =
      summarize_memory(result->events(), result->memory_records());
  const auto expect_row = [&](const std::string& name, std::int64_t allocated,
                              std::int64_t freed) {
    const MemoryRow* row = summary.find(name);
    ASSERT_NE(row, nullptr) << name;
    EXPECT_EQ(row->allocated_bytes, allocated) << name;
    EXPECT_EQ(row->freed_bytes, freed) << name;
  };
  EXPECT_EQ(summary.find("frees what was before"), nullptr);
  expect_row(kAllocatedBefore, 0, kBefore);
  expect_row("A", 1000, 0);
  expect_row("B", 0, 1000);
  expect_row(kOutsideOfRanges, 300, 300);
  expect_row("reallocates", 130, 50);
  expect_row("many small ones", 32000, 32000);
  std::int64_t net = 0;
  for (const MemoryRow& row : summary.rows) net += row.net_bytes();
  EXPECT_EQ(net, in_use - at_start) << "the rows are the counter's change";
  EXPECT_EQ(summary.total.net_bytes(), net);
  EXPECT_EQ(summary.peak_bytes, 1000);
  EXPECT_NE(summary.table().find("many small ones"), std::string::npos);
}

// Row 59: from a session to a file, with what the user knows of the blocks.
TEST(MemoryReports, BecomeATimeline) {
  Profiler profiler({.profile_memory = true});
  int weights = 0, input = 0;
  {
    ProfilerScope recording(profiler);
    report_alloc(&weights, 100);
    report_alloc(&input, 30);
    report_out_of_memory(1 << 20);
    report_free(&input, 30);
  }
  const auto category_of = [&](const MemoryRecord& record) {
    return record.address == reinterpret_cast<std::uintptr_t>(&weights)
               ? MemoryCategory::kParameter
               : MemoryCategory::kInput;
  };
  const test::TempPath path(".json");
  ASSERT_TRUE(profiler
                  .export_memory_timeline(path.str(), std::nullopt, category_of)
                  .ok());
  std::ifstream file(path.str());
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("[0, 100, 0, 0, 0, 0, 0, 0, 0]"), std::string::npos)
      << text;

  const MemoryTimeline timeline = MemoryTimeline::of_session(
      (*profiler.result())->memory_records(), category_of);
  const std::vector<MemoryPoint> points = timeline.points({});
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].bytes, 100);
  EXPECT_EQ(points[0].category, MemoryCategory::kParameter);
  EXPECT_EQ(points[1].bytes, 30);
  EXPECT_EQ(points[1].category, MemoryCategory::kInput);
  EXPECT_EQ(points[2].action, MemoryAction::kDestroy);
  EXPECT_EQ(points[2].bytes, -30);
}

TEST(MemoryReports, HaveNoTimelineUnlessTheyWereWanted) {
  Profiler profiler;
  { ProfilerScope recording(profiler); }
  EXPECT_EQ(profiler.export_memory_timeline("unused").error().code,
            ErrorCode::kNotRecorded);
}

TEST(MemoryReports, DoNotGoToWhoDidNotAsk) {
  test::Collection trace;
  Profiler plain({.coverage = ThreadCoverage::kAllThreads});
  ASSERT_TRUE(plain.start().ok());
  profiled({.profile_memory = true}, [] { report_alloc(nullptr, 1); });
  ASSERT_TRUE(plain.stop().ok());
  EXPECT_EQ(plain.statistics()->records_kept, 0u);
  EXPECT_EQ(trace.stop().heads(), 0u);
}

TEST(BackendEvents, AreRangesMeasuredElsewhere) {
  report_backend_event({.name = "outside of a session"});
  const auto result = profiled({}, [] {
    WEFT_RECORD_FUNCTION("caller");
    const std::int64_t now = ticks_to_ns(now_ticks());
    report_backend_event({.start_ns = now,
                          .end_ns = now + 2500,
                          .debug_handle = 7,
                          .scope = RecordScope::kLiteInterpreter,
                          .name = "npu_block",
                          .backend = "npu"});
  });
  EXPECT_EQ(result->events().size(), 2u);
  const FunctionEvent* block = find(*result, "npu_block");
  EXPECT_EQ(block->duration_ns(), 2500);
  EXPECT_EQ(block->facts->backend, "npu");
  EXPECT_EQ(block->facts->debug_handle, 7);
  EXPECT_EQ(block->scope, RecordScope::kLiteInterpreter);
  EXPECT_EQ(block->sequence_nr, -1);
  EXPECT_TRUE(block->input_shapes.empty());
  EXPECT_TRUE(block->finished);
}

TEST(AsyncRanges, EndOnceOnAnyThread) {
  const auto result = profiled({}, [] {
    AsyncRange range = record_async("fetch", "url");
    EXPECT_TRUE(range);
    std::thread other([range]() mutable { range.end(); });
    other.join();
    EXPECT_FALSE(range);
    range.end();
    record_async("abandoned");
  });
  const FunctionEvent* fetch = find(*result, "fetch");
  EXPECT_TRUE(fetch->finished);
  EXPECT_TRUE(fetch->is_async);
  EXPECT_EQ(fetch->facts->args, "url");
  EXPECT_EQ(fetch->parent, kNoEvent);
  EXPECT_EQ(fetch->self_cpu_time_total_ns, 0);
  EXPECT_FALSE(find(*result, "abandoned")->finished);
  EXPECT_FALSE(record_async("nobody listens"));
}

// A future with continuations, as many libraries have.
template <class T>
class Future {
 public:
  Future() : state_(std::make_shared<State>()) {}
  void set(T value) {
    state_->value = std::move(value);
    state_->ready = true;
    if (state_->next) state_->next(state_->value);
  }
  template <class Next>
  Future then(Next next) && {
    Future after;
    state_->next = [next = std::move(next), after](T value) mutable {
      after.set(next(std::move(value)));
    };
    return after;
  }
  bool ready() const { return state_->ready; }
  const T& value() const { return state_->value; }

 private:
  struct State {
    T value{};
    bool ready = false;
    std::function<void(T)> next;
  };
  std::shared_ptr<State> state_;
};

TEST(AsyncRanges, EndBeforeTheirFutureIsReady) {
  Future<int> source;
  const auto result = profiled({}, [&] {
    AsyncRange range = record_async("work");
    Future<int> after = range.end_on(source);
    EXPECT_TRUE(range.end_on_used());
    EXPECT_EQ(range.on_end().error().code, ErrorCode::kBusy) << "only once";
    EXPECT_TRUE(range) << "leaving a scope does not end it";
    std::thread completer([&] { source.set(5); });
    completer.join();
    EXPECT_TRUE(after.ready());
    EXPECT_EQ(after.value(), 5);
    EXPECT_FALSE(range);
  });
  EXPECT_TRUE(find(*result, "work")->finished);
}

// D-38.
TEST(D38, ARangeWhoseSessionEndedFirstIsUnfinishedAndHarmless) {
  AsyncRange range;
  const auto result = profiled({}, [&] { range = record_async("long"); });
  const FunctionEvent* event = find(*result, "long");
  EXPECT_FALSE(event->finished);
  EXPECT_EQ(event->end_ns, result->statistics().window_ns);
  range.end();
}

TEST(Coverage, D08_ThisThreadAloneByDefaultAndAllIfAsked) {
  const auto body = [] {
    WEFT_RECORD_FUNCTION("mine");
    std::thread other([] { WEFT_RECORD_FUNCTION("theirs"); });
    other.join();
  };
  const auto mine = profiled({}, body);
  EXPECT_EQ(mine->events().size(), 1u);
  EXPECT_EQ(mine->statistics().records_outside_coverage, 2u);
  EXPECT_EQ(mine->statistics().records_kept, 2u);
  // D-08: raw threads are there when one wants them.
  const auto all =
      profiled({.coverage = ThreadCoverage::kAllThreads}, body);
  EXPECT_EQ(all->events().size(), 2u);
  EXPECT_EQ(all->statistics().records_outside_coverage, 0u);
}

TEST(Coverage, StateIsInheritedWhereTheGuardIs) {
  const auto body = [] {
    const ThreadLocalStateSnapshot state;
    std::thread pool([&] {
      {
        WEFT_RECORD_FUNCTION("before");
      }
      {
        const ThreadLocalStateGuard inherited(state);
        WEFT_RECORD_FUNCTION("inside", Tensor{{4}});
        {
          const ThreadLocalStateGuard again(state);
          WEFT_RECORD_FUNCTION("nested");
        }
        WEFT_RECORD_FUNCTION("still inside");
      }
      WEFT_RECORD_FUNCTION("after");
    });
    pool.join();
  };
  const auto result = profiled(kShapes, body);
  EXPECT_EQ(result->events().size(), 3u);
  EXPECT_EQ(to_string(find(*result, "inside")->input_shapes), "[[4]]");
  find(*result, "nested");
  find(*result, "still inside");
  const auto alone =
      profiled({.coverage = ThreadCoverage::kThisThread}, body);
  EXPECT_TRUE(alone->events().empty());
}

struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

struct ResumeOnAnotherThread {
  std::thread& thread;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> suspended) {
    // This lies in the coroutine, which may be over before the thread is known.
    std::thread& resumer = thread;
    resumer = std::thread([suspended] { suspended.resume(); });
  }
  void await_resume() const noexcept {}
};

Detached two_halves(std::thread& thread) {
  {
    WEFT_RECORD_FUNCTION("first half");
  }
  const ThreadLocalStateSnapshot state;
  co_await ResumeOnAnotherThread{thread};
  const ThreadLocalStateGuard inherited(state);
  WEFT_RECORD_FUNCTION("second half");
}

TEST(Coverage, ACoroutineTakesItsStateAlong) {
  const auto result = profiled({}, [] {
    std::thread thread;
    two_halves(thread);
    thread.join();
  });
  ASSERT_EQ(result->events().size(), 2u);
  EXPECT_NE(find(*result, "first half")->thread,
            find(*result, "second half")->thread);
}

TEST(Coverage, AnotherStateTakesAThreadOutForAWhile) {
  const ThreadLocalStateSnapshot nothing;
  const auto result = profiled({}, [&] {
    {
      const ThreadLocalStateGuard other_work(nothing);
      WEFT_RECORD_FUNCTION("not of this session");
    }
    WEFT_RECORD_FUNCTION("of this session");
  });
  EXPECT_EQ(result->events().size(), 1u);
  find(*result, "of this session");
}

TEST(Coverage, SessionsOfTwoRequestsDoNotMix) {
  std::shared_ptr<const ProfilerResult> results[2];
  test::run_threads(2, [&](unsigned number) {
    results[number] = profiled({}, [&] {
      const ThreadLocalStateSnapshot state;
      std::thread pool([&] {
        const ThreadLocalStateGuard inherited(state);
        WEFT_RECORD_FUNCTION_DYN("pool " + std::to_string(number));
      });
      pool.join();
      WEFT_RECORD_FUNCTION_DYN("own " + std::to_string(number));
    });
  });
  for (unsigned number = 0; number < 2; ++number) {
    EXPECT_EQ(results[number]->events().size(), 2u);
    find(*results[number], "pool " + std::to_string(number));
    find(*results[number], "own " + std::to_string(number));
  }
}

TEST(Coverage, AStateThatOutlivesItsSessionIsHarmless) {
  std::unique_ptr<ThreadLocalStateSnapshot> state;
  profiled({}, [&] { state = std::make_unique<ThreadLocalStateSnapshot>(); });
  const auto later = profiled({}, [&] {
    std::thread pool([&] {
      const ThreadLocalStateGuard inherited(*state);
      WEFT_RECORD_FUNCTION("of an earlier session");
    });
    pool.join();
  });
  EXPECT_TRUE(later->events().empty());
}

TEST(Stacks, D10_AreRecordedWhenWanted) {
  const auto body = [] { WEFT_RECORD_FUNCTION("op"); };
  EXPECT_FALSE(
      find(*profiled({.with_stack = true}, body), "op")->stack.empty());
  EXPECT_TRUE(find(*profiled({}, body), "op")->stack.empty());
}

namespace {
// Keeps its frame, and its name in every build.
__attribute__((noinline)) int stack_of_an_op() {
  weft::RecordFunction call;
  call.before("op");
  return 1;
}
}  // namespace

// Frames of weft's own, innermost, would hide where the call is.
TEST(Stacks, BeginWithTheFunctionThatHasTheCall) {
  const auto result = profiled({.with_stack = true}, [] { stack_of_an_op(); });
  const auto& stack = find(*result, "op")->stack;
  ASSERT_GE(stack.size(), 2u);
  EXPECT_NE(stack[0].find("stack_of_an_op()"), std::string::npos) << stack[0];
  if (source_lines_available()) {
    EXPECT_NE(stack[0].find("recording_test.cc("), std::string::npos)
        << stack[0];
  }
}

}  // namespace
}  // namespace weft
