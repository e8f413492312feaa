// SPDX-License-Identifier: Apache-2.0

// Records made by hand, in orders and with values that a program rarely makes
// and a file may hold.

#include "call_decoder.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "weft/profile/event_list.h"

namespace weft::profile {
namespace {

using exporters::DecodedRecord;
using exporters::DecodedValue;

constexpr auto kOne = static_cast<ThreadIndex>(1);
constexpr auto kTwo = static_cast<ThreadIndex>(2);
constexpr SiteId kCallSite{1};
constexpr SiteId kMemorySite{2};
constexpr SiteId kUnknownSite{77};

class CallDecoderTest : public testing::Test {
 protected:
  Definitions definitions() {
    Definitions all;
    all.text = [this](StringId number) -> std::string_view {
      const auto found = texts_.find(static_cast<std::uint32_t>(number));
      return found == texts_.end() ? std::string_view() : found->second;
    };
    all.site = [](SiteId number, SiteInfo* info) {
      info->number = number;
      if (number == kCallSite) {
        info->kind = SiteKind::kSpan;
        info->name = StringId{10};
        info->category = StringId{11};
        info->argument_count = 3;
        info->arguments[0] = {StringId{12}, RecordKind::kText};
        info->arguments[1] = {StringId{13}, RecordKind::kInt64};
        info->arguments[2] = {StringId{16}, RecordKind::kUint64};
        return true;
      }
      if (number != kMemorySite) return false;
      info->kind = SiteKind::kInstant;
      info->name = StringId{14};
      info->category = StringId{15};
      return true;
    };
    return all;
  }

  DecodedRecord record(RecordKind kind, ThreadIndex thread,
                       std::uint64_t position, std::uint64_t target = 0) {
    DecodedRecord made;
    made.kind = kind;
    made.thread = thread;
    made.position = position;
    made.target = target;
    made.site = kCallSite;
    made.values = values_.data();
    made.value_count = static_cast<std::uint32_t>(values_.size());
    return made;
  }

