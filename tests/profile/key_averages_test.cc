// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/key_averages.h"

#include <gtest/gtest.h>

#include <limits>

#include "event_builder.h"
#include "weft/profile/reference.h"

namespace weft {
namespace {

using testing_support::async;
using testing_support::device_row;
using testing_support::range;
using testing_support::raw;
using testing_support::reference_rules;
using testing_support::us;

TEST(KeyAverages, TV_A1_AnAverageMayBeAddedToItself) {
  const EventList list({range("foo", 10, 15), range("foo", 20, 30)});
  FunctionEventAvg average = list.key_averages()[0];
  ASSERT_TRUE(average.merge(average).ok());
  EXPECT_EQ(average.count, 4u);
  EXPECT_EQ(average.cpu_time_total_ns, us(30));
  EXPECT_EQ(average.self_cpu_time_total_ns, us(30));
  EXPECT_DOUBLE_EQ(average.cpu_time_ns(), 7500);
  EXPECT_EQ(average.device_time_total_ns.sum(), 0);
}

TEST(KeyAverages, TV_A2_HostAndDeviceRowsOfOneNameStayApart) {
  const EventList list({range("x", 0, 5), device_row("x", 1, 3)});
  EXPECT_EQ(list.key_averages().size(), 2u);
}

// D-04: a user's range drawn over device work is no work, even under its name.
TEST(KeyAverages, D04_AnnotationsStayApartFromWorkOfTheirName) {
  FunctionEvent drawn = device_row("train", 0, 10);
  drawn.is_user_annotation = true;
  const EventList list({drawn, device_row("train", 2, 5)});
  const KeyAverages averages = list.key_averages();
  ASSERT_EQ(averages.size(), 2u);
  EXPECT_TRUE(averages[0].is_user_annotation);
  EXPECT_EQ(averages[1].device_time_total_ns.sum(), us(3));
  EXPECT_NE(averages.table().find("Self CUDA time total: 3.000us"),
            std::string::npos)
      << averages.table();
}

TEST(KeyAverages, TV_A3_StepsAreOneRow) {
  const auto parsed = parse_raw_events(
      {raw("ProfilerStep#3", 0, 5, 1), raw("ProfilerStep#4", 5, 9, 2)}, {});
  const KeyAverages averages = EventList(parsed.events).key_averages();
  ASSERT_EQ(averages.size(), 1u);
  EXPECT_EQ(averages[0].key, "ProfilerStep*");
  EXPECT_EQ(averages[0].count, 2u);
}

TEST(KeyAverages, AddingAnotherKeyIsAnErrorAndChangesNothing) {
  const EventList list({range("foo", 0, 5), range("bar", 5, 9)});
  const KeyAverages averages = list.key_averages();
  FunctionEventAvg foo = averages[0];
  const Result<void> added = foo.merge(averages[1]);
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(foo.count, 1u);
}

TEST(KeyAverages, RowsComeInTheOrderOfTheirFirstEvent) {
  const EventList list({range("b", 0, 1), range("a", 1, 2), range("b", 2, 3)});
  const KeyAverages averages = list.key_averages();
  ASSERT_EQ(averages.size(), 2u);
  EXPECT_EQ(averages[0].key, "b");
  EXPECT_EQ(averages[1].key, "a");
  EXPECT_NE(averages.find("a"), nullptr);
  EXPECT_EQ(averages.find("c"), nullptr);
}

TEST(KeyAverages, ShapesAndStacksSeparateRowsWhenAskedFor) {
  FunctionEvent small = range("mm", 0, 1);
  small.input_shapes = {{2, 3}, {3, 4}};
  small.stack = {"a.cc(1): f", "main.cc(1): main"};
  FunctionEvent large = range("mm", 2, 3);
  large.input_shapes = {{64, 64}, {64, 64}};
  large.stack = {"a.cc(1): f", "other.cc(1): main"};
  const EventList list({small, large});
  EXPECT_EQ(list.key_averages().size(), 1u);
  EXPECT_EQ(list.key_averages({.group_by_input_shape = true}).size(), 2u);
  EXPECT_EQ(list.key_averages({.group_by_stack_n = 1}).size(), 1u);
  EXPECT_EQ(list.key_averages({.group_by_stack_n = 2}).size(), 2u);
  EXPECT_EQ(list.key_averages({.group_by_stack_n = 1})[0].stack.size(), 1u);
  EXPECT_TRUE(list.key_averages()[0].stack.empty());
}

// Names that only differ in where one part ends and the next begins.
TEST(KeyAverages, KeysCannotBeForgedByNames) {
  FunctionEvent a = range("f", 0, 1);
  a.stack = {"1:x"};
  FunctionEvent b = range("f", 2, 3);
  b.stack = {"1", "x"};
  EXPECT_EQ(EventList({a, b}).key_averages({.group_by_stack_n = 2}).size(), 2u);
}

// A recursive function of 10 us must not seem to have taken 18.
TEST(KeyAverages, D15_TimeInsideTheSameKeyCountsOnce) {
  const std::vector<FunctionEvent> events = {
      range("walk", 0, 10), range("step", 1, 9), range("walk", 2, 8),
      range("walk", 20, 25)};
  const KeyAverages averages = EventList(events).key_averages();
  const FunctionEventAvg& walk = *averages.find("walk");
  EXPECT_EQ(walk.count, 3u);
  EXPECT_EQ(walk.cpu_time_total_ns, us(15));
  EXPECT_EQ(walk.self_cpu_time_total_ns, us(2 + 6 + 5));
  EXPECT_EQ(EventList(events, reference_rules())
                .key_averages()
                .find("walk")
                ->cpu_time_total_ns,
            us(21));
}

TEST(KeyAverages, D17_TopLevelIfAnyCallIs) {
  const EventList list(
      {range("outer", 0, 10), range("f", 1, 2), range("f", 20, 21)});
  const KeyAverages averages = list.key_averages();
  const FunctionEventAvg& f = *averages.find("f");
  EXPECT_TRUE(f.first_has_parent);
  EXPECT_EQ(f.top_level_count, 1u);
  const std::string table =
      list.key_averages().table({.top_level_events_only = true});
  EXPECT_NE(table.find("  f  "), std::string::npos) << table;
}

TEST(KeyAverages, D35_TotalsAddUpSelfTimes) {
  const EventList list({range("outer", 0, 10), range("inner", 1, 9),
                        async(range("fetch", 0, 50))});
  EXPECT_EQ(list.total_average().self_cpu_time_total_ns, us(10));
  EXPECT_EQ(list.key_averages().total_average().self_cpu_time_total_ns, us(10));
  EXPECT_EQ(list.total_average().count, 3u);
  EXPECT_EQ(list.key_averages().total_average().count, 3u);
}

TEST(KeyAverages, FlopsStopAtTheLargestNumber) {
  FunctionEvent huge = range("mm", 0, 1);
  huge.flops = std::numeric_limits<std::uint64_t>::max() - 1;
  FunctionEvent again = range("mm", 2, 3);
  again.flops = 10;
  const EventList list({huge, again});
  EXPECT_EQ(list.key_averages()[0].flops,
            std::numeric_limits<std::uint64_t>::max());
}

TEST(KeyAverages, ListWithoutATreeIsRefusedByTheReferenceOnly) {
  EventListOptions options = reference_rules();
  options.build_tree = false;
  const EventList list({range("f", 0, 5)}, options);
  EXPECT_EQ(list.key_averages().size(), 1u);
  EXPECT_FALSE(reference::key_averages(list).ok());
}

}  // namespace
}  // namespace weft
