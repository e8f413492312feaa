// SPDX-License-Identifier: Apache-2.0
// Records made by hand, written as Chrome JSON and read back by a strict
// checker, which reports whatever a viewer could refuse or get wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <random>
#include <set>
#include <string>

#include "fake_trace.h"
#include "json_trace_check.h"
#include "weft_file.h"

namespace weft::test {
namespace {

using Mode = FakeTrace::Mode;

JsonTrace checked(const FakeTrace& trace, Mode mode = Mode::kReadAhead) {
  JsonTrace json = read_json_trace(trace.json(mode));
  EXPECT_EQ(json.all_problems(), "");
  return json;
}

// Python's reader is another strict one; refuses NaN and infinities.
bool python_accepts(const std::string& text) {
  const test::TempPath path(".json");
  std::ofstream(path.str(), std::ios::binary) << text;
  const std::string command =
      "python3 -c \"import json,sys\n"
      "def refuse(c): raise ValueError(c)\n"
      "json.loads(open(sys.argv[1], encoding='utf-8').read(), "
      "parse_constant=refuse)\" " +
      path.str();
  return std::system(command.c_str()) == 0;
}

class ChromeJsonWriterTest : public ::testing::Test {
 protected:
  FakeTrace trace;
  ThreadIndex main = trace.thread("main", 1234);
  ThreadIndex worker = trace.thread("worker", 1235);
  SiteId a = trace.site(SiteKind::kSpan, "a", {"n", "text"});
  SiteId b = trace.site(SiteKind::kSpan, "b");
  SiteId c = trace.site(SiteKind::kSpan, "c");
  SiteId point = trace.site(SiteKind::kInstant, "point", {"n"});
  SiteId depth = trace.site(SiteKind::kCounter, "queue_depth");
  SiteId out = trace.site(SiteKind::kFlowOut, "hand_off");
  SiteId in = trace.site(SiteKind::kFlowIn, "taken");
  SiteId call = trace.site(SiteKind::kAsyncSpan, "call");
};

// Suites named after field checks share the fixture.
using K1_02 = ChromeJsonWriterTest;
using K1_05 = ChromeJsonWriterTest;
using K2_04 = ChromeJsonWriterTest;
using K4_01 = ChromeJsonWriterTest;
using K4_02 = ChromeJsonWriterTest;
using K4_04 = ChromeJsonWriterTest;
using K4_05 = ChromeJsonWriterTest;
using K4_06 = ChromeJsonWriterTest;
using K8_02 = ChromeJsonWriterTest;
using K8_03 = ChromeJsonWriterTest;

TEST_F(ChromeJsonWriterTest, ALeafIsOneEventAndAParentTwo) {
  const auto outer = trace.begin(main, a, 1000);
  trace.span(main, b, 1500, 2500);
  trace.end(main, a, 4000, outer);
  const JsonTrace json = checked(trace);
  ASSERT_EQ(json.with_phase("X").size(), 1u);
  EXPECT_EQ(json.with_phase("X")[0].ts_ns, 1500);
  EXPECT_EQ(json.with_phase("X")[0].dur_ns, 1000);
  ASSERT_EQ(json.with_phase("B").size(), 1u);
  EXPECT_EQ(json.with_phase("B")[0].ts_ns, 1000);
  EXPECT_EQ(json.with_phase("E")[0].ts_ns, 4000);
  EXPECT_EQ(json.tree(1234), "0a 1b");
}

TEST_F(ChromeJsonWriterTest, AnEmptyTraceStillNamesItsProcess) {
  const JsonTrace json = checked(trace);
  ASSERT_EQ(json.named("process_name").size(), 1u);
  EXPECT_EQ(json.named("process_name")[0].args.at("name"), "\"service\"");
}

TEST_F(ChromeJsonWriterTest, LateArgumentsAndFailureBelongToTheirSpan) {
  const auto outer = trace.begin(main, a, 10, {FakeTrace::integer(7)});
  const auto inner = trace.begin(main, b, 20);
  trace.argument(main, 25, inner, "rows", FakeTrace::integer(3));
  trace.argument(main, 26, outer, "n", FakeTrace::integer(8));
  trace.fail(main, 27, inner, "timed out");
  trace.end(main, b, 30, inner);
  trace.end(main, a, 40, outer);
  const JsonTrace json = checked(trace);
  const JsonSpan leaf = json.span("b");
  EXPECT_EQ(leaf.args.at("rows"), "3");
  EXPECT_EQ(leaf.args.at("failed"), "\"timed out\"");
  EXPECT_EQ(json.with_phase("X").size(), 1u) << "a leaf stays one event";
  EXPECT_EQ(json.span("a").args.at("n"), "7");
  EXPECT_EQ(json.span("a").args.at("n#2"), "8") << "set again: both are kept";
}

TEST_F(ChromeJsonWriterTest, WhatARequestDoesCarriesItsId) {
  trace.span(main, a, 10, 20);
  trace.context(main, 21, {42});
  trace.span(main, b, 30, 40);
  trace.context(main, 41, {0x0123456789abcdefu, 0xfedcba9876543210u});
  trace.instant(main, point, 45);
  trace.context(main, 50, {});
  trace.span(main, c, 60, 70);
  const JsonTrace json = checked(trace);
  EXPECT_FALSE(json.span("a").args.contains("request"));
  EXPECT_EQ(json.span("b").args.at("request"), "42");
  EXPECT_EQ(json.named("point")[0].args.at("request"),
            "\"0123456789abcdeffedcba9876543210\"");
  EXPECT_FALSE(json.span("c").args.contains("request"));
}

TEST_F(ChromeJsonWriterTest, SignalHandlersHaveALaneOfTheirOwn) {
  const auto outer = trace.begin(main, a, 10);
  trace.begin(main, b, 15);
  trace.last().position = kSidePosition | 4;
  trace.end(main, b, 25, kSidePosition | 4);
  trace.last().position = kSidePosition | 5;
  trace.end(main, a, 20, outer);  // the lane's times are no concern of main's
  const JsonTrace json = checked(trace);
  EXPECT_EQ(json.tree(1234), "0a");
  ASSERT_EQ(json.named("b").size(), 1u);
  EXPECT_EQ(json.thread_name(json.named("b")[0].tid),
            "\"main (tid 1234) (signal handlers)\"");
}

TEST_F(ChromeJsonWriterTest, AnEndThatComesTooEarlyIsMovedAndCounted) {
  trace.begin(main, a, 1000);
  trace.end(main, a, 900, 0);  // the counter fell
  const JsonTrace json = checked(trace);
  EXPECT_EQ(json.span("a").begin_ns, 1000);
  EXPECT_EQ(json.span("a").end_ns, 1001);
  EXPECT_NE(json.tail.find("\"times_backwards\":1"), std::string::npos);
}

TEST_F(ChromeJsonWriterTest, StepsAreInstants) {
  trace.flow(RecordKind::kStep, main, trace.site(SiteKind::kStep, "step"), 10,
             3);
  const JsonTrace json = checked(trace);
  ASSERT_EQ(json.named("step 3").size(), 1u);
  EXPECT_EQ(json.named("step 3")[0].ph, "i");
  EXPECT_EQ(json.named("step 3")[0].args.at("step"), "3");
}

TEST_F(ChromeJsonWriterTest, MetadataSaysWhereTimeZeroLies) {
  FakeTrace later(5'000'000'000, 6'000'000'000);
  const ThreadIndex thread = later.thread("t", 7);
  later.span(thread, later.site(SiteKind::kSpan, "s"), 5'000'000'100,
             5'000'000'200);
  later.info().metadata.emplace_back("version", "1.4.2");
  const JsonTrace json = checked(later);
  EXPECT_EQ(json.span("s").begin_ns, 100);
  EXPECT_EQ(json.other_data.at("base_monotonic_ns"), "\"5000000000\"");
  EXPECT_EQ(json.other_data.at("base_realtime_ns"), "\"5000000000\"");
  EXPECT_NE(json.tail.find("\"metadata\":{\"version\":\"1.4.2\"}"),
            std::string::npos);
}

// Doubles hold neither, so this looks at the text.
TEST_F(K1_02, DifferencesAreExactFarBeyondWhatDoublesHold) {
  for (const int bit : {47, 53, 62}) {
    const Ticks middle = Ticks{1} << bit;
    FakeTrace far(0, middle + 1000);
    const ThreadIndex thread = far.thread("t", 7);
    const SiteId span = far.site(SiteKind::kSpan, "s");
    far.span(thread, span, middle - 1, middle + 1);
    far.instant(thread, far.site(SiteKind::kInstant, "i"), middle + 2);
    far.counter(thread, far.site(SiteKind::kCounter, "c"), middle + 3,
                FakeTrace::integer(1));
    const std::string text = far.json();
    const auto micros = [](Ticks ns) {
      std::string fraction = std::to_string(ns % 1000);
      fraction.insert(0, 3 - fraction.size(), '0');
      return std::to_string(ns / 1000) + "." + fraction;
    };
    EXPECT_NE(text.find("\"ts\":" + micros(middle - 1) + ",\"dur\":0.002"),
              std::string::npos) << bit << "\n" << text;
    EXPECT_NE(text.find("\"ts\":" + micros(middle + 2)), std::string::npos);
    EXPECT_NE(text.find("\"ts\":" + micros(middle + 3)), std::string::npos);
  }
}

// Viewers rebuild the tree from times, so it must not depend on a tie.
TEST_F(K1_05, TheTreeSurvivesEqualTimes) {
  struct Case { Ticks outer_begin, inner_begin, inner_end, outer_end; };
  for (const auto& [outer_begin, inner_begin, inner_end, outer_end] :
       {Case{10, 10, 20, 30}, Case{10, 20, 30, 30}, Case{10, 10, 30, 30},
        Case{10, 10, 10, 10}, Case{10, 20, 20, 30}}) {
    FakeTrace ties;
    const ThreadIndex thread = ties.thread("t", 7);
    const SiteId outer = ties.site(SiteKind::kSpan, "outer");
    const SiteId inner = ties.site(SiteKind::kSpan, "inner");
    const SiteId mark = ties.site(SiteKind::kInstant, "mark");
    const auto begun = ties.begin(thread, outer, outer_begin);
    ties.instant(thread, mark, outer_begin);
    ties.span(thread, inner, inner_begin, inner_end);
    ties.end(thread, outer, outer_end, begun);
    ties.span(thread, inner, outer_end, outer_end);
    const JsonTrace json = checked(ties);
    EXPECT_EQ(json.tree(7), "0outer 1inner 0inner");
    EXPECT_GT(json.named("mark")[0].ts_ns, json.span("outer").begin_ns);
    for (const JsonSpan& span : json.all_spans())
      EXPECT_LT(span.end_ns, outer_end + 8) << "moved by the records in a tick";
  }
}

TEST_F(K1_05, ATreeOfTiesIsRebuiltExactly) {
  std::mt19937 random(5);
  std::vector<std::uint64_t> open;
  std::string expected;
  Ticks tick = 100;
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 4 == 0) tick += random() % 3;
    if (open.size() < 20 && random() % 2 == 0) {
      if (!expected.empty()) expected += ' ';
      expected += std::to_string(open.size()) + "a";
      open.push_back(trace.begin(main, a, tick));
    } else if (!open.empty()) {
      trace.end(main, a, tick, open.back());
      open.pop_back();
    }
  }
  while (!open.empty()) {
    trace.end(main, a, tick, open.back());
    open.pop_back();
  }
  EXPECT_EQ(checked(trace).tree(1234), expected);
  EXPECT_EQ(checked(trace, Mode::kLive).tree(1234), expected);
}

TEST_F(K2_04, AnEndWithoutBeginIsClippedAtTheStart) {
  trace.span(main, b, 100, 200);
  trace.end(main, a, 300, exporters::kUnknownPosition);
  trace.end(main, c, 400, exporters::kUnknownPosition);
  const JsonTrace json = checked(trace);
  EXPECT_EQ(json.tree(1234), "0c 1a 2b");
  EXPECT_EQ(json.span("a").begin_ns, 0);
  EXPECT_EQ(json.span("a").args.at("clipped"), "true");
}

TEST_F(K2_04, ABeginWithoutEndIsClosedAtTheEndOfTheTrace) {
  trace.begin(main, a, 100);
  trace.span(main, b, 200, 300);
  const JsonTrace json = checked(trace);
  EXPECT_EQ(json.tree(1234), "0a 1b");
  EXPECT_EQ(json.span("a").args.at("clipped"), "true");
  EXPECT_EQ(json.span("a").end_ns, 1'000'000);
}

TEST_F(K2_04, ASpanAcrossALossSaysSo) {
  const auto outer = trace.begin(main, a, 100);
  trace.span(main, b, 110, 120);
  trace.lose(main, 5, DropReason::kRingFull);
  trace.span(main, c, 200, 210);
  trace.end(main, a, 300, outer);
  for (const Mode mode : {Mode::kReadAhead, Mode::kLive}) {
    const JsonTrace json = checked(trace, mode);
    EXPECT_EQ(json.tree(1234), "0a 1b 1c");
    EXPECT_EQ(json.span("a").args.at("incomplete"), "true");
    EXPECT_FALSE(json.span("b").args.contains("incomplete"));
    EXPECT_FALSE(json.span("c").args.contains("incomplete"));
    ASSERT_EQ(json.named("records dropped").size(), 1u);
    EXPECT_EQ(json.named("records dropped")[0].args.at("records"), "5");
    EXPECT_EQ(json.named("records dropped")[0].args.at("reason"),
              "\"ring full\"");
  }
}

// An end that is lost must not leave its span open for ever.
TEST_F(K2_04, ASpanWhoseEndWasLostStopsAtTheLoss) {
  const auto begun = trace.begin(main, a, 100);
  trace.drop_next();
  trace.end(main, a, 150, begun);
  trace.lose(main, 1, DropReason::kSlowSink);
  trace.span(main, b, 200, 210);
  for (const Mode mode : {Mode::kReadAhead, Mode::kLive}) {
    const JsonTrace json = checked(trace, mode);
    EXPECT_EQ(json.tree(1234), "0a 0b");
    EXPECT_EQ(json.span("a").args.at("clipped"), "true");
    EXPECT_EQ(json.span("a").args.at("incomplete"), "true");
  }
}

TEST_F(K2_04, RandomLossNeverGivesAnythingThatDoesNotNest) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    FakeTrace lossy;
    const SiteId site = lossy.site(SiteKind::kSpan, "s");
    const SiteId other = lossy.site(SiteKind::kInstant, "i");
    for (std::uint32_t t = 0; t < 4; ++t) {
      const ThreadIndex thread = lossy.thread("t", 100 + t);
      std::vector<std::uint64_t> open;
      Ticks tick = 10;
      std::uint64_t lost = 0;
      for (int i = 0; i < 600; ++i) {
        tick += random() % 3;
        const bool drop = i % 100 > 60;  // whole stretches, as a slow disk does
        if (!drop && lost > 0) {
          lossy.lose(thread, lost, DropReason::kSlowSink);
          lost = 0;
        }
        if (drop) {
          lossy.drop_next();
          ++lost;
        }
        if (random() % 5 == 0) {
          lossy.instant(thread, other, tick);
        } else if (open.size() < 8 && random() % 2 == 0) {
          open.push_back(lossy.begin(thread, site, tick));
        } else if (!open.empty()) {
          lossy.end(thread, site, tick, open.back());
          open.pop_back();
        } else if (drop) {
          lossy.instant(thread, other, tick);
        }
      }
    }
    checked(lossy);
    checked(lossy, Mode::kLive);
  }
}

