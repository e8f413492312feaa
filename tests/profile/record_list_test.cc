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

ListRecord remote_push() {
  ListRecord push = with_device(record(Kind::kPush, 110, 7, "re\"mote", 3), 5);
  push.node_id = 2;
  push.device_index = 1;
  push.shapes = {{2, 3}, {}};
  return push;
}

TEST(RemoteRecords, WhatIsSentArrives) {
  ListRecord memory = record(Kind::kMemory, 115);
  memory.cpu_bytes = -64;
  memory.cuda_bytes = 32;
  const std::vector<ListRecord> sent = {remote_push(), memory,
                                        record(Kind::kPop, 120, 7)};
  const auto received = deserialize_records(serialize_records(sent));
  ASSERT_TRUE(received.ok()) << received.error().message;
  ASSERT_EQ(received->size(), 3u);
  const ListRecord& push = received->at(0);
  EXPECT_EQ(push.kind, Kind::kPush);
  EXPECT_EQ(push.name, "re\"mote");
  EXPECT_EQ(push.thread, 3);
  EXPECT_EQ(push.handle, 7);
  EXPECT_EQ(push.node_id, 2);
  EXPECT_EQ(push.cpu_ns, us(110));
  EXPECT_EQ(push.device_ns, us(5));
  EXPECT_EQ(push.device_index, 1);
  EXPECT_EQ(push.shapes, remote_push().shapes);
  EXPECT_TRUE(push.is_remote);
  EXPECT_EQ(received->at(1).cpu_bytes, -64);
  EXPECT_EQ(received->at(1).cuda_bytes, 32);
  EXPECT_FALSE(received->at(2).device_ns.has_value());
  EXPECT_TRUE(deserialize_records(serialize_records({}))->empty());
}

// The reference's handles are doubles.
TEST(RemoteRecords, WholeDoublesAreNumbers) {
  const auto read =
      deserialize_records(R"([[1,"a",1,7.0,2,0,5,0,0,-1,0,[]]])");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->at(0).handle, 7);
}

TEST(RemoteRecords, WhatCannotBeIsRefusedByName) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "JSON"},
      {"{}", "not a list"},
      {"[1]", "record 0"},
      {R"([[1,"a",1,7,2,0,5,false,0,-1,0]])", "11 fields"},
      {R"([[1,"a",1,7,2,0,5,false,0,-1,0,[],1]])", "13 fields"},
      {R"([[4,"a",1,7,2,0,5,false,0,-1,0,[]]])", "kind"},
      {R"([[1,5,1,7,2,0,5,false,0,-1,0,[]]])", "name"},
      {R"([[1,"a",1,7.5,2,0,5,false,0,-1,0,[]]])", "handle"},
      {R"([[1,"a",1,1e300,2,0,5,false,0,-1,0,[]]])", "handle"},
      {R"([[1,"a",1,7,2,0,0,false,0,-1,0,[]]])", "cpu ns"},
      {R"([[1,"a",1,7,2,0,5,true,0,-1,0,[]]])", "device"},
      {R"([[1,"a",1,7,2,0,5,true,0,0,-1,[]]])", "device us"},
      {R"([[1,"a",1,7,2,0,5,false,0,-1,0,[1]]])", "shapes"},
      {R"([[1,"a",1,7,2,0,5,false,0,-1,0,[["x"]]]])", "shapes"},
  };
  for (const auto& [json, word] : cases) {
    const auto read = deserialize_records(json);
    ASSERT_FALSE(read.ok()) << json;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(read.error().message.find(word), std::string::npos)
        << read.error().message;
  }
}

TEST(RemoteRecords, ListsOfOtherNodesJoinTheLocalOnes) {
  RecordLists lists = {{mark(), record(Kind::kPush, 105, 7, "local"),
                        record(Kind::kPop, 135, 7)}};
  ListRecord pop = record(Kind::kPop, 120, 7, "", 3);
  pop.node_id = 2;
  add_remote_records(
      lists, {record(Kind::kMark, 1, 0, kStartMark), remote_push(), pop});
  const auto parsed = parse_record_lists(lists);
  ASSERT_TRUE(parsed.ok());
  ASSERT_EQ(parsed->events.size(), 2u);
  const FunctionEvent& local = parsed->events[0];
  const FunctionEvent& remote = parsed->events[1];
  EXPECT_FALSE(local.is_remote);
  EXPECT_TRUE(remote.is_remote);
  EXPECT_EQ(remote.node_id, 2);
  EXPECT_EQ(remote.start_ns, us(10)) << "by the local start mark";
  EXPECT_EQ(remote.input_shapes, remote_push().shapes);
}

}  // namespace
}  // namespace weft