  std::map<std::uint32_t, std::string> texts_{
      {10, "call"}, {11, "user_scope"}, {12, "inputs"},    {13, "seq"},
      {14, "free"}, {15, "+memory"},    {16, "fwd_thread"}};
  std::vector<DecodedValue> values_;
  ProfilerOptions options_{.record_shapes = true};
};

TEST_F(CallDecoderTest, AnEndOnAnotherThreadMayComeFirst) {
  CallDecoder decoder(definitions(), options_, -1);
  values_ = {{0, RecordKind::kUint64, async_id(kOne, 40), {}, 0}};
  decoder.add(record(RecordKind::kAsyncEnd, kTwo, 5, async_id(kOne, 40)), 900);
  values_.clear();
  decoder.add(record(RecordKind::kSpanBegin, kOne, 40), 100);
  decoder.close(1000);
  const DecodedCalls calls = decoder.take();
  ASSERT_EQ(calls.events.size(), 1u);
  EXPECT_TRUE(calls.events[0].finished);
  EXPECT_EQ(calls.events[0].start_ns, 100);
  EXPECT_EQ(calls.events[0].end_ns, 900);
  EXPECT_EQ(calls.events[0].end_thread, 2);
  EXPECT_EQ(calls.unfinished, 0u);
}

TEST_F(CallDecoderTest, RecordsOfHandlersPairAmongThemselves) {
  CallDecoder decoder(definitions(), options_, -1);
  decoder.add(record(RecordKind::kSpanBegin, kOne, 8), 100);
  decoder.add(record(RecordKind::kSpanBegin, kOne, kSidePosition | 8), 200);
  decoder.add(record(RecordKind::kSpanEnd, kOne, 9, 8), 400);
  decoder.add(
      record(RecordKind::kSpanEnd, kOne, kSidePosition | 16, kSidePosition | 8),
      300);
  decoder.close(1000);
  const DecodedCalls calls = decoder.take();
  ASSERT_EQ(calls.events.size(), 2u);
  EXPECT_EQ(calls.events[0].end_ns, 400);
  EXPECT_EQ(calls.events[1].end_ns, 300);
}

TEST_F(CallDecoderTest, WhatIsUnknownOrOfTheWrongTypeIsLeftOut) {
  CallDecoder decoder(definitions(), options_, -1);
  values_ = {{0, RecordKind::kInt64, 7, {}, 0},   // inputs are text
             {1, RecordKind::kText, 0, "x", 1},   // a number is not
             {9, RecordKind::kInt64, 7, {}, 0}};  // no such key
  decoder.add(record(RecordKind::kSpanBegin, kOne, 1), 100);
  DecodedRecord unknown = record(RecordKind::kSpanBegin, kOne, 5);
  unknown.site = kUnknownSite;
  decoder.add(unknown, 110);
  unknown.kind = RecordKind::kInstant;
  decoder.add(unknown, 120);
  decoder.add(record(RecordKind::kSpanEnd, kTwo, 3, 1), 130);
  decoder.add(record(RecordKind::kContext, kOne, 9), 140);
  decoder.close(200);
  const DecodedCalls calls = decoder.take();
  ASSERT_EQ(calls.events.size(), 2u);
  EXPECT_EQ(calls.events[0].sequence_nr, -1);
  EXPECT_TRUE(calls.events[0].input_shapes.empty());
  EXPECT_EQ(calls.events[1].name, "");
  EXPECT_EQ(calls.started_before, 1u);
  EXPECT_EQ(calls.unfinished, 2u);
}

// 2.1.1: a thread without a number of its forward call says nothing.
TEST_F(CallDecoderTest, AForwardThreadNeedsASequenceNumber) {
  CallDecoder decoder(definitions(), options_, -1);
  values_ = {{1, RecordKind::kInt64, 7, {}, 0},
             {2, RecordKind::kUint64, 3, {}, 0}};
  decoder.add(record(RecordKind::kSpanBegin, kOne, 1), 100);
  values_ = {{2, RecordKind::kUint64, 3, {}, 0}};
  decoder.add(record(RecordKind::kSpanBegin, kOne, 5), 110);
  decoder.close(200);
  const DecodedCalls calls = decoder.take();
  ASSERT_EQ(calls.events.size(), 2u);
  EXPECT_EQ(calls.events[0].fwd_thread, 3);
  EXPECT_EQ(calls.events[1].fwd_thread, 0);
}

TEST_F(CallDecoderTest, AnEnormousReleaseDoesNotOverflow) {
  CallDecoder decoder(definitions(), options_, -1);
  values_ = {{1, RecordKind::kInt64, std::uint64_t{1} << 63, {}, 0}};
  DecodedRecord release = record(RecordKind::kInstant, kOne, 1);
  release.site = kMemorySite;
  decoder.add(release, 5);
  const DecodedCalls calls = decoder.take();
  ASSERT_EQ(calls.memory.size(), 1u);
  EXPECT_EQ(calls.memory[0].bytes, INT64_MAX);
}

TEST_F(CallDecoderTest, CutInputsAreNotTakenForWhole) {
  CallDecoder decoder(definitions(), options_, -1);
  values_ = {{0, RecordKind::kText, 0, "float[2] float[3", 20}};
  decoder.add(record(RecordKind::kSpanBegin, kOne, 1), 100);
  decoder.close(200);
  const DecodedCalls calls = decoder.take();
  EXPECT_EQ(calls.incomplete_inputs, 1u);
  EXPECT_EQ(to_string(calls.events[0].input_shapes), "[[2]]");
}

// 5.8 item 7: the same records make the same bytes.
TEST_F(CallDecoderTest, Acceptance7_TheSameRecordsMakeTheSameTrace) {
  const auto trace = [&] {
    CallDecoder decoder(definitions(), options_, -1);
    for (std::uint64_t i = 0; i < 50; ++i) {
      const auto thread = static_cast<ThreadIndex>(1 + i % 3);
      decoder.add(record(RecordKind::kSpanBegin, thread, 10 * i),
                  static_cast<std::int64_t>(100 * i));
      if (i % 7 != 0)
        decoder.add(record(RecordKind::kSpanEnd, thread, 10 * i + 1, 10 * i),
                    static_cast<std::int64_t>(100 * i + 50));
    }
    decoder.close(10'000);
    const DecodedCalls calls = decoder.take();
    std::ostringstream out;
    EventList(parse_raw_events(calls.events, {}).events)
        .write_chrome_trace(out);
    return out.str();
  };
  const std::string first = trace();
  EXPECT_NE(first.find("\"call\""), std::string::npos);
  EXPECT_EQ(trace(), first);
}

}  // namespace
}  // namespace weft::profile
