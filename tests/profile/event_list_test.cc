// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/event_list.h"

#include <gtest/gtest.h>

#include "event_builder.h"

namespace weft {
namespace {

using testing_support::async;
using testing_support::device_row;
using testing_support::names;
using testing_support::parents;
using testing_support::range;
using testing_support::reference_rules;
using testing_support::self_cpu_us;
using testing_support::us;
using testing_support::with_kernel;
using Names = std::vector<std::string>;
using Times = std::vector<std::int64_t>;

// Invariants I1 to I3 of the header.
void expect_consistent(const EventList& list) {
  std::int64_t self_ns = 0;
  std::int64_t roots_ns = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const FunctionEvent& event = list[i];
    self_ns += event.self_cpu_time_total_ns;
    const bool nests = event.is_host() && !event.is_async;
    if (!nests) {
      EXPECT_EQ(event.parent, kNoEvent);
      EXPECT_TRUE(event.children.empty());
    } else if (event.parent == kNoEvent) {
      roots_ns += event.cpu_time_total_ns;
    }
    for (const std::size_t child : event.children) {
      EXPECT_EQ(list[child].parent, i);
    }
  }
  EXPECT_EQ(self_ns, roots_ns);
}

TEST(EventTree, TV_T1_TouchingRangesAreSiblings) {
  const EventList list({range("A", 0, 10), range("B", 1, 3), range("C", 3, 4),
                        range("D", 4, 10), range("E", 10, 12)});
  EXPECT_EQ(parents(list), (Names{"-", "A", "A", "A", "-"}));
  EXPECT_EQ(self_cpu_us(list), (Times{1, 2, 1, 6, 2}));
  expect_consistent(list);
}

TEST(EventTree, TV_T2_OfEqualRangesTheFirstRecordedIsOutermost) {
  const EventList list(
      {range("A", 0, 10), range("B", 0, 10), range("C", 0, 10)});
  EXPECT_EQ(parents(list), (Names{"-", "A", "B"}));
  EXPECT_EQ(self_cpu_us(list), (Times{0, 0, 10}));
}

TEST(EventTree, TV_T3_RangesWithoutLengthAreLeaves) {
  const EventList list({range("A", 0, 10), range("Z0", 0, 0), range("Z5", 5, 5),
                        range("Z5b", 5, 5), range("Z10", 10, 10)});
  EXPECT_EQ(parents(list), (Names{"-", "A", "A", "A", "-"}));
  EXPECT_EQ(self_cpu_us(list), (Times{10, 0, 0, 0, 0}));
}

TEST(EventTree, TV_T4_PartialOverlapIsNoRelationAndIsCounted) {
  const EventList list({range("A", 0, 10), range("B", 5, 15), range("C", 6, 8),
                        range("D", 9, 10), range("X", 16, 17)});
  EXPECT_EQ(parents(list), (Names{"-", "-", "B", "B", "-"}));
  EXPECT_EQ(self_cpu_us(list), (Times{10, 7, 2, 1, 1}));
  EXPECT_EQ(list.statistics().partial_overlaps, 1u);
  EXPECT_TRUE(list[1].overlaps);
}

TEST(EventTree, TV_T5_NegativeLengthInflatesTheParentInTheReference) {
  const EventList list(
      {range("A", 0, 20), range("N", 10, 5), range("C", 12, 14)},
      reference_rules());
  EXPECT_EQ(parents(list), (Names{"-", "A", "A"}));
  EXPECT_EQ(self_cpu_us(list), (Times{23, -5, 2}));
}

// A self time above the total would send people after time nobody spent.
TEST(EventTree, D13_NegativeLengthIsCutToZeroAndCounted) {
  const EventList list(
      {range("A", 0, 20), range("N", 10, 5), range("C", 12, 14)});
  EXPECT_EQ(parents(list), (Names{"-", "A", "A"}));
  EXPECT_EQ(self_cpu_us(list), (Times{18, 0, 2}));
  EXPECT_EQ(list.statistics().clock_errors, 1u);
}

TEST(EventTree, TV_T6_ThreadsHaveTreesOfTheirOwn) {
  const EventList list({range("1", 0, 1, 1), range("2", 1, 2, 1),
                        range("3", 0, 2, 0), range("4", 1, 2, 0),
                        range("5", 1, 3, 0)});
  EXPECT_EQ(parents(list), (Names{"-", "-", "-", "5", "-"}));
}

TEST(EventTree, NodesHaveTreesOfTheirOwnHoweverTheyInterleave) {
  std::vector<FunctionEvent> events = {
      range("rpc", 0, 100), range("rpc", 10, 90), range("pack", 20, 30),
      range("pack", 20, 30)};
  for (std::size_t i = 0; i < events.size(); ++i) {
    events[i].node_id = static_cast<std::int64_t>(i % 2);
  }
  const EventList list(events);
  EXPECT_EQ(list[2].parent, 0u);
  EXPECT_EQ(list[3].parent, 1u);
  const EventList reference(events, reference_rules());
  EXPECT_EQ(parents(reference), (Names{"-", "-", "-", "-"}));
}

// D-14: cut to microseconds, the child would stick out of its parent.
TEST(EventTree, D14_NanosecondsDecideWhatNests) {
  FunctionEvent outer = range("outer", 0, 0);
  outer.start_ns = 1900;
  outer.end_ns = 10100;
  FunctionEvent inner = range("inner", 0, 0);
  inner.start_ns = 2000;
  inner.end_ns = 10050;
  const EventList list({outer, inner});
  EXPECT_EQ(list[1].parent, 0u);
  EXPECT_EQ(list[0].self_cpu_time_total_ns, 150);
}

TEST(EventTree, AsyncAndDeviceRowsStandAlone) {
  const EventList list({range("request", 0, 100), async(range("fetch", 10, 90)),
                        range("decode", 20, 30), device_row("kernel", 22, 25)});
  EXPECT_EQ(parents(list), (Names{"-", "-", "request", "-"}));
  EXPECT_EQ(self_cpu_us(list), (Times{90, 0, 10, 0}));
  EXPECT_EQ(list[1].cpu_time_total_ns, us(80));
  expect_consistent(list);
}

TEST(EventTree, DeepAndWideListsAreFastAndDoNotRecurse) {
  constexpr std::int64_t kDepth = 200'000;
  std::vector<FunctionEvent> events;
  for (std::int64_t i = 0; i < kDepth; ++i) {
    events.push_back(range(i % 2 == 0 ? "even" : "odd", i, 2 * kDepth - i));
  }
  const EventList list(std::move(events));
  EXPECT_EQ(list[kDepth - 1].parent, static_cast<std::size_t>(kDepth - 2));
  EXPECT_EQ(list.self_cpu_time_total_ns(), us(2 * kDepth));
  EXPECT_EQ(list.key_averages().size(), 2u);
}

TEST(Duplicates, TV_D1_OnlyChildOfTheSameNameIsMerged) {
  const EventList list({range("add", 0, 10),
                        with_kernel(range("add", 1, 9), "vec", 4),
                        range("empty", 2, 3)});
  EXPECT_EQ(names(list), (Names{"add", "empty"}));
  EXPECT_EQ(parents(list), (Names{"-", "add"}));
  ASSERT_EQ(list[0].kernels.size(), 1u);
  EXPECT_EQ(list[0].kernels[0].duration_ns, us(4));
  EXPECT_EQ(list[0].self_cpu_time_total_ns, us(9));
  EXPECT_EQ(list.statistics().merged_duplicates, 1u);
  expect_consistent(list);
}

TEST(Duplicates, TV_D2_ChainCollapses) {
  const EventList list({range("f", 0, 10), range("f", 1, 9), range("f", 2, 8),
                        range("g", 3, 4)});
  EXPECT_EQ(names(list), (Names{"f", "g"}));
  EXPECT_EQ(parents(list), (Names{"-", "f"}));
  EXPECT_EQ(list[0].self_cpu_time_total_ns, us(9));
}

TEST(Duplicates, TV_D3_TwoChildrenStay) {
  const EventList list({range("f", 0, 10), range("f", 1, 5), range("g", 6, 7)});
  EXPECT_EQ(names(list), (Names{"f", "f", "g"}));
}

TEST(Duplicates, D12_KernelsOfBothAreKept) {
  const std::vector<FunctionEvent> events = {
      with_kernel(range("add", 0, 10), "outer_k", 7),
      with_kernel(range("add", 1, 9), "inner_k", 4)};
  const EventList list(events);
  ASSERT_EQ(list.size(), 1u);
  ASSERT_EQ(list[0].kernels.size(), 2u);
  EXPECT_EQ(list[0].self_device_time_total_ns[DeviceFamily::kCuda], us(11));
  const EventList reference(events, reference_rules());
  ASSERT_EQ(reference[0].kernels.size(), 1u);
  EXPECT_EQ(reference[0].kernels[0].name, "inner_k");
}

TEST(Duplicates, D12_FailedAllocationDoesNotKeepARowAlive) {
  FunctionEvent failed = range("[OutOfMemory]", 5, 5);
  failed.trace_name.reset();
  const std::vector<FunctionEvent> events = {range("add", 0, 10),
                                             range("add", 1, 4), failed};
  const EventList list(events);
  EXPECT_EQ(names(list), (Names{"add", "[OutOfMemory]"}));
  EXPECT_EQ(list[1].parent, 0u);
  EXPECT_EQ(EventList(events, reference_rules()).size(), 3u);
}

TEST(Duplicates, MergingIsAnOption) {
  EventListOptions options;
  options.remove_duplicates = false;
  const EventList list({range("f", 0, 10), range("f", 1, 9)}, options);
  EXPECT_EQ(list.size(), 2u);
}

TEST(BackwardStacks, ComeFromTheForwardRangeWithTheSameNumber) {
  FunctionEvent forward = range("mul", 0, 5);
  forward.sequence_nr = 7;
  forward.stack = {"model.cc(10): forward"};
  FunctionEvent backward = range("MulBackward", 20, 30, 2);
  backward.scope = RecordScope::kBackwardFunction;
  backward.sequence_nr = 7;
  backward.fwd_thread = 1;
  FunctionEvent inside = range("copy", 21, 22, 2);
  inside.stack = {"engine.cc(9): op"};
  const EventList list({forward, backward, inside});
  EXPECT_EQ(list[1].stack, forward.stack);
  EXPECT_EQ(list[2].stack, forward.stack);
}

// "No number" on both sides is no match.
TEST(BackwardStacks, MissingNumbersDoNotMatchEachOther) {
  FunctionEvent log = range("log", 0, 5);
  log.stack = {"log.cc(1): log"};
  FunctionEvent backward = range("NoSequence", 20, 30, 2);
  backward.scope = RecordScope::kBackwardFunction;
  backward.fwd_thread = 1;
  EXPECT_TRUE(EventList({log, backward})[1].stack.empty());
  EXPECT_EQ(EventList({log, backward}, reference_rules())[1].stack, log.stack);
}

TEST(DeviceTime, KernelsCountForTheRangeAndWhatHoldsIt) {
  const EventList list({with_kernel(range("render", 0, 500), "clear", 5),
                        with_kernel(range("shade", 10, 300), "shade_k", 100),
                        range("blend", 310, 400),
                        device_row("clear", 100, 105)});
  const auto cuda = DeviceFamily::kCuda;
  EXPECT_EQ(list[0].device_time_total_ns[cuda], us(105));
  EXPECT_EQ(list[0].self_device_time_total_ns[cuda], us(5));
  EXPECT_EQ(list[1].self_device_time_total_ns[cuda], us(100));
  EXPECT_EQ(list[2].device_time_total_ns[cuda], 0);
  EXPECT_EQ(list[3].device_time_total_ns[cuda], us(5));
  EXPECT_EQ(list[3].cpu_time_total_ns, 0);
}

TEST(DeviceTime, EventPairsIncludeWhatRunsInside) {
  FunctionEvent outer = with_kernel(range("layer", 0, 100), "layer", 40);
  outer.is_legacy = true;
  FunctionEvent inner = with_kernel(range("matmul", 10, 50), "matmul", 25);
  inner.is_legacy = true;
  const EventList list({outer, inner});
  EXPECT_EQ(list[0].device_time_total_ns[DeviceFamily::kCuda], us(40));
  EXPECT_EQ(list[0].self_device_time_total_ns[DeviceFamily::kCuda], us(15));
}

TEST(DeviceTime, D41_EachRowCountsForItsOwnKindOfDevice) {
  const EventList list({device_row("cuda_k", 0, 5),
                        device_row("npu_k", 0, 7, DeviceType::kCustom),
                        device_row("xpu_k", 0, 9, DeviceType::kXpu)});
  EXPECT_EQ(list[0].device_time_total_ns[DeviceFamily::kCuda], us(5));
  EXPECT_EQ(list[1].device_time_total_ns[DeviceFamily::kCustom], us(7));
  EXPECT_EQ(list[2].device_time_total_ns[DeviceFamily::kXpu], us(9));
}

TEST(EventList, EmptyListAnswersEverything) {
  const EventList list;
  EXPECT_EQ(list.table(), "");
  EXPECT_TRUE(list.key_averages().empty());
  EXPECT_EQ(list.key_averages().table(), "");
  EXPECT_EQ(list.total_average().key, "Total");
  EXPECT_EQ(list.total_average().count, 0u);
  EXPECT_EQ(list.self_cpu_time_total_ns(), 0);
}

}  // namespace
}  // namespace weft
