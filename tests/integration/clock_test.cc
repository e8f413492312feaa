// SPDX-License-Identifier: Apache-2.0
//
// What the clock does, seen in the files that come out of the whole runtime.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "export/json_trace_check.h"
#include "export/weft_file.h"
#include "runtime/manual_clock.h"
#include "weft/clock_line.h"
#include "weft/export/trace_reader.h"
#include "weft/flow.h"
#include "weft/instant.h"
#include "weft/session.h"
#include "weft/span.h"
#include "weft/status.h"

namespace weft::test {
namespace {

using exporters::DecodedRecord;
using exporters::TraceReader;

InitOptions options_for(const TempPath& path,
                        std::vector<std::string>* messages) {
  InitOptions options;
  options.output = path.str();
  options.on_message = [messages](std::string_view text) {
    messages->emplace_back(text);
  };
  return options;
}

// Everything recorded so far is with the exporter: the second of two passes
// began after it.
void wait_for_drainer() {
  const std::uint64_t passes = status().drain_passes;
  while (status().drain_passes < passes + 2) std::this_thread::yield();
}

std::size_t naming(const std::vector<std::string>& messages,
                   const std::string& word) {
  return static_cast<std::size_t>(
      std::count_if(messages.begin(), messages.end(), [&](const auto& text) {
        return text.find(word) != std::string::npos;
      }));
}

// (a) What was asked for is what stamps: the counter is not read once.
TEST(K1_01, AskedForMonotonicTheFileSaysSoAndNoCounterIsRead) {
  const TempPath path(".weft");
  std::vector<std::string> messages;
  InitOptions options = options_for(path, &messages);
  options.clock = ClockChoice::kMonotonic;
  const std::uint64_t reads = ManualClock::counter_reads;
  ASSERT_TRUE(init(options).ok());
  for (int i = 0; i < 1000; ++i) {
    WEFT_SPAN("asked");
    WEFT_FLOW_IN("ordered", 1);
  }
  EXPECT_EQ(status().clock, "monotonic");
  ASSERT_TRUE(shutdown().ok());
  EXPECT_EQ(ManualClock::counter_reads, reads);
  auto reader = TraceReader::open(path.str());
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->info().process.clock, "monotonic");
  EXPECT_EQ(reader->info().records, 3000u);
  EXPECT_EQ(words(check_trace(*reader)), "");
  EXPECT_TRUE(messages.empty()) << messages.front();
}

// (b) What was not asked for is said, once for all sessions.
TEST(K1_01, WithoutAnInvariantCounterMonotonicIsTakenAndSaidOnce) {
  ManualClock::invariant = false;
  std::vector<std::string> messages;
  const std::uint64_t reads = ManualClock::counter_reads;
  for (const char* suffix : {".weft", ".json"}) {
    const TempPath path(suffix);
    ASSERT_TRUE(init(options_for(path, &messages)).ok());
    { WEFT_SPAN("by itself"); }
    EXPECT_EQ(status().clock, "monotonic");
    EXPECT_NE(status().clock_reason.find("invariant"), std::string::npos);
    ASSERT_TRUE(shutdown().ok());
    if (path.str().ends_with(".weft")) {
      auto reader = TraceReader::open(path.str());
      ASSERT_TRUE(reader);
      EXPECT_EQ(reader->info().process.clock, "monotonic");
      EXPECT_EQ(reader->info().records, 2u);
      DecodedRecord record;
      while (reader->next(&record))
        EXPECT_NE(record.flags & kFlagMonotonic, 0);
    } else {
      const JsonTrace json = read_json_trace(read_text(path.str()));
      EXPECT_EQ(json.all_problems(), "");
      EXPECT_EQ(json.other_data.at("clock"), "\"monotonic\"");
      EXPECT_NE(json.other_data.at("clock_reason").find("invariant"),
                std::string::npos);
    }
  }
  ManualClock::reset();
  EXPECT_EQ(ManualClock::counter_reads, reads);
  EXPECT_EQ(naming(messages, "invariant"), 1u);
}

ClockLine line_of(const TraceReader& reader) {
  ClockLine line;
  for (const ClockAnchor& anchor : reader.info().anchors) line.add(anchor);
  return line;
}

void expect_times_in_order(TraceReader& reader) {
  const ClockLine line = line_of(reader);
  std::map<ThreadIndex, MonotoneTime> times;
  std::map<ThreadIndex, std::int64_t> last;
  reader.rewind();
  DecodedRecord record;
  while (reader.next(&record)) {
    MonotoneTime& time = times.try_emplace(record.thread, line).first->second;
    const std::int64_t ns =
        (record.flags & kFlagMonotonic) != 0
            ? time.next_ns(static_cast<std::int64_t>(record.tick))
            : time.next(record.tick);
    // Not far from the truth either, which a clamp alone would hide.
    EXPECT_GE(ns, ManualClock::kStartNs);
    EXPECT_LE(ns, ManualClock::ns);
    const auto known = last.try_emplace(record.thread, ns).first;
    EXPECT_GE(ns, known->second);
    known->second = ns;
  }
}

// Half a second of two threads' spans, one a millisecond each; the counter goes
// back by `back_ns` in the middle of it. Returns the records made.
std::uint64_t record_with_a_jump(std::int64_t back_ns) {
  std::uint64_t records = 0;
  std::atomic<int> turn{0};  // odd: the other thread's
  std::thread other([&] {
    for (int i = 0; i < 500; ++i) {
      while (turn != 2 * i + 1) std::this_thread::yield();
      { WEFT_SPAN("other", {"number", i}); }
      ++turn;
    }
  });
  for (int i = 0; i < 500; ++i) {
    {
      WEFT_SPAN("one");
      ManualClock::advance(ManualClock::kMs / 2);
      // In the middle of a span, and of what the drainer has not seen yet.
      if (i == 250) ManualClock::jump(-back_ns);
    }
    ManualClock::advance(ManualClock::kMs / 2);
    ++turn;
    while (turn != 2 * i + 2) std::this_thread::yield();
    if (i % 50 == 0) wait_for_drainer();
    records += 4;
  }
  other.join();
  return records;
}

class K1_01_Jump : public testing::TestWithParam<std::int64_t> {
 protected:
  K1_01_Jump() { ManualClock::reset(); }
};

// (c) The order of each thread stays, the correction is counted and told.
TEST_P(K1_01_Jump, ACounterThatJumpsBackKeepsTheOrderInTheWeftFile) {
  const TempPath path(".weft");
  std::vector<std::string> messages;
  ASSERT_TRUE(init(options_for(path, &messages)).ok());
  EXPECT_EQ(status().clock, "tsc");
  const std::uint64_t before = status().clock_corrections;
  const std::uint64_t records = record_with_a_jump(GetParam());
  ASSERT_TRUE(stop().ok());
  EXPECT_EQ(status().clock_corrections, before + 1);
  EXPECT_EQ(records, status().delivered + status().total_dropped());
  ASSERT_TRUE(shutdown().ok());

  auto reader = TraceReader::open(path.str());
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->info().records, records);
  EXPECT_EQ(words(check_trace(*reader)), "");
  EXPECT_EQ(line_of(*reader).correction_count(), 1u);
  expect_times_in_order(*reader);
}

