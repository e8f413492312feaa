// SPDX-License-Identifier: Apache-2.0
//
// What each instrumentation call puts into the stream.

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "runtime/collection.h"
#include "weft/async_span.h"
#include "weft/flow.h"
#include "weft/instant.h"
#include "weft/request.h"
#include "weft/session.h"
#include "weft/span.h"
#include "weft/status.h"

namespace weft::test {
namespace {

using Record = CollectingExporter::Record;

// All records of the threads' own streams, thread by thread.
std::vector<Record> records_of(const CollectingExporter& all) {
  std::vector<Record> records;
  for (const auto& [index, thread] : all.threads())
    records.insert(records.end(), thread.records.begin(), thread.records.end());
  return records;
}

std::vector<RecordKind> kinds_of(const CollectingExporter& all) {
  std::vector<RecordKind> kinds;
  for (const Record& record : records_of(all)) kinds.push_back(record.kind);
  return kinds;
}

std::uint64_t value_of(const Record& record, std::size_t at) {
  return record.values.at(at).word1;
}

TEST(Records, ASpanHasItsArgumentsInTheOrderOfItsKeys) {
  Collection collection;
  {
    WEFT_SPAN("decode", {"bytes", 17}, {"ratio", 0.5}, {"last", true},
              {"text", "eight by"});
  }
  const CollectingExporter& all = collection.stop();
  const auto records = records_of(all);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(all.name_of(records[0]), "decode");
  ASSERT_EQ(records[0].values.size(), 4u);
  EXPECT_EQ(kind_of(records[0].values[0]), RecordKind::kInt64);
  EXPECT_EQ(value_of(records[0], 0), 17u);
  EXPECT_EQ(kind_of(records[0].values[1]), RecordKind::kDouble);
  EXPECT_EQ(kind_of(records[0].values[2]), RecordKind::kBool);
  EXPECT_EQ(kind_of(records[0].values[3]), RecordKind::kText);
  for (unsigned i = 0; i < 4; ++i)
    EXPECT_EQ(flags_of(records[0].values[i]), i);
  const SiteInfo& site = all.sites().at(records[0].low());
  ASSERT_EQ(site.argument_count, 4u);
  EXPECT_EQ(all.text(site.arguments[0].key), "bytes");
  EXPECT_EQ(all.text(site.arguments[3].key), "text");
  EXPECT_EQ(site.kind, SiteKind::kSpan);
  EXPECT_EQ(all.text(site.category), "default");
}

TEST(Records, ArgumentsAreNotEvaluatedWhenTheSiteIsOff) {
  int evaluated = 0;
  const auto evaluate = [&] { return ++evaluated; };
  {
    Collection collection(only("net"));
    WEFT_SPAN_CAT("db", "query", {"n", evaluate()});
    WEFT_INSTANT_CAT("db", "row", {"n", evaluate()});
    WEFT_SPAN_CAT("net", "read", {"n", evaluate()});
  }
  WEFT_SPAN("nobody subscribed", {"n", evaluate()});
  EXPECT_EQ(evaluated, 1);
}

TEST(Records, TextThatIsTooLongIsCutAndSaysSo) {
  const std::string text(100'000, 'x');
  Collection collection;
  WEFT_INSTANT("long", {"text", text}, {"after", 7});
  const CollectingExporter& all = collection.stop();
  const auto records = records_of(all);
  ASSERT_EQ(records.size(), 1u);
  ASSERT_EQ(records[0].values.size(), kMaxRecordSlots - 1);
  EXPECT_EQ(payload_of(records[0].values[0]), text.size());
  EXPECT_EQ(kind_of(records[0].values.back()), RecordKind::kInt64);
  EXPECT_EQ(records[0].values.back().word1, 7u);
}

TEST(Records, CountersStepsAndFlowsCarryTheirValue) {
  Collection collection;
  WEFT_COUNTER("queue depth", 42);
  WEFT_STEP("frame", 7);
  const std::uint64_t flow = next_flow_id();
  WEFT_FLOW_OUT("hand off", flow);
  WEFT_FLOW_IN_GLOBAL("hand off", ~std::uint64_t{0});
  const CollectingExporter& all = collection.stop();
  const auto records = records_of(all);
  ASSERT_EQ(kinds_of(all),
            (std::vector{RecordKind::kCounter, RecordKind::kStep,
                         RecordKind::kFlowOut, RecordKind::kFlowIn}));
  EXPECT_EQ(value_of(records[0], 0), 42u);
  EXPECT_EQ(value_of(records[1], 0), 7u);
  EXPECT_EQ(value_of(records[2], 0), flow);
  EXPECT_EQ(records[2].flags & kFlagGlobal, 0);
  EXPECT_EQ(value_of(records[3], 0), ~std::uint64_t{0});
  EXPECT_EQ(records[3].flags & kFlagGlobal, kFlagGlobal);
}

TEST(Records, FlowIdsOfManyThreadsAreDistinct) {
  std::vector<std::vector<std::uint64_t>> ids(8);
  run_threads(8, [&](unsigned i) {
    for (int n = 0; n < 10'000; ++n) ids[i].push_back(next_flow_id());
  });
  std::vector<std::uint64_t> all;
  for (const auto& some : ids) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

TEST(Records, LateArgumentsAndFailureNameTheirSpan) {
  Collection collection;
  {
    WEFT_SPAN_NAMED(query, "query");
    WEFT_SPAN_NAMED(inner, "inner");
    query.set("rows", 12u);
    query.fail("timeout");
  }
  const CollectingExporter& all = collection.stop();
  const auto records = records_of(all);
  ASSERT_EQ(records.size(), 6u);
  EXPECT_EQ(records[2].kind, RecordKind::kArgument);
  EXPECT_EQ(all.text(static_cast<StringId>(records[2].low())), "rows");
  EXPECT_EQ(records[2].high(), records[0].position);
  EXPECT_EQ(value_of(records[2], 0), 12u);
  EXPECT_EQ(records[3].kind, RecordKind::kFailure);
  EXPECT_EQ(all.text(static_cast<StringId>(records[3].low())), "timeout");
  EXPECT_EQ(records[3].high(), records[0].position);
}

TEST(Records, AMovedSpanEndsOnceWhereItWasMovedTo) {
  Collection collection;
  {
    WEFT_SPAN_NAMED(first, "moved");
    Span second = std::move(first);
    Span third;
    third = std::move(second);
    first.end();
    second.end();
    EXPECT_FALSE(first);
    EXPECT_TRUE(third);
    third.end();
    EXPECT_FALSE(third);
  }
  const CollectingExporter& all = collection.stop();
  EXPECT_EQ(kinds_of(all),
            (std::vector{RecordKind::kSpanBegin, RecordKind::kSpanEnd}));
}

TEST(Records, RequestsNestAndGoBack) {
  Collection collection;
  {
    const Request outer(1);
    EXPECT_EQ(Request::current(), (RequestId{1, 0}));
    {
      const Request inner(RequestId{2, 3});
      WEFT_INSTANT("inside");
    }
    EXPECT_EQ(Request::current(), (RequestId{1, 0}));
  }
  EXPECT_EQ(Request::current(), RequestId{});
  const CollectingExporter& all = collection.stop();
  const auto records = records_of(all);
  ASSERT_EQ(kinds_of(all),
            (std::vector{RecordKind::kContext, RecordKind::kContext,
                         RecordKind::kInstant, RecordKind::kContext,
                         RecordKind::kContext}));
  EXPECT_EQ(value_of(records[0], 0), 1u);
  ASSERT_EQ(records[1].values.size(), 2u);
  EXPECT_EQ(value_of(records[1], 0), 2u);
  EXPECT_EQ(value_of(records[1], 1), 3u);
  EXPECT_EQ(value_of(records[3], 0), 1u);
  EXPECT_EQ(records[4].values.size(), 0u);
}

// A thread whose request began before it recorded anything.
TEST(Records, TheFirstRecordOfAThreadFollowsItsRequest) {
  std::thread([] {
    const Request request(9);
    Collection collection;
    WEFT_INSTANT("first");
    const CollectingExporter& all = collection.stop();
    EXPECT_EQ(kinds_of(all),
              (std::vector{RecordKind::kContext, RecordKind::kInstant}));
  }).join();
}

TEST(Records, NamesAndMetadataFromBeforeTheStartAreTold) {
  std::thread([] {
    set_thread_name("acceptor");
    set_metadata("version", "1.4.2");
    set_metadata("version", "1.4.3");
    Collection collection;
    WEFT_INSTANT("first");
    const CollectingExporter& all = collection.stop();
    ASSERT_EQ(all.threads().size(), 1u);
    EXPECT_EQ(all.thread_name(all.threads().begin()->second), "acceptor");
    ASSERT_EQ(all.metadata().size(), 2u);
    EXPECT_EQ(all.metadata()[1],
              (std::pair<std::string, std::string>("version", "1.4.3")));
  }).join();
}

TEST(Records, AThreadThatIsRenamedIsToldAgain) {
  Collection collection;
  std::thread([] {
    WEFT_INSTANT("before");
    set_thread_name("after");
  }).join();
  const CollectingExporter& all = collection.stop();
  ASSERT_EQ(all.threads().size(), 1u);
  const auto& thread = all.threads().begin()->second;
  EXPECT_EQ(all.thread_name(thread), "after");
  EXPECT_GE(thread.info.exit_tick, thread.records[0].tick);
  EXPECT_LE(thread.info.start_tick, thread.records[0].tick);
}

TEST(Records, AnAsyncSpanEndsOnAnyThreadUnderItsId) {
  Collection collection;
  {
    WEFT_ASYNC_SPAN(call, "call", {"size", 3});
    std::thread([moved = std::move(call)]() mutable { moved.end(); }).join();
  }
  const CollectingExporter& all = collection.stop();
  const Record* begin = nullptr;
  const Record* end = nullptr;
  std::uint64_t id = 0;
  for (const auto& [index, thread] : all.threads())
    for (const Record& record : thread.records) {
      if (record.kind == RecordKind::kAsyncBegin) {
        begin = &record;
        id = async_id(static_cast<ThreadIndex>(index), record.position);
      } else if (record.kind == RecordKind::kAsyncEnd) {
        end = &record;
      }
    }
  ASSERT_NE(begin, nullptr);
  ASSERT_NE(end, nullptr);
  EXPECT_EQ(all.name_of(*begin), "call");
  EXPECT_EQ(value_of(*end, 0), id);
}

// The promise that a begin took comes back to its thread: afterwards as many
// spans fit into its ring as before.
TEST(Records, ASpanMayEndOnAnotherThread) {
  Collection collection;
  std::uint64_t calls = 0;
  for (int i = 0; i < 2'000; ++i) {
    WEFT_SPAN_NAMED(carried, "carried");
    calls += 2;
    if (i % 100 == 0) {
      std::thread([&] {
        carried.set("late", i);
        ++calls;
        carried.end();
      }).join();
    } else {
      carried.end();
    }
  }
  const CollectingExporter& all = collection.stop();
  EXPECT_EQ(all.count(RecordKind::kSpanBegin), 2'000u);
  EXPECT_EQ(all.count(RecordKind::kSpanEnd), 1'980u);
  EXPECT_EQ(all.count(RecordKind::kAsyncEnd), 20u);
  EXPECT_EQ(calls, all.heads() + all.dropped());
}

// K8-03: names made at run time.
TEST(K8_03, NamesOfEveryLengthAreCopied) {
  std::vector<std::string> names;
  for (const std::size_t length : {0u, 1u, 255u, 256u, 64u << 10})
    names.emplace_back(length, 'a' + static_cast<char>(length % 26));
  Collection collection;
  for (const std::string& name : names) {
    std::string copy = name;
    WEFT_SPAN_DYN(copy);
    copy.assign(copy.size(), '?');  // what was recorded is its own
  }
  WEFT_SPAN_DYN(std::string("a") + "b");
  const CollectingExporter& all = collection.stop();
  std::vector<std::string> seen;
  for (const Record& record : records_of(all))
    if (record.kind == RecordKind::kSpanBegin)
      seen.push_back(all.name_of(record));
  names.push_back("ab");
  EXPECT_EQ(seen, names);
}

TEST(K8_03, TheSameTextFromTwoPlacesIsOneName) {
  const std::string one = "the same name";
  const std::string other = std::string("the same ") + "name";
  Collection collection;
  { WEFT_SPAN_DYN(one); }
  { WEFT_SPAN_DYN(other); }
  const CollectingExporter& all = collection.stop();
  const auto records = records_of(all);
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0].high(), records[2].high());
}

}  // namespace
}  // namespace weft::test
