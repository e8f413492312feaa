// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <sstream>

#include "event_builder.h"

namespace weft {
namespace {

using testing_support::device_row;
using testing_support::range;
using testing_support::us;

std::string stacks(const EventList& list, const StackOptions& options = {}) {
  std::ostringstream out;
  list.write_stacks(out, options);
  return out.str();
}

FunctionEvent with_stack(FunctionEvent event, std::vector<std::string> stack) {
  event.stack = std::move(stack);
  return event;
}

TEST(FoldedStacks, TV_2_12_OutermostFirstWholeMicroseconds) {
  FunctionEvent event =
      with_stack(range("f", 0, 0), {"m.cc(12): run loop", "main.cc(3): main"});
  event.end_ns = 57900;
  EXPECT_EQ(stacks(EventList({event})),
            "main.cc(3):_main;m.cc(12):_run_loop 57\n");
}

TEST(FoldedStacks, EventsBelowAMicrosecondOrWithoutStackAreLeftOut) {
  FunctionEvent tiny = with_stack(range("tiny", 0, 0), {"x"});
  tiny.end_ns = 999;
  EXPECT_EQ(stacks(EventList({tiny, range("none", 5, 9)})), "");
}

TEST(FoldedStacks, SeparatorsInFramesBecomeUnderscores) {
  EXPECT_EQ(stacks(EventList({with_stack(range("f", 0, 3), {"a;b\tc\nd e"})})),
            "a_b_c_d_e 3\n");
}

TEST(FoldedStacks, AggregationAddsWhatSingleLinesLose) {
  FunctionEvent half = with_stack(range("f", 0, 0), {"x"});
  half.end_ns = 600;
  FunctionEvent other = with_stack(range("g", 5, 5), {"x"});
  other.end_ns = other.start_ns + 600;
  EXPECT_EQ(stacks(EventList({half, other}), {.aggregate = true}), "x 1\n");
}

TEST(FoldedStacks, SumsBelowAMicrosecondAreLeftOutToo) {
  FunctionEvent tiny = with_stack(range("tiny", 0, 0), {"x"});
  tiny.end_ns = 999;
  EXPECT_EQ(stacks(EventList({tiny}), {.aggregate = true}), "");
}

TEST(FoldedStacks, LeafIsTheEventsName) {
  EXPECT_EQ(stacks(EventList({with_stack(range("my op", 0, 3), {"x"})}),
                   {.with_leaf = true}),
            "x;my_op 3\n");
}

TEST(FoldedStacks, MetricChoosesTheDevice) {
  const EventList list({with_stack(device_row("k", 0, 12), {"gpu"})});
  EXPECT_EQ(stacks(list), "");
  EXPECT_EQ(stacks(list, {.metric = StackMetric::kSelfCudaTimeTotal}),
            "gpu 12\n");
}

TEST(FoldedStacks, UnknownMetricIsAnError) {
  EXPECT_EQ(parse_stack_metric("self_cuda_time_total").value(),
            StackMetric::kSelfCudaTimeTotal);
  EXPECT_EQ(parse_stack_metric("cpu_time_total").error().code,
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace weft