TEST_P(K1_01_Jump, ACounterThatJumpsBackKeepsTheOrderInTheJson) {
  const TempPath path(".json");
  std::vector<std::string> messages;
  ASSERT_TRUE(init(options_for(path, &messages)).ok());
  const std::uint64_t records = record_with_a_jump(GetParam());
  ASSERT_TRUE(shutdown().ok());
  const JsonTrace json = read_json_trace(read_text(path.str()));
  EXPECT_EQ(json.all_problems(), "");  // the order of each track among them
  EXPECT_EQ(json.all_spans().size(), records / 2);
  EXPECT_NE(json.tail.find("\"clock_corrections\":{\"count\":1,"),
            std::string::npos)
      << json.tail;
}

INSTANTIATE_TEST_SUITE_P(
    ByNs, K1_01_Jump,
    testing::Values(ManualClock::kMs, 60 * ManualClock::kMs,
                    3000'000 * ManualClock::kMs,
                    ManualClock::kStartNs),  // as after a sleep: from zero
    testing::PrintToStringParamName());

// A counter that goes on failing is given up in mid-run.
TEST(K1_01, ACounterThatGoesBackAgainAndAgainIsReplacedInMidRun) {
  std::vector<std::string> messages;
  for (const char* suffix : {".weft", ".json"}) {
    ManualClock::reset();
    const TempPath path(suffix);
    ASSERT_TRUE(init(options_for(path, &messages)).ok());
    EXPECT_EQ(status().clock, "tsc");
    std::uint64_t records = 0;
    for (int i = 0; i < 4; ++i) {
      records += record_with_a_jump(200 * ManualClock::kMs);
      wait_for_drainer();
    }
    EXPECT_EQ(status().clock, "monotonic");
    ASSERT_TRUE(stop().ok());
    EXPECT_EQ(records, status().delivered + status().total_dropped());
    ASSERT_TRUE(shutdown().ok());
    EXPECT_EQ(naming(messages, "3 faults"), 1u);
    if (path.str().ends_with(".weft")) {
      auto reader = TraceReader::open(path.str());
      ASSERT_TRUE(reader);
      EXPECT_EQ(reader->info().records, records);
      EXPECT_EQ(words(check_trace(*reader)), "");
      expect_times_in_order(*reader);
    } else {
      const JsonTrace json = read_json_trace(read_text(path.str()));
      EXPECT_EQ(json.all_problems(), "");
      EXPECT_EQ(json.all_spans().size(), records / 2);
    }
  }
  ManualClock::reset();
}

