// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/raw_event.h"

#include <gtest/gtest.h>

#include "event_builder.h"

namespace weft {
namespace {

using testing_support::memory;
using testing_support::names;
using testing_support::parents;
using testing_support::raw;
using testing_support::reference_rules;
using testing_support::row;
using testing_support::us;
using Names = std::vector<std::string>;

EventList list_of(const std::vector<RawEvent>& records,
                  const EventListOptions& session = {},
                  const RawEventOptions& options = {}) {
  return EventList(parse_raw_events(records, session, options).events, session);
}

RawEvent linked(RawEvent event, std::int64_t op) {
  event.linked_op = op;
  return event;
}

RawEvent on_device(RawEvent event, DeviceType device = DeviceType::kCuda) {
  event.device = device;
  return event;
}

std::int64_t cpu_bytes(const EventList& list, const std::string& name) {
  return row(list, name).memory.cpu_bytes;
}

// 2.8.5: an operation, its launch, its kernel, and a kernel of nobody.
std::vector<RawEvent> launch_example(std::int64_t launch_id) {
  return {raw("A", 0, 100, 5), linked(raw("launch", 20, 30, launch_id, 9), 5),
          on_device(linked(raw("K", 40, 90, launch_id), 5)),
          on_device(raw("Q", 95, 99, launch_id + 1))};
}

TEST(RawEvents, KernelsBelongToTheirOperationAndLaunchesNestInIt) {
  const EventList list = list_of(launch_example(70));
  const auto cuda = DeviceFamily::kCuda;
  EXPECT_EQ(parents(list), (Names{"-", "A", "-", "-"}));
  EXPECT_EQ(row(list, "A").self_cpu_time_total_ns, us(90));
  EXPECT_EQ(row(list, "A").device_time_total_ns[cuda], us(50));
  EXPECT_EQ(row(list, "launch").cpu_time_total_ns, us(10));
  EXPECT_EQ(row(list, "launch").device_time_total_ns[cuda], 0);
  EXPECT_EQ(row(list, "K").device_time_total_ns[cuda], us(50));
  EXPECT_EQ(row(list, "Q").self_device_time_total_ns[cuda], us(4));
}

TEST(RawEvents, D11_LaunchWithAnOperationsNumberOwnsNothing) {
  const EventList list = list_of(launch_example(5));
  const auto cuda = DeviceFamily::kCuda;
  EXPECT_EQ(row(list, "A").device_time_total_ns[cuda], us(50));
  EXPECT_EQ(row(list, "launch").device_time_total_ns[cuda], 0);
  const EventList reference = list_of(launch_example(5), reference_rules());
  EXPECT_EQ(row(reference, "A").device_time_total_ns[cuda], us(100));
}

// D-04: a user's range drawn over device work is no work of an operation.
TEST(RawEvents, D04_AnnotationsAreNobodysKernels) {
  std::vector<RawEvent> records = launch_example(70);
  records.push_back(on_device(linked(raw("drawn", 35, 95, 70), 5)));
  records.back().is_user_annotation = true;
  const EventList list = list_of(records);
  EXPECT_EQ(row(list, "A").kernels.size(), 1u);
  EXPECT_EQ(row(list, "A").device_time_total_ns[DeviceFamily::kCuda], us(50));
}

TEST(RawEvents, LooseEndsAreCounted) {
  std::vector<RawEvent> records = launch_example(70);
  records.push_back(linked(raw("launch", 91, 92, 80, 9), 5));
  const RawEventStatistics statistics =
      parse_raw_events(records, {}).statistics;
  EXPECT_EQ(statistics.unattributed_device_rows, 1u);
  EXPECT_EQ(statistics.launches_without_work, 1u);
}

TEST(RawEvents, OneLaunchMayOwnManyKernels) {
  std::vector<RawEvent> records = launch_example(70);
  records.push_back(on_device(linked(raw("K2", 91, 94, 70), 5)));
  const EventList list = list_of(records);
  EXPECT_EQ(row(list, "A").kernels.size(), 2u);
  EXPECT_EQ(row(list, "A").device_time_total_ns[DeviceFamily::kCuda], us(53));
}

TEST(RawEvents, WorkOfEveryKindOfDeviceIsAttached) {
  const std::vector<RawEvent> records = {
      raw("A", 0, 100, 5),
      on_device(linked(raw("K", 40, 90, 7), 5), DeviceType::kCustom)};
  EXPECT_EQ(
      row(list_of(records), "A").device_time_total_ns[DeviceFamily::kCustom],
      us(50));
  EXPECT_TRUE(row(list_of(records, reference_rules()), "A").kernels.empty());
}

TEST(RawEvents, MeasuredPairsStandForDeviceTimeWhenPositive) {
  RawEvent layer = raw("layer", 0, 100, 1);
  layer.cuda_elapsed_ns = us(40);
  RawEvent nothing = raw("nothing", 200, 210, 2);
  nothing.cuda_elapsed_ns = 0;
  const EventList list = list_of({layer, nothing});
  EXPECT_TRUE(row(list, "layer").is_legacy);
  EXPECT_EQ(row(list, "layer").device_time_total_ns[DeviceFamily::kCuda],
            us(40));
  EXPECT_FALSE(row(list, "nothing").is_legacy);
}

TEST(RawEvents, EndingOnAnotherThreadMakesARangeAsync) {
  RawEvent fetch = raw("fetch", 10, 90, 2);
  fetch.end_thread = 7;
  const EventList list = list_of({raw("request", 0, 100, 1), fetch});
  EXPECT_TRUE(row(list, "fetch").is_async);
  EXPECT_EQ(row(list, "request").self_cpu_time_total_ns, us(100));
}

TEST(RawEvents, RowsAreSortedByStartThenLongestFirst) {
  const EventList list = list_of({raw("late", 50, 60, 1), raw("in", 0, 5, 2),
                                  raw("out", 0, 10, 3), raw("in2", 0, 5, 4)});
  EXPECT_EQ(names(list), (Names{"out", "in", "in2", "late"}));
}

TEST(RawEvents, TimesCountFromTheStartOfTheTrace) {
  RawEventOptions options;
  options.trace_start_ns = us(1000);
  const EventList list = list_of({raw("A", 1000, 1010, 1)}, {}, options);
  EXPECT_EQ(list[0].start_ns, 0);
  EXPECT_EQ(list[0].end_ns, us(10));
}

TEST(Memory, UsageIsInclusiveAndSelfIsNot) {
  const EventList list = list_of({raw("A", 100, 200, 1), raw("B", 120, 180, 2),
                                  memory(64, 150), memory(-64, 190)});
  EXPECT_EQ(cpu_bytes(list, "A"), 0);
  EXPECT_EQ(row(list, "A").self_memory.cpu_bytes, -64);
  EXPECT_EQ(cpu_bytes(list, "B"), 64);
  EXPECT_EQ(row(list, "B").self_memory.cpu_bytes, 64);
}

TEST(Memory, D05_OtherThreadsAreNotCharged) {
  const std::vector<RawEvent> records = {
      raw("A", 100, 200, 1), raw("B", 150, 250, 2, 2), memory(64, 160, 1)};
  EXPECT_EQ(cpu_bytes(list_of(records), "A"), 64);
  EXPECT_EQ(cpu_bytes(list_of(records), "B"), 0);
  EXPECT_EQ(cpu_bytes(list_of(records, reference_rules()), "B"), 64);
}

TEST(Memory, D05_OfTouchingRangesOnlyTheSecondIsCharged) {
  const std::vector<RawEvent> records = {
      raw("A", 100, 200, 1), raw("B", 200, 300, 2), memory(64, 200)};
  EXPECT_EQ(cpu_bytes(list_of(records), "A"), 0);
  EXPECT_EQ(cpu_bytes(list_of(records), "B"), 64);
  EXPECT_EQ(cpu_bytes(list_of(records, reference_rules()), "A"), 64);
}

TEST(Memory, D05_TheEndOfARangeIsOutsideIt) {
  const EventList list = list_of({raw("A", 100, 200, 1), memory(64, 200)});
  EXPECT_EQ(cpu_bytes(list, "A"), 0);
  EXPECT_EQ(cpu_bytes(list, kMemoryRecord), 64);
}

TEST(Memory, BytesOutsideEveryRangeHaveARowOfTheirOwn) {
  const EventList list = list_of({raw("A", 100, 200, 7), memory(-64, 300, 3)});
  ASSERT_EQ(list.size(), 2u);
  const FunctionEvent& loose = list[1];
  EXPECT_EQ(loose.name, "[memory]");
  EXPECT_EQ(loose.id, 8);
  EXPECT_EQ(loose.thread, 3);
  EXPECT_EQ(loose.memory.cpu_bytes, -64);
  EXPECT_FALSE(loose.trace_name);
  EXPECT_FALSE(loose.flops);
  EXPECT_EQ(cpu_bytes(list, "A"), 0);
}

// K8-06: what the rows say adds up to what the counter did.
TEST(Memory, SelfBytesOfAllRowsAddUpToTheRecords) {
  std::vector<RawEvent> records;
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < 50; ++i) {
    records.push_back(raw("outer", i * 100, i * 100 + 80, 2 * i + 1, i % 3));
    records.push_back(
        raw("inner", i * 100 + 10, i * 100 + 40, 2 * i + 2, i % 3));
    for (std::int64_t at = 0; at < 100; at += 7) {
      const std::int64_t bytes = (at % 2 == 0 ? 1 : -1) * (i + at);
      records.push_back(memory(bytes, i * 100 + at, i % 4));
      sum += bytes;
    }
  }
  std::int64_t rows = 0;
  for (const FunctionEvent& event : list_of(records)) {
    rows += event.self_memory.cpu_bytes;
  }
  EXPECT_EQ(rows, sum);
}

TEST(Memory, D37_FailedAllocationCarriesItsSize) {
  RawEvent failed = raw(kOutOfMemoryRecord, 150, 150, 0, 2);
  failed.bytes = 4096;
  const EventList list = list_of({raw("A", 100, 200, 1, 2), failed});
  EXPECT_EQ(row(list, kOutOfMemoryRecord).requested_bytes, 4096);
  EXPECT_EQ(row(list, kOutOfMemoryRecord).memory.cpu_bytes, 0);
  EXPECT_EQ(row(list, kOutOfMemoryRecord).parent, 0u);
}

TEST(Names, OnlyLinkerSymbolsAreDemangled) {
  const EventList list = list_of(
      {raw("Pi", 0, 1, 1), raw("t", 2, 3, 2), raw("_ZN4math4gemmEv", 4, 5, 3)});
  EXPECT_EQ(names(list), (Names{"Pi", "t", "math::gemm()"}));
  const EventList reference =
      list_of({raw("Pi", 0, 1, 1), raw("t", 2, 3, 2)}, reference_rules());
  EXPECT_EQ(names(reference), (Names{"int*", "t"}));
}

TEST(Names, NothingIsHiddenUnlessAskedFor) {
  RawEvent render = raw("render", 2, 3, 2);
  render.stack = {"torch/tensor.py(1): backward", "m.cc(1): f"};
  const std::vector<RawEvent> records = {raw("aten::is_leaf", 0, 1, 1), render};
  EXPECT_EQ(list_of(records).size(), 2u);
  const EventList reference =
      list_of(records, {}, reference_raw_event_options());
  ASSERT_EQ(reference.size(), 1u);
  EXPECT_EQ(reference[0].stack, (Names{"m.cc(1): f"}));
}

}  // namespace
}  // namespace weft
