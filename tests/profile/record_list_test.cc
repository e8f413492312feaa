// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/record_list.h"

#include <gtest/gtest.h>

#include "event_builder.h"
#include "weft/profile/enforce_unique.h"

namespace weft {
namespace {

using testing_support::us;
using Kind = ListRecord::Kind;

ListRecord record(Kind kind, std::int64_t cpu_us, std::int64_t handle = 0,
                  std::string name = "", std::int64_t thread = 1) {
  ListRecord result;
  result.kind = kind;
  result.cpu_ns = us(cpu_us);
  result.handle = handle;
  result.name = std::move(name);
  result.thread = thread;
  return result;
}

ListRecord mark() { return record(Kind::kMark, 100, 0, kStartMark); }

ListRecord with_device(ListRecord event, std::int64_t device_us) {
  event.device_ns = us(device_us);
  return event;
}

// An open range of one thread must not be ended by another thread's pop.
TEST(RecordLists2017, D36_ThreadsHaveStacksOfTheirOwn) {
  const RecordLists lists = {{mark(), record(Kind::kPush, 105, 0, "request")},
                             {record(Kind::kPop, 135, 0, "", 2)}};
  const auto parsed = parse_record_lists_2017(lists);
  ASSERT_TRUE(parsed.ok());
  ASSERT_EQ(parsed->events.size(), 1u);
  EXPECT_FALSE(parsed->events[0].finished);
  EXPECT_EQ(parsed->begins_without_end, 1u);
  EXPECT_EQ(parsed->ends_without_begin, 1u);

  const auto reference = parse_record_lists_2017(lists, Rules::kReference);
  ASSERT_TRUE(reference.ok());
  EXPECT_EQ(reference->events[0].end_ns, us(35));
}

TEST(RecordLists2017, DeviceTimesCountFromTheMarksDeviceEvent) {
  const RecordLists lists = {
      {with_device(mark(), 1000),
       with_device(record(Kind::kPush, 110, 0, "decode"), 1010),
       with_device(record(Kind::kPop, 140), 1090)}};
  const auto parsed = parse_record_lists_2017(lists);
  ASSERT_TRUE(parsed.ok());
  const FunctionEvent& decode = parsed->events[0];
  EXPECT_EQ(decode.start_ns, us(10));
  ASSERT_EQ(decode.kernels.size(), 1u);
  EXPECT_EQ(decode.kernels[0].start_ns, us(10));
  EXPECT_EQ(decode.kernels[0].duration_ns, us(80));
}

TEST(RecordLists, WithoutAStartMarkThereIsNoOrigin) {
  const RecordLists lists = {{record(Kind::kPush, 1, 1, "f")}};
  EXPECT_EQ(parse_record_lists(lists).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(parse_record_lists_2017(lists).error().code, ErrorCode::kCorrupt);
}

TEST(RecordLists, HandlesPairWhateverTheOrder) {
  const RecordLists lists = {{mark(), record(Kind::kPush, 110, 1, "a"),
                              record(Kind::kPush, 111, 2, "b"),
                              record(Kind::kPop, 120, 1),
                              record(Kind::kPop, 130, 2)}};
  const auto parsed = parse_record_lists(lists);
  ASSERT_TRUE(parsed.ok());
  ASSERT_EQ(parsed->events.size(), 2u);
  EXPECT_EQ(parsed->events[0].end_ns, us(20));
  EXPECT_EQ(parsed->events[1].end_ns, us(30));
}

TEST(RecordLists, OpenRangesEndWithTheListsAndAreCounted) {
  const RecordLists lists = {
      {mark(), record(Kind::kPush, 110, 1, "request")},
      {record(Kind::kPush, 120, 2, "f", 2), record(Kind::kPop, 150, 2, "", 2)}};
  const auto parsed = parse_record_lists(lists);
  ASSERT_TRUE(parsed.ok());
  ASSERT_EQ(parsed->events.size(), 2u);
  EXPECT_FALSE(parsed->events[0].finished);
  EXPECT_EQ(parsed->events[0].end_ns, us(50));
  EXPECT_EQ(parsed->begins_without_end, 1u);
  EXPECT_EQ(parse_record_lists(lists, Rules::kReference)->events.size(), 1u);
}

TEST(RecordLists, EndWithoutBeginIsCountedNotFatal) {
  const RecordLists lists = {{mark(), record(Kind::kPop, 111, 1)}};
  const auto parsed = parse_record_lists(lists);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->ends_without_begin, 1u);
  EXPECT_FALSE(parse_record_lists(lists, Rules::kReference).ok());
}

TEST(RecordLists, MemoryGoesToTheOpenRangesOfItsList) {
  ListRecord bytes = record(Kind::kMemory, 0);
  bytes.cpu_bytes = 64;
  const RecordLists lists = {{mark(), bytes, record(Kind::kPush, 110, 1, "f"),
                              bytes, record(Kind::kPop, 120, 1)}};
  const auto parsed = parse_record_lists(lists);
  ASSERT_TRUE(parsed.ok());
  ASSERT_EQ(parsed->events.size(), 2u);
  EXPECT_EQ(parsed->events[0].name, "[memory]");
  EXPECT_EQ(parsed->events[0].memory.cpu_bytes, 64);
  EXPECT_EQ(parsed->events[1].memory.cpu_bytes, 64);
}

TEST(RecordLists, WrapperOfTheSameNameIsDropped) {
  const RecordLists lists = {{mark(), record(Kind::kPush, 110, 1, "add"),
                              record(Kind::kPush, 111, 2, "add"),
                              record(Kind::kPop, 115, 2),
                              record(Kind::kPop, 117, 1)}};
  const auto parsed = parse_record_lists(lists);
  ASSERT_TRUE(parsed.ok());
  ASSERT_EQ(parsed->events.size(), 1u);
  EXPECT_EQ(parsed->events[0].id, 1);
}

TEST(EnforceUnique, KeysCompareByValue) {
  EnforceUnique<int, std::string> unique;
  EXPECT_TRUE(unique.see(1, "a"));
  EXPECT_TRUE(unique.see(1, "b"));
  EXPECT_FALSE(unique.see(1, "a"));
}

}  // namespace
}  // namespace weft