class K1_02_Recorded : public testing::TestWithParam<unsigned> {
 protected:
  static constexpr int kSteps = 8;
  static constexpr int kKinds = 7;
  static constexpr int kRecords = kSteps * kKinds;

  Ticks middle() const { return Ticks{1} << GetParam(); }
  Ticks first() const { return middle() - kRecords / 2; }

  // A record of every kind in turn, one at each of the ticks around the power
  // of two.
  void record(const TempPath& path) {
    std::vector<std::string> messages;
    ManualClock::reset();
    // init's self-test takes a millisecond.
    ManualClock::ns =
        static_cast<std::int64_t>(middle()) - 10 * ManualClock::kMs;
    ASSERT_TRUE(init(options_for(path, &messages)).ok());
    ManualClock::ns = static_cast<std::int64_t>(middle()) + ManualClock::kMs;
    ManualClock::stamp = first();
    for (int i = 0; i < kSteps; ++i) {
      const auto id = static_cast<std::uint64_t>(i) + 1;
      WEFT_SPAN_NAMED(span, "span");
      ++ManualClock::stamp;
      WEFT_INSTANT("instant");
      ++ManualClock::stamp;
      WEFT_COUNTER("counter", i);
      ++ManualClock::stamp;
      WEFT_FLOW_OUT("flow", id);
      ++ManualClock::stamp;
      WEFT_FLOW_IN("flow", id);
      ++ManualClock::stamp;
      WEFT_STEP("step", id - 1);
      ++ManualClock::stamp;
      span.end();
      ++ManualClock::stamp;
    }
    ManualClock::stamp = 0;
    ASSERT_TRUE(shutdown().ok());
    ManualClock::reset();
  }
};

TEST_P(K1_02_Recorded, EveryKindIsExactInTheWeftFile) {
  const TempPath path(".weft");
  record(path);
  auto reader = TraceReader::open(path.str());
  ASSERT_TRUE(reader);
  EXPECT_EQ(words(check_trace(*reader)), "");
  const ClockLine line = line_of(*reader);
  MonotoneTime time(line);
  reader->rewind();
  std::map<RecordKind, int> seen;
  DecodedRecord record;
  Ticks expected = first();
  while (reader->next(&record)) {
    ++seen[record.kind];
    EXPECT_EQ(record.tick, expected);
    EXPECT_EQ(time.next(record.tick), static_cast<std::int64_t>(expected));
    ++expected;
  }
  for (const RecordKind kind :
       {RecordKind::kSpanBegin, RecordKind::kInstant, RecordKind::kCounter,
        RecordKind::kFlowOut, RecordKind::kFlowIn, RecordKind::kStep,
        RecordKind::kSpanEnd})
    EXPECT_EQ(seen[kind], kSteps);
}

TEST_P(K1_02_Recorded, EveryKindIsExactInTheJson) {
  const TempPath path(".json");
  record(path);
  const JsonTrace json = read_json_trace(read_text(path.str()));
  EXPECT_EQ(json.all_problems(), "");
  const std::string base = json.other_data.at("base_monotonic_ns");
  const std::int64_t begin = static_cast<std::int64_t>(first()) -
                             std::stoll(base.substr(1, base.size() - 2));
  // Those of a kind are one round apart.
  const auto expect_at = [&](std::int64_t ns, const auto& events, auto time_of) {
    EXPECT_EQ(events.size(), std::size_t{kSteps});
    for (const auto& event : events) {
      EXPECT_EQ(time_of(event), ns);
      ns += kKinds;
    }
  };
  const auto at = [](const JsonEvent& event) { return event.ts_ns; };
  const auto spans = json.all_spans();
  expect_at(begin, spans, [](const JsonSpan& span) { return span.begin_ns; });
  expect_at(begin + 1, json.named("instant"), at);
  expect_at(begin + 2, json.named("counter"), at);
  expect_at(begin + 3, json.with_phase("s"), at);
  expect_at(begin + 4, json.with_phase("f"), at);
  std::vector<JsonEvent> steps;
  std::copy_if(json.events.begin(), json.events.end(),
               std::back_inserter(steps),
               [](const JsonEvent& event) { return event.cat == "step"; });
  expect_at(begin + 5, steps, at);
  expect_at(begin + 6, spans, [](const JsonSpan& span) { return span.end_ns; });
}

INSTANTIATE_TEST_SUITE_P(AroundTwoToThe, K1_02_Recorded,
                         testing::Values(47u, 53u, 62u),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace weft::test
