// SPDX-License-Identifier: Apache-2.0
//
// Starting, stopping, limits, and several subscriptions at once.

#include <gtest/gtest.h>
#include <time.h>

#include <atomic>
#include <future>

#include "runtime/collection.h"
#include "runtime/scale.h"
#include "runtime/session_collector.h"
#include "weft/async_span.h"
#include "weft/instant.h"
#include "weft/session.h"
#include "weft/span.h"
#include "weft/status.h"

namespace weft::test {
namespace {

std::uint64_t monotonic_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// (a) of K1-01: what was asked for is what stamps the records.
TEST(K1_01, SpansLieInTheirBracketsOfTheMonotonicClock) {
  const auto collected = open_session_collector();
  InitOptions options;
  options.output = "collected";
  options.clock = ClockChoice::kMonotonic;
  ASSERT_TRUE(init(options).ok());
  ASSERT_TRUE(thread_init().ok());  // a ring that holds them all
  const unsigned spans = scaled(10'000);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> brackets;
  for (unsigned i = 0; i < spans; ++i) {
    const std::uint64_t before = monotonic_ns();
    { WEFT_SPAN("bracketed"); }
    brackets.emplace_back(before, monotonic_ns());
  }
  EXPECT_EQ(status().clock, "monotonic");
  ASSERT_TRUE(shutdown().ok());
  EXPECT_EQ(collected->process().clock, "monotonic");
  ASSERT_EQ(collected->threads().size(), 1u);
  const auto& records = collected->threads().begin()->second.records;
  ASSERT_EQ(records.size(), 2 * spans);
  for (unsigned i = 0; i < spans; ++i) {
    const auto& begin = records[2 * i];
    const auto& end = records[2 * i + 1];
    EXPECT_NE(begin.flags & kFlagMonotonic, 0);
    EXPECT_LE(brackets[i].first, begin.tick);
    EXPECT_LE(begin.tick, end.tick);
    EXPECT_LE(end.tick, brackets[i].second);
  }
}

TEST(K2_05, RecordsBeyondALimitAreCountedAndTheNextSessionIsWhole) {
  std::atomic<int> calls{0};
  std::promise<std::string> reached;
  const auto collected = open_session_collector();
  InitOptions options;
  options.output = "collected";
  options.limits.records = 1000;
  options.limits.on_reached = [&](std::string_view what) {
    if (++calls == 1) reached.set_value(std::string(what));
  };
  ASSERT_TRUE(init(options).ok());
  for (int i = 0; i < 5000; ++i) WEFT_INSTANT("limited");
  EXPECT_EQ(reached.get_future().get(), "1000 records");
  ASSERT_TRUE(shutdown().ok());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(collected->heads(), 1000u);
  EXPECT_EQ(collected->result().dropped[static_cast<int>(DropReason::kLimit)],
            4000u);
  EXPECT_EQ(collected->result().reason, "limit: 1000 records");

  const auto second = open_session_collector();
  ASSERT_TRUE(init("collected").ok());
  for (int i = 0; i < 5000; ++i) WEFT_INSTANT("unlimited");
  ASSERT_TRUE(shutdown().ok());
  EXPECT_EQ(second->heads(), 5000u);
  EXPECT_EQ(second->dropped(), 0u);
  EXPECT_EQ(second->result().reason, "shutdown");
}

// Records until the limit is told, and as many after it.
void expect_limit_stops(SubscriptionOptions options, const std::string& reason) {
  std::promise<void> reached;
  std::atomic<int> told{0};
  options.limits.on_reached = [&](std::string_view) {
    if (++told == 1) reached.set_value();
  };
  Collection collection(std::move(options), Collection::Keep::kCounts);
  const auto is_reached = reached.get_future();
  std::uint64_t calls = 0;
  while (is_reached.wait_for(std::chrono::seconds(0)) !=
         std::future_status::ready) {
    WEFT_INSTANT("up to the limit");
    ++calls;
  }
  for (int i = 0; i < 1000; ++i) WEFT_INSTANT("beyond");
  calls += 1000;
  const CollectingExporter& all = collection.stop();
  EXPECT_EQ(told, 1);
  EXPECT_EQ(calls, all.heads() + all.dropped());
  EXPECT_GE(all.result().dropped[static_cast<int>(DropReason::kLimit)], 1000u);
  EXPECT_EQ(all.result().reason, reason);
}

TEST(K2_05, ALimitOfBytesStops) {
  SubscriptionOptions options;
  options.limits.bytes = 100'000;
  expect_limit_stops(std::move(options), "limit: 100000 bytes");
}

TEST(K2_05, ALimitOfTimeStops) {
  SubscriptionOptions options;
  options.limits.duration = std::chrono::milliseconds(20);
  expect_limit_stops(std::move(options), "limit: 20000000 ns");
}

// A session that somebody forgot must not keep an operator from tracing.
TEST(K8_01, RestartTakesOverFromARunningSession) {
  const auto forgotten = open_session_collector();
  ASSERT_TRUE(init("forgotten").ok());
  WEFT_INSTANT("before");
  const auto wanted = open_session_collector();
  InitOptions options;
  options.output = "wanted";
  std::thread([&] { ASSERT_TRUE(restart(options).ok()); }).join();
  WEFT_INSTANT("after");
  ASSERT_TRUE(shutdown().ok());
  EXPECT_EQ(forgotten->heads(), 1u);
  EXPECT_EQ(forgotten->result().reason, "restart");
  EXPECT_EQ(wanted->heads(), 1u);
}

TEST(K8_01, StartsAndStopsOnAnyThreadAndCoversAll) {
  const auto collected = open_session_collector();
  std::atomic<int> stage{0};
  const auto wait_for = [&](int wanted) {
    while (stage != wanted) std::this_thread::yield();
  };
  const auto work = [] {
    WEFT_SPAN("work");
    WEFT_COUNTER("work done", 1);
  };
  std::thread b([&] {  // lives before the start
    work();            // not covered
    ++stage;
    wait_for(2);
    work();
  });
  wait_for(1);
  std::thread([&] { ASSERT_TRUE(init("collected").ok()); }).join();
  stage = 2;
  b.join();
  std::thread(work).join();  // made afterwards
  work();
  std::thread([&] { ASSERT_TRUE(shutdown().ok()); }).join();
  EXPECT_EQ(collected->threads().size(), 3u);
  for (const auto& [index, thread] : collected->threads())
    EXPECT_EQ(thread.heads, 3u);
  EXPECT_TRUE(collected->problems().empty());
}

TEST(K8_01, ASecondStartIsBusyAndNamesTheOutput) {
  const auto collected = open_session_collector();
  ASSERT_TRUE(init("collected").ok());
  open_session_collector();
  const Result<void> second = init("another");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kBusy);
  EXPECT_NE(second.error().message.find("\"collected\""), std::string::npos)
      << second.error().message;
  EXPECT_EQ(start().error().code, ErrorCode::kBusy);
  WEFT_INSTANT("still recorded");
  ASSERT_TRUE(shutdown().ok());
  EXPECT_EQ(collected->heads(), 1u);
}

TEST(K8_01, WhatDoesNotRunCannotBeStopped) {
  EXPECT_EQ(stop().error().code, ErrorCode::kNotRunning);
  EXPECT_EQ(start().error().code, ErrorCode::kNotRunning);
  EXPECT_EQ(shutdown().error().code, ErrorCode::kNotRunning);
  EXPECT_EQ(set_categories("net").error().code, ErrorCode::kNotRunning);
  ASSERT_TRUE(init(InitOptions()).ok());
  ASSERT_TRUE(stop().ok());
  EXPECT_EQ(stop().error().code, ErrorCode::kNotRunning);
  ASSERT_TRUE(shutdown().ok());
  EXPECT_EQ(shutdown().error().code, ErrorCode::kNotRunning);
  Subscription none;
  EXPECT_EQ(none.stop().error().code, ErrorCode::kNotRunning);
}

TEST(K8_01, AnExceptionEndsTheSubscriptionItPasses) {
  const auto collected = std::make_shared<CollectingExporter>();
  try {
    const Result<Subscription> running = subscribe({}, collected);
    ASSERT_TRUE(running.ok());
    WEFT_INSTANT("before the exception");
    throw 1;
  } catch (int) {
  }
  EXPECT_TRUE(collected->ended());
  EXPECT_EQ(collected->heads(), 1u);
  EXPECT_EQ(status().subscriptions, 0u);
}

// The begin is missing at one edge and the end at the other; positions say so.
TEST(K8_01, SpansOpenAtAnEdgeAreInHalf) {
  Collection outer;  // keeps the sites on
  std::optional<Collection> inner;
  {
    WEFT_SPAN("open at the start");
    inner.emplace();
    { WEFT_SPAN("whole"); }
  }
  WEFT_SPAN_NAMED(open, "open at the stop");
  const CollectingExporter& all = inner->stop();
  open.end();
  EXPECT_EQ(all.count(RecordKind::kSpanBegin), 2u);
  EXPECT_EQ(all.count(RecordKind::kSpanEnd), 2u);
  const CollectingExporter& whole = outer.stop();
  EXPECT_EQ(whole.count(RecordKind::kSpanBegin), 3u);
  EXPECT_EQ(whole.count(RecordKind::kSpanEnd), 3u);
}

// The same with a filter: an end without begin is shown if its site passes.
TEST(K8_01, SpansOpenAtTheStartOfAFilteredSubscriptionAreInHalf) {
  Collection outer;
  std::optional<Collection> inner;
  {
    WEFT_SPAN_CAT("net", "open at the start");
    WEFT_SPAN_CAT("db", "open, but filtered out");
    inner.emplace(only("net"));
  }
  const CollectingExporter& all = inner->stop();
  EXPECT_EQ(all.heads(), 1u);
  EXPECT_EQ(all.count(RecordKind::kSpanEnd), 1u);
  outer.stop();
}

TEST(Subscriptions, DoNotDisturbEachOther) {
  Collection everything;
  std::uint64_t all_calls = 0;
  std::uint64_t net_calls = 0;
  for (int round = 0; round < 20; ++round) {
    Collection net(only("net"));
    std::uint64_t calls = 0;
    for (int i = 0; i < 100; ++i) {
      WEFT_SPAN_CAT("net", "read");
      WEFT_SPAN_CAT("db", "query");
      WEFT_INSTANT_CAT("net", "packet");
      calls += 3;
      all_calls += 5;
    }
    const CollectingExporter& seen = net.stop();
    EXPECT_EQ(seen.heads(), calls);
    EXPECT_TRUE(seen.info().filtered);
    net_calls += calls;
    for (const auto& [index, thread] : seen.threads())
      expect_nested(seen, thread);
    for (int i = 0; i < 100; ++i) {
      WEFT_SPAN_CAT("net", "read");
      all_calls += 2;
    }
  }
  const CollectingExporter& all = everything.stop();
  EXPECT_EQ(all.heads(), all_calls);
  EXPECT_EQ(net_calls, 20u * 300u);
}

// K2-04: what a filter left out leaves no end behind either.
TEST(Subscriptions, AFilterHidesAsyncSpansAndSpansThatEndElsewhereWhole) {
  Collection collection(only("net"));
  Collection everything;
  for (int i = 0; i < 100; ++i) {
    WEFT_ASYNC_SPAN_CAT(shown, "net", "shown");
    WEFT_ASYNC_SPAN_CAT(hidden, "db", "hidden");
    WEFT_SPAN_NAMED_CAT(shown_span, "net", "shown");
    WEFT_SPAN_NAMED_CAT(hidden_span, "db", "hidden");
    if (i % 10 == 0)
      std::thread([&] {
        shown_span.end();
        hidden_span.end();
        shown.end();
        hidden.end();
      }).join();
  }
  const CollectingExporter& net = collection.stop();
  const CollectingExporter& all = everything.stop();
  EXPECT_EQ(net.count(RecordKind::kAsyncBegin), 100u);
  EXPECT_EQ(net.count(RecordKind::kSpanBegin), 100u);
  EXPECT_EQ(net.count(RecordKind::kAsyncEnd), 110u);
  EXPECT_EQ(net.count(RecordKind::kSpanEnd), 90u);
  EXPECT_EQ(all.count(RecordKind::kAsyncEnd), 220u);
}

TEST(Subscriptions, MayComeAndGoOnManyThreads) {
  run_threads(8, [](unsigned) {
    for (unsigned i = 0; i < 1 + scaled(100); ++i) {
      Collection mine(Collection::Keep::kCounts);
      WEFT_INSTANT("seen by all that run now");
      EXPECT_GE(mine.stop().heads(), 1u);
    }
  });
  EXPECT_EQ(status().subscriptions, 0u);
}

TEST(Subscriptions, NeedAnExporterAndASensibleFilter) {
  EXPECT_EQ(subscribe({}, nullptr).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(subscribe(only("net,,db"),
                      std::make_shared<CollectingExporter>())
                .error()
                .code,
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace weft::test