TEST_F(K4_01, ValuesThatJsonCannotSayStayStrict) {
  const double values[] = {std::nan(""), INFINITY, -INFINITY, -0.0,
                           std::numeric_limits<double>::denorm_min(), 0.1};
  for (const double value : values)
    trace.counter(main, depth, 100, FakeTrace::real(value));
  trace.counter(main, depth, 200, FakeTrace::natural(std::uint64_t{1} << 63));
  trace.span(main, a, 300, 300);  // a copy that took no time
  trace.begin(main, a, 400, {FakeTrace::natural(~std::uint64_t{0}, 0),
                             FakeTrace::real(std::nan(""), 1)});
  trace.end(main, a, 410, trace.last().position);
  const std::string text = trace.json();
  EXPECT_TRUE(python_accepts(text));
  const JsonTrace json = checked(trace);
  std::vector<std::string> shown;
  for (const JsonEvent& event : json.with_phase("C"))
    shown.push_back(event.args.at("value"));
  ASSERT_EQ(shown.size(), 4u);
  EXPECT_TRUE(std::signbit(std::stod(shown[0])) && std::stod(shown[0]) == 0);
  EXPECT_EQ(std::strtod(shown[1].c_str(), nullptr),
            std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(std::stod(shown[2]), 0.1);
  EXPECT_EQ(std::stod(shown[3]), 9223372036854775808.0);
  ASSERT_EQ(json.with_phase("i").size(), 3u) << "those are points, in words";
  EXPECT_EQ(json.with_phase("i")[0].args.at("value"), "\"NaN\"");
  EXPECT_NE(json.tail.find("\"counters_not_finite\":3"), std::string::npos);
  const auto spans = json.spans.at({1234, 1234});
  EXPECT_EQ(spans[1].args.at("n"), "\"18446744073709551615\"");
  EXPECT_EQ(spans[1].args.at("text"), "\"NaN\"");
}

TEST_F(K4_01, TracksHaveNamesAndAnOrder) {
  trace.span(worker, a, 10, 20);
  trace.span(main, a, 10, 20);
  const JsonTrace json = checked(trace);
  EXPECT_EQ(json.thread_name(1234), "\"main\"");
  EXPECT_EQ(json.thread_name(1235), "\"worker\"");
  EXPECT_EQ(json.named("thread_sort_index").size(), 2u);
  EXPECT_EQ(json.named("process_sort_index").size(), 1u);
}

TEST_F(K4_02, IdsAreSmallAndBelongToOneTrackEach) {
  std::set<std::tuple<std::int64_t, std::int64_t, std::string>> tracks;
  std::set<std::pair<std::int64_t, std::int64_t>> ids;
  for (const std::uint32_t pid : {1234u, 99u}) {
    FakeTrace many;
    many.info().process.pid = pid;
    const SiteId site = many.site(SiteKind::kSpan, "s");
    for (std::uint32_t t = 0; t < 20; ++t) {
      // Ten kernel tids, each used by two threads in turn.
      const auto thread =
          many.thread("t" + std::to_string(t), 500 + t % 10, t < 10);
      many.span(thread, site, 10, 20);
      many.begin(thread, site, 30);
      many.last().position = kSidePosition | 7;
      many.end(thread, site, 40, kSidePosition | 7);
      many.last().position = kSidePosition | 8;
    }
    const JsonTrace json = checked(many);
    for (const JsonEvent& event : json.named("thread_name")) {
      EXPECT_TRUE(ids.emplace(event.pid, event.tid).second)
          << event.tid << " stands for two tracks";
      tracks.emplace(event.pid, event.tid, event.args.at("name"));
      const bool first_owner = event.tid >= 500 && event.tid < 510;
      EXPECT_TRUE(first_owner || event.tid >= (1 << 22)) << event.tid;
    }
  }
  EXPECT_EQ(tracks.size(), 80u);
}

TEST_F(K4_04, AScopeEndedOutOfOrderBecomesAnAsyncSpan) {
  const auto first = trace.begin(main, a, 10);
  const auto second = trace.begin(main, b, 20);
  trace.span(main, c, 25, 28);
  trace.end(main, a, 30, first);
  trace.end(main, b, 40, second);
  const JsonTrace json = checked(trace);
  EXPECT_EQ(json.tree(1234), "0a 1c");
  ASSERT_EQ(json.with_phase("b").size(), 1u);
  EXPECT_EQ(json.with_phase("b")[0].name, "b");
  EXPECT_EQ(json.with_phase("b")[0].ts_ns, 20);
  EXPECT_EQ(json.with_phase("e")[0].ts_ns, 40);

  const JsonTrace live = checked(trace, Mode::kLive);
  EXPECT_EQ(live.tree(1234), "0a 1b 2c");
  EXPECT_EQ(live.span("b").args.at("clipped"), "true");
  EXPECT_EQ(live.with_phase("e")[0].ts_ns, 40);
}

TEST_F(K4_04, NothingIsLostWhereSpansCrossAtRandom) {
  std::mt19937 random(9);
  std::vector<std::uint64_t> open;
  Ticks tick = 10;
  constexpr int kSpans = 3000;
  for (int begun = 0; begun < kSpans || !open.empty();) {
    tick += random() % 4;
    if (begun < kSpans && (open.empty() || random() % 2 == 0)) {
      open.push_back(trace.begin(main, a, tick));
      ++begun;
    } else {
      const std::size_t which = random() % open.size();
      trace.end(main, a, tick, open[which]);
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  const JsonTrace json = checked(trace);
  EXPECT_EQ(json.all_spans().size() + json.with_phase("b").size(),
            std::size_t{kSpans});
  checked(trace, Mode::kLive);
}

TEST_F(K4_05, AnArrowLiesInsideSpansOnBothSides) {
  const auto sender = trace.begin(main, a, 10);
  trace.flow(RecordKind::kFlowOut, main, out, 10, ~std::uint64_t{0});
  trace.end(main, a, 10, sender);
  trace.flow(RecordKind::kFlowIn, worker, in, 50, ~std::uint64_t{0});
  const JsonTrace json = checked(trace);
  ASSERT_EQ(json.with_phase("s").size(), 1u);
  ASSERT_EQ(json.with_phase("f").size(), 1u);
  EXPECT_EQ(json.with_phase("f")[0].name, "hand_off") << "one name for both";
  EXPECT_EQ(json.tree(1235), "0taken") << "a span of its own";
}

TEST_F(K4_05, AFlowWithoutPartnerIsAPoint) {
  trace.span(main, a, 1, 2);
  trace.flow(RecordKind::kFlowOut, main, out, 10, 1);
  trace.flow(RecordKind::kFlowIn, worker, in, 50, 2);
  const JsonTrace json = checked(trace);
  EXPECT_EQ(json.with_phase("s").size() + json.with_phase("f").size(), 0u);
  EXPECT_EQ(json.with_phase("i").size(), 2u);
  EXPECT_NE(json.tail.find("\"flows_alone\":2"), std::string::npos);
}

TEST_F(K4_05, SeveralEndsOfOneBeginAreAChain) {
  trace.flow(RecordKind::kFlowIn, worker, in, 50, 1);  // earlier in the file
  trace.flow(RecordKind::kFlowOut, main, out, 10, 1);
  trace.flow(RecordKind::kFlowIn, main, in, 90, 1);
  trace.flow(RecordKind::kFlowOut, main, out, 100, 1);  // the id again
  trace.flow(RecordKind::kFlowIn, worker, in, 150, 1);
  const JsonTrace json = checked(trace);
  ASSERT_EQ(json.with_phase("s").size(), 2u);
  ASSERT_EQ(json.with_phase("t").size(), 1u);
  EXPECT_EQ(json.with_phase("t")[0].tid, 1235);
  ASSERT_EQ(json.with_phase("f").size(), 2u);
  const JsonTrace live = checked(trace, Mode::kLive);
  EXPECT_EQ(live.with_phase("s").size(), 2u);
}

TEST_F(K4_05, AnEndSlightlyBeforeItsBeginIsMovedBehindIt) {
  const auto outer = trace.begin(worker, b, 500);
  trace.flow(RecordKind::kFlowOut, main, out, 1000, 1);
  trace.flow(RecordKind::kFlowIn, worker, in, 900, 1);
  trace.end(worker, b, 5000, outer);
  const JsonTrace json = checked(trace);
  ASSERT_EQ(json.with_phase("f").size(), 1u);
  EXPECT_GT(json.with_phase("f")[0].ts_ns, json.with_phase("s")[0].ts_ns);
  EXPECT_EQ(json.with_phase("f")[0].args.at("recorded_ns"), "900");
  EXPECT_NE(json.tail.find("\"flow_ends_moved\":1"), std::string::npos);
}

TEST_F(K4_05, AHundredThousandFlowsKeepTheirPairs) {
  constexpr std::uint64_t kFlows = 100'000;
  FakeTrace many(0, 1'000'000'000);
  const ThreadIndex sender = many.thread("sender", 10);
  const ThreadIndex receiver = many.thread("receiver", 11);
  const SiteId sites[] = {many.site(SiteKind::kFlowOut, "gpu"),
                          many.site(SiteKind::kFlowOut, "task"),
                          many.site(SiteKind::kFlowOut, "user")};
  const SiteId span = many.site(SiteKind::kSpan, "s");
  const auto id_of = [](std::uint64_t i) { return i * 0x9e3779b97f4a7c15u; };
  Ticks tick = 10;
  for (std::uint64_t i = 0; i < kFlows; ++i, tick += 10) {
    const auto begun = many.begin(sender, span, tick);
    many.flow(RecordKind::kFlowOut, sender, sites[i % 3], tick + 1, id_of(i));
    many.end(sender, span, tick + 2, begun);
  }
  for (std::uint64_t i = 0; i < kFlows; ++i, tick += 10)
    many.flow(RecordKind::kFlowIn, receiver, sites[i % 3], tick, id_of(i));
  const JsonTrace json = checked(many);
  std::map<std::string, std::int64_t> starts;
  for (const JsonEvent& event : json.with_phase("s"))
    EXPECT_TRUE(starts.emplace(event.id, event.ts_ns).second);
  ASSERT_EQ(starts.size(), kFlows);
  const std::int64_t apart = 10 * static_cast<std::int64_t>(kFlows);
  for (const JsonEvent& event : json.with_phase("f"))
    EXPECT_EQ(event.ts_ns, starts.at(event.id) + apart);
}

TEST_F(K4_06, EachPartIsCompleteAndMarksWhatWasOpen) {
  const auto outer = trace.begin(main, a, 100, {FakeTrace::integer(5)});
  trace.span(worker, b, 150, 180);
  trace.span(main, b, 200, 300);      // cut before this
  trace.span(worker, c, 250, 260);
  trace.flow(RecordKind::kFlowOut, worker, out, 270, 1);
  const auto inner = trace.begin(main, c, 400);
  trace.flow(RecordKind::kFlowIn, worker, in, 410, 1);  // and before this
  trace.end(main, c, 500, inner);
  trace.end(main, a, 600, outer);
  const auto parts = trace.json_parts({3, 9, 9});
  ASSERT_EQ(parts.size(), 3u);
  for (const std::string& part : parts) {
    const JsonTrace json = read_json_trace(part);
    EXPECT_EQ(json.all_problems(), "");
    EXPECT_EQ(json.span("a").args.at("clipped"), "true");
    EXPECT_EQ(json.span("a").args.at("n"), "5");
    EXPECT_EQ(json.thread_name(1234), "\"main\"");
    EXPECT_TRUE(json.with_phase("s").empty()) << "no arrow across files";
  }
}

TEST_F(K4_06, RandomCutsLoseNothing) {
  std::mt19937 random(3);
  std::vector<std::uint64_t> open[2];
  Ticks tick = 10;
  std::size_t begun = 0;
  for (int i = 0; i < 3000; ++i) {
    tick += random() % 3;
    const unsigned t = random() % 2;
    const ThreadIndex thread = t == 0 ? main : worker;
    if (open[t].size() < 6 && random() % 2 == 0) {
      open[t].push_back(trace.begin(thread, a, tick));
      ++begun;
    } else if (!open[t].empty()) {
      trace.end(thread, a, tick, open[t].back());
      open[t].pop_back();
    }
  }
  std::size_t whole = 0, clipped = 0;
  for (const auto& part : trace.json_parts({1, 2, 50, 51, 700, 1500, 2000})) {
    const JsonTrace json = read_json_trace(part);
    EXPECT_EQ(json.all_problems(), "");
    for (const JsonSpan& span : json.all_spans())
      ++(span.args.contains("clipped") ? clipped : whole);
  }
  EXPECT_LE(whole, begun);
  EXPECT_GE(whole + clipped, begun);
  EXPECT_GT(clipped, 0u);
}

TEST_F(K8_02, OverlappingRequestsKeepTheirTimesAndThreads) {
  std::vector<std::uint64_t> ids;
  for (Ticks i = 0; i < 100; ++i)
    ids.push_back(trace.async_begin(main, call, 100 + i));
  const auto outer = trace.begin(worker, a, 150);
  for (Ticks i = 0; i < 100; ++i)
    trace.async_end(worker, call, 1000 + 7 * i, ids[i]);
  trace.end(worker, a, 5000, outer);
  for (const Mode mode : {Mode::kReadAhead, Mode::kLive}) {
    const JsonTrace json = checked(trace, mode);
    EXPECT_EQ(json.tree(1235), "0a") << "no thread's stack is disturbed";
    const auto begins = json.with_phase("b"), ends = json.with_phase("e");
    ASSERT_EQ(begins.size(), 100u);
    ASSERT_EQ(ends.size(), 100u);
    for (std::size_t i = 0; i < 100; ++i) {
      EXPECT_EQ(begins[i].id, ends[i].id);
      const std::int64_t number = begins[i].ts_ns - 100;
      EXPECT_EQ(ends[i].ts_ns, 1000 + 7 * number);
      EXPECT_EQ(begins[i].args.at("begin_thread"), "1234");
      EXPECT_EQ(begins[i].args.at("end_thread"), "1235");
    }
  }
}

TEST_F(K8_02, AnEndThatStandsEarlierInTheFileFindsItsBegin) {
  const std::uint64_t id = async_id(main, 0);
  trace.async_end(worker, call, 200, id);
  trace.async_begin(main, call, 100);
  const JsonTrace json = checked(trace);
  ASSERT_EQ(json.with_phase("b").size(), 1u);
  EXPECT_EQ(json.with_phase("b")[0].ts_ns, 100);
  EXPECT_EQ(json.with_phase("e")[0].ts_ns, 200);
}

TEST_F(K8_02, AnUnfinishedSpanIsShownOpenAndCounted) {
  trace.async_begin(main, call, 100);
  const JsonTrace json = checked(trace);
  ASSERT_EQ(json.with_phase("b").size(), 1u);
  EXPECT_EQ(json.with_phase("b")[0].args.at("unfinished"), "true");
  EXPECT_EQ(json.with_phase("e")[0].ts_ns, 1'000'000);
  EXPECT_NE(json.tail.find("\"async_unfinished\":1"), std::string::npos);
}

TEST_F(K8_02, ASecondEndGivesAMessageWithNameIdAndThreads) {
  const auto id = trace.async_begin(main, call, 100);
  trace.async_end(main, call, 200, id);
  trace.async_end(worker, call, 300, id);
  const JsonTrace json = checked(trace);
  EXPECT_EQ(json.with_phase("b").size(), 1u);
  EXPECT_NE(json.tail.find("async span 'call' (id 1) was ended on thread 1234 "
                           "and again on thread 1235"),
            std::string::npos) << json.tail;
}

TEST_F(K8_02, ASpanEndedOnAnotherThreadBecomesAnAsyncSpan) {
  const auto outer = trace.begin(main, a, 100);
  const auto moved = trace.begin(main, b, 110);
  trace.span(main, c, 120, 130);
  trace.end(main, a, 200, outer);
  trace.async_end(worker, b, 300, async_id(main, moved));
  trace.span(main, c, 400, 410);
  const JsonTrace json = checked(trace);
  EXPECT_EQ(json.tree(1234), "0a 1c 0c");
  ASSERT_EQ(json.with_phase("b").size(), 1u);
  EXPECT_EQ(json.with_phase("b")[0].name, "b");
  EXPECT_EQ(json.with_phase("e")[0].tid, 1235);
  EXPECT_NE(json.tail.find("span 'b' (id 1) began on thread 1234 and was ended "
                           "on thread 1235"),
            std::string::npos) << json.tail;
  const JsonTrace live = checked(trace, Mode::kLive);
  EXPECT_EQ(live.tree(1234), "0a 1b 2c 0c");
  EXPECT_EQ(live.with_phase("e")[0].ts_ns, 300);
}

// Nothing was written of it yet when its end came.
TEST_F(K8_02, ALiveLeafEndedElsewhereIsAnAsyncSpanOnly) {
  const auto moved = trace.begin(main, b, 110);
  trace.async_end(worker, b, 300, async_id(main, moved));
  const JsonTrace live = checked(trace, Mode::kLive);
  EXPECT_EQ(live.tree(1234), "");
  EXPECT_EQ(live.with_phase("b").size(), 1u);
}

TEST_F(K8_03, NamesOfEveryKindAreStrictJson) {
  const std::string names[] = {
      std::string(1, 'x'), std::string(255, 'y'), std::string(256, 'z'),
      std::string(64 << 10, 'w'), "\"quoted\\\" \n\t\x01\x7f",
      "\xf0\x9f\x98\x80 smile", "bad \xff\xc0\xaf\xed\xa0\x80 bytes",
      "cut \xf0\x9f"};
  for (const std::string& name : names) {
    const auto begun =
        trace.begin(main, a, 100, {}, trace.string(name));
    trace.end(main, a, 110, begun);
  }
  const SiteId no_name = trace.site(SiteKind::kSpan, "");
  trace.span(main, no_name, 200, 210);
  EXPECT_TRUE(python_accepts(trace.json()));
  EXPECT_EQ(trace.json().find("\\ud"), std::string::npos)
      << "surrogates make Perfetto refuse a file";
  const JsonTrace json = checked(trace);
  const auto shown = json.with_phase("X");
  ASSERT_EQ(shown.size(), 9u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(shown[i].name, names[i]);
  EXPECT_EQ(shown[7].name, "cut \xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(shown[8].name, "(no name)");
  EXPECT_NE(json.tail.find("\"invalid_utf8_bytes\":8"), std::string::npos)
      << json.tail;
}

}  // namespace
}  // namespace weft::test
