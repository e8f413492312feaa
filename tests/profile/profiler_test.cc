// SPDX-License-Identifier: Apache-2.0

// Sessions: what they record, when they may start, and what they answer.

#include "weft/profile/profiler.h"

#include <gtest/gtest.h>
#include <simdjson.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <latch>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime/collection.h"
#include "runtime/scale.h"
#include "weft/profile/record_function.h"
#include "weft/weft.h"

namespace weft {
namespace {

void expect_ok(const Result<void>& result) {
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
}

// A session around `body`, and what it made of it.
template <class Body>
std::shared_ptr<const ProfilerResult> profiled(ProfilerOptions options,
                                               const Body& body) {
  Profiler profiler(std::move(options));
  expect_ok(profiler.start());
  body();
  expect_ok(profiler.stop());
  auto result = profiler.result();
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? *result : std::make_shared<ProfilerResult>();
}

const FunctionEvent* find(const EventList& list, const std::string& name) {
  for (const FunctionEvent& event : list)
    if (event.name == name) return &event;
  return nullptr;
}

void nested_calls() {
  WEFT_RECORD_FUNCTION("outer");
  for (int i = 0; i < 3; ++i) {
    WEFT_RECORD_FUNCTION("inner");
  }
  WEFT_RECORD_USER_SCOPE("range");
}

TEST(Profiler, RecordsCallsAndTheirTree) {
  const auto result = profiled({}, nested_calls);
  const EventList& events = result->events();
  ASSERT_EQ(events.size(), 5u);
  const FunctionEvent* outer = find(events, "outer");
  ASSERT_NE(outer, nullptr);
  EXPECT_EQ(outer->children.size(), 4u);
  EXPECT_TRUE(outer->finished);
  EXPECT_GE(outer->start_ns, 0);
  EXPECT_EQ(outer->scope, RecordScope::kFunction);
  EXPECT_EQ(find(events, "range")->scope, RecordScope::kUserScope);
  const KeyAverages averages = events.key_averages();
  ASSERT_NE(averages.find("inner"), nullptr);
  EXPECT_EQ(averages.find("inner")->count, 3u);
  EXPECT_NE(averages.table().find("inner"), std::string::npos);
  // Integer ns: the self times add up to the root's time exactly.
  EXPECT_EQ(events.self_cpu_time_total_ns(), outer->duration_ns());
}

// What one table says, three tables say.
TEST(Profiler, ATableAskedForThreeTimesIsTheSame) {
  Profiler profiler;
  expect_ok(profiler.start());
  nested_calls();
  expect_ok(profiler.stop());
  const auto first = profiler.table();
  ASSERT_TRUE(first.ok());
  EXPECT_FALSE(first->empty());
  EXPECT_EQ(*profiler.table(), *first);
  EXPECT_EQ(*profiler.table(), *first);
  EXPECT_EQ(profiler.result()->get(), profiler.result()->get())
      << "made once";
}

TEST(Profiler, SpansOfTheOtherMacrosAreRowsToo) {
  const auto result = profiled({}, [] {
    WEFT_SPAN("plain", {"n", 3});
    WEFT_SPAN_DYN(std::string("dynamic"));
    WEFT_RECORD_FUNCTION_DYN(std::string("made ") + "up");
  });
  EXPECT_NE(find(result->events(), "plain"), nullptr);
  EXPECT_NE(find(result->events(), "dynamic"), nullptr);
  EXPECT_NE(find(result->events(), "made up"), nullptr);
}

TEST(Profiler, WithoutASessionNothingIsRecordedOrEvaluated) {
  int evaluated = 0;
  {
    WEFT_RECORD_FUNCTION("nobody listens", ++evaluated);
  }
  EXPECT_EQ(evaluated, 0);
  EXPECT_FALSE(profiling());
  const auto result = profiled({}, [&] {
    EXPECT_TRUE(profiling());
    WEFT_RECORD_FUNCTION("no shapes wanted", ++evaluated);
  });
  EXPECT_EQ(evaluated, 0);
  EXPECT_EQ(result->events().size(), 1u);
}

TEST(Profiler, AnEmptySessionAnswersEverything) {
  Profiler profiler;
  expect_ok(profiler.start());
  expect_ok(profiler.stop());
  EXPECT_TRUE(profiler.events()->empty());
  EXPECT_EQ(*profiler.table(), "");
  EXPECT_TRUE(profiler.key_averages()->empty());
  EXPECT_EQ(profiler.total_average()->key, "Total");
  EXPECT_EQ(profiler.total_average()->count, 0u);
  EXPECT_EQ(*profiler.self_cpu_time_total_ns(), 0);
  EXPECT_EQ(profiler.str(), "");
  EXPECT_EQ(profiler.repr(), "[]");
}

// D-25: a disabled profiler has all its answers.
TEST(D25, AnInertProfilerAnswersWithNothing) {
  Profiler profiler({.enabled = false});
  expect_ok(profiler.start());
  EXPECT_FALSE(profiling());
  nested_calls();
  expect_ok(profiler.stop());
  EXPECT_TRUE(profiler.events()->empty());
  EXPECT_EQ(*profiler.table(), "");
  EXPECT_EQ(profiler.str(), "");
  const std::string path = testing::TempDir() + "inert_stacks.txt";
  expect_ok(profiler.export_stacks(path));
  std::filesystem::remove(path);
}

// D-25: the flag counts, so the first of two sessions to end leaves it on.
TEST(D25, ProfilingIsCountedNotSwitched) {
  Profiler mine;
  Profiler all({.coverage = ThreadCoverage::kAllThreads});
  expect_ok(mine.start());
  expect_ok(all.start());
  expect_ok(mine.stop());
  EXPECT_TRUE(profiling());
  nested_calls();
  expect_ok(all.stop());
  EXPECT_FALSE(profiling());
  EXPECT_EQ(all.events()->size(), 5u);
}

TEST(Profiler, QueriesBeforeTheEndAreRefused) {
  Profiler profiler;
  const auto expect_unfinished = [&] {
    const auto table = profiler.table();
    ASSERT_FALSE(table.ok());
    EXPECT_EQ(table.error().code, ErrorCode::kNotFinished);
    EXPECT_FALSE(profiler.key_averages().ok());
    EXPECT_FALSE(profiler.total_average().ok());
    EXPECT_FALSE(profiler.self_cpu_time_total_ns().ok());
    EXPECT_FALSE(profiler.export_chrome_trace("/nowhere").ok());
    EXPECT_EQ(profiler.str(), "<unfinished weft::Profiler>");
    EXPECT_EQ(profiler.repr(), "<unfinished weft::Profiler>");
  };
  expect_unfinished();
  expect_ok(profiler.start());
  expect_unfinished();
  expect_ok(profiler.stop());
  EXPECT_TRUE(profiler.table().ok());
  const auto stopped_twice = profiler.stop();
  ASSERT_FALSE(stopped_twice.ok());
  EXPECT_EQ(stopped_twice.error().code, ErrorCode::kNotRunning);
}

TEST(Profiler, StartingTwiceIsRefusedAndChangesNothing) {
  Profiler first;
  expect_ok(first.start());
  EXPECT_EQ(first.start().error().code, ErrorCode::kBusy);
  Profiler second;
  const auto refused = second.start();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kBusy);
  // D-25: the text names both owners.
  EXPECT_NE(refused.error().message.find("session"), std::string::npos);
  EXPECT_NE(refused.error().message.find("is running"), std::string::npos);
  nested_calls();
  expect_ok(first.stop());
  EXPECT_EQ(first.events()->size(), 5u) << "the first session is unaffected";
  expect_ok(second.start());
  expect_ok(second.stop());
}

TEST(Profiler, OneSessionOfAllThreadsAProcess) {
  Profiler first({.coverage = ThreadCoverage::kAllThreads});
  Profiler second({.coverage = ThreadCoverage::kAllThreads});
  expect_ok(first.start());
  EXPECT_EQ(second.start().error().code, ErrorCode::kBusy);
  expect_ok(first.stop());
  expect_ok(second.start());
  expect_ok(second.stop());
}

TEST(Profiler, MayRunAgainAndEarlierResultsStay) {
  Profiler profiler;
  expect_ok(profiler.start());
  nested_calls();
  expect_ok(profiler.stop());
  const auto first = *profiler.result();
  expect_ok(profiler.start());
  {
    WEFT_RECORD_FUNCTION("second run");
  }
  expect_ok(profiler.stop());
  EXPECT_EQ(first->events().size(), 5u);
  EXPECT_EQ(profiler.events()->size(), 1u);
}

TEST(Profiler, ResultsAreMadeWhenTheBodyThrows) {
  Profiler profiler;
  EXPECT_THROW(
      {
        const ProfilerScope recording(profiler);
        WEFT_RECORD_FUNCTION("thrower");
        throw std::runtime_error("on purpose");
      },
      std::runtime_error);
  ASSERT_TRUE(profiler.events().ok());
  ASSERT_EQ(profiler.events()->size(), 1u);
  EXPECT_TRUE((*profiler.events())[0].finished);
}

TEST(Profiler, RunsBesideATraceAndBesideOthersAndDisturbsNone) {
  test::Collection trace;
  {
    WEFT_RECORD_FUNCTION("before");
  }
  Profiler profiler({.record_shapes = true, .profile_memory = true});
  expect_ok(profiler.start());
  std::thread other([] {
    const auto theirs = profiled({}, nested_calls);
    EXPECT_EQ(theirs->events().size(), 5u);
  });
  nested_calls();
  other.join();
  expect_ok(profiler.stop());
  EXPECT_EQ(profiler.events()->size(), 5u);
  {
    WEFT_RECORD_FUNCTION("after");
  }
  const test::CollectingExporter& collected = trace.stop();
  // Two records a span: 1 + 5 + 5 + 1 of them, whoever else listened.
  EXPECT_EQ(collected.heads(), 24u);
}

// D-26.
TEST(D26, ConfigIsWhatWasStarted) {
  Profiler profiler({.with_flops = true, .with_stack = true});
  EXPECT_TRUE(profiler.config().record_shapes) << "with_flops implies it";
  EXPECT_TRUE(profiler.config().with_flops);
  EXPECT_TRUE(profiler.config().with_stack);
  EXPECT_FALSE(profiler.config().profile_memory);
  expect_ok(profiler.start());
  EXPECT_TRUE(profiler.config().record_shapes);
  expect_ok(profiler.stop());
}

TEST(Profiler, OptionsThatExcludeEachOtherAreAnError) {
  const auto code_of = [](ProfilerOptions options) {
    Profiler late(options);
    const Result<void> started = late.start();
    EXPECT_FALSE(started.ok());
    auto created = Profiler::create(std::move(options));
    EXPECT_FALSE(created.ok());
    return created.ok() ? ErrorCode::kCorrupt : created.error().code;
  };
  EXPECT_EQ(code_of({.activities = {}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of({.activities = {Activity::kCuda}}),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of({.max_host_bytes = 1}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of({.use_device = "npu", .reduce_on_missing_device = false}),
            ErrorCode::kUnavailable);
  EXPECT_EQ(code_of({.experimental = {.performance_events = {"cycles"}}}),
            ErrorCode::kUnsupported);
  EXPECT_EQ(code_of({.scopes = {static_cast<RecordScope>(10)}}),
            ErrorCode::kInvalidArgument);
}

TEST(Profiler, AMissingDeviceIsAWarningOneCanAskFor) {
  auto created = Profiler::create({.use_device = "npu"});
  ASSERT_TRUE(created.ok());
  ASSERT_EQ(created->warnings().size(), 1u);
  EXPECT_NE(created->warnings()[0].find("npu"), std::string::npos);
  EXPECT_EQ(created->config().use_device, "");
}

TEST(D27, NobodyIsWarnedOfADeviceThatWasNotAskedFor) {
  EXPECT_TRUE(Profiler::create({})->warnings().empty());
  EXPECT_TRUE(
      Profiler::create({.use_device = "privateuseone"})->warnings().empty());
}

// D-15: what was handed out does not change when more is asked.
TEST(D15, AveragesChangeNoEvent) {
  const auto result = profiled({}, nested_calls);
  const std::string before = result->events().table();
  const KeyAverages averages = result->events().key_averages();
  EXPECT_EQ(result->events().table(), before);
  EXPECT_EQ(result->events().key_averages().table(), averages.table());
  EXPECT_GE(averages.find("outer")->cpu_time_total_ns,
            averages.find("inner")->cpu_time_total_ns);
}

// 5.8 item 5, and the rows of 2.27 on unfinished ranges.
TEST(Acceptance5, RangesOpenAtTheEndAreMarkedAndCounted) {
  Profiler profiler;
  RecordFunction open;
  expect_ok(profiler.start());
  open.before("still open");
  expect_ok(profiler.stop());
  open.end();  // ended after the session: neither a crash nor an end
  const EventList events = *profiler.events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_FALSE(events[0].finished);
  const ProfilerStatistics statistics = *profiler.statistics();
  EXPECT_EQ(statistics.unfinished, 1u);
  EXPECT_EQ(events[0].end_ns, statistics.window_ns) << "the session's end";
}

TEST(EdgeCases, ARangeThatStartedBeforeTheSessionIsAbsentAndCounted) {
  test::Collection always_on;
  Profiler profiler;
  {
    WEFT_RECORD_FUNCTION("early");
    expect_ok(profiler.start());
  }
  expect_ok(profiler.stop());
  EXPECT_TRUE(profiler.events()->empty());
  EXPECT_EQ(profiler.statistics()->started_before, 1u);
  always_on.stop();
}

// 2.27: a range that another thread ends is asynchronous.
TEST(EdgeCases, ARangeAcrossThreadsIsAsynchronousAndDrawnAsAPair) {
  Profiler profiler;
  expect_ok(profiler.start());
  RecordFunction call;
  call.before("crosses");
  std::thread other([&] { call.end(); });
  other.join();
  expect_ok(profiler.stop());
  const EventList events = *profiler.events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_TRUE(events[0].is_async);
  EXPECT_TRUE(events[0].finished);
  EXPECT_EQ(events[0].self_cpu_time_total_ns, 0);
  std::ostringstream trace;
  events.write_chrome_trace(trace);
  EXPECT_NE(trace.str().find(R"("ph":"b")"), std::string::npos);
  EXPECT_NE(trace.str().find(R"("ph":"e")"), std::string::npos);
  EXPECT_EQ(trace.str().find(R"("ph":"X")"), std::string::npos);
}

TEST(Profiler, PausesLeaveOutWhatHappensInThem) {
  Profiler profiler;
  expect_ok(profiler.start());
  {
    WEFT_RECORD_FUNCTION("first");
  }
  expect_ok(profiler.pause());
  EXPECT_EQ(profiler.pause().error().code, ErrorCode::kBusy);
  {
    WEFT_RECORD_FUNCTION("in between");
  }
  expect_ok(profiler.resume());
  EXPECT_EQ(profiler.resume().error().code, ErrorCode::kBusy);
  {
    WEFT_RECORD_FUNCTION("second");
  }
  expect_ok(profiler.stop());
  const EventList events = *profiler.events();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].name, "first");
  EXPECT_EQ(events[1].name, "second");
  EXPECT_GE(events[1].start_ns, events[0].end_ns);
}

// Fewer under a sanitizer, into less memory: it must overflow all the same.
constexpr std::uint64_t kManyRanges = test::scaled(1'000'000);
constexpr std::size_t kFewBytes = (16u << 20) / (test::kSlowdown > 1 ? 4 : 1);

// 5.8 item 3.
TEST(Acceptance3, MemoryStaysUnderItsBoundAndDropsAreExact) {
  constexpr std::uint64_t kThreads = 8;
  Profiler profiler({.coverage = ThreadCoverage::kAllThreads,
                     .max_host_bytes = kFewBytes});
  expect_ok(profiler.start());
  test::run_threads(kThreads, [](unsigned) {
    for (std::uint64_t i = 0; i < kManyRanges; ++i) {
      WEFT_RECORD_FUNCTION("range");
    }
  });
  expect_ok(profiler.stop());
  const ProfilerStatistics statistics = *profiler.statistics();
  EXPECT_LE(statistics.host_bytes, kFewBytes);
  EXPECT_GT(statistics.records_dropped, 0u);
  EXPECT_EQ(statistics.records_kept + statistics.records_dropped,
            kThreads * kManyRanges * 2);
  EXPECT_LE(statistics.events, kThreads * kManyRanges);
}

// Field check K5-01, for sessions: memory is bounded by what was configured,
// whatever the number of threads.
TEST(K5_01, AThousandThreadsInASessionStayUnderItsBounds) {
  constexpr int kThreads = 1000;
  constexpr std::size_t kBound = 4u << 20;
  Profiler profiler({.coverage = ThreadCoverage::kAllThreads,
                     .max_host_bytes = kBound});
  expect_ok(profiler.start());
  std::latch all_alive(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      {
        WEFT_RECORD_FUNCTION("first");
      }
      all_alive.arrive_and_wait();
      if (i >= 4) return;
      for (int n = 0; n < 50'000; ++n) {
        WEFT_RECORD_FUNCTION("busy");
      }
    });
  for (std::thread& thread : threads) thread.join();
  expect_ok(profiler.stop());
  const ProfilerStatistics statistics = *profiler.statistics();
  EXPECT_LE(statistics.host_bytes, kBound);
  EXPECT_GT(statistics.records_dropped, 0u);
  EXPECT_EQ(statistics.records_kept + statistics.records_dropped,
            2u * (kThreads + 4 * 50'000));
  EXPECT_LE(status().ring_bytes_used, InitOptions().ring_bytes);
}

TEST(Profiler, StopSessionRecordsNothingBehindTheFirstLoss) {
  Profiler profiler({.max_host_bytes = 1u << 20,
                     .overflow = Overflow::kStopSession});
  expect_ok(profiler.start());
  for (int i = 0; i < 60'000; ++i) {
    WEFT_RECORD_FUNCTION("range");
  }
  expect_ok(profiler.stop());
  const ProfilerStatistics statistics = *profiler.statistics();
  EXPECT_GT(statistics.records_dropped, 0u);
  EXPECT_EQ(statistics.records_kept + statistics.records_dropped, 120'000u);
}

TEST(Profiler, DropOldestKeepsTheEnd) {
  Profiler profiler({.max_host_bytes = 1u << 20,
                     .overflow = Overflow::kDropOldest});
  expect_ok(profiler.start());
  // A ring that holds them all: nothing is refused, however late the drainer is.
  expect_ok(thread_init());
  for (int i = 0; i < 60'000; ++i) {
    WEFT_RECORD_FUNCTION("range");
  }
  {
    WEFT_RECORD_FUNCTION("the last one");
  }
  expect_ok(profiler.stop());
  const EventList events = *profiler.events();
  EXPECT_NE(find(events, "the last one"), nullptr);
  EXPECT_GT(profiler.statistics()->records_dropped, 0u);
}

// 5.8 item 6.
TEST(Acceptance6, AForkedChildRecordsNothingAndTheParentGoesOn) {
  Profiler profiler;
  expect_ok(profiler.start());
  const pid_t child = fork();
  if (child == 0) {
    nested_calls();
    _exit(profiling() ? 1 : 0);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  nested_calls();
  expect_ok(profiler.stop());
  EXPECT_EQ(profiler.events()->size(), 5u);
}

std::string exported(const Profiler& profiler, const std::string& name) {
  const std::string path = testing::TempDir() + name;
  expect_ok(profiler.export_chrome_trace(path));
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  std::filesystem::remove(path);
  return text.str();
}

// D-20: a trace can be saved again.
TEST(D20, TwoExportsAreEqual) {
  Profiler profiler;
  expect_ok(profiler.start());
  nested_calls();
  expect_ok(profiler.stop());
  const std::string first = exported(profiler, "d20_first.json");
  EXPECT_NE(first.find("\"outer\""), std::string::npos);
  EXPECT_EQ(exported(profiler, "d20_second.json"), first);
}

// 5.8 item 2: read back by another reader; with the names of D-06.
TEST(Acceptance2, TheTraceSaysWhatTheListSays) {
  const std::vector<std::string> names{
      "a\"b", "C:\\x", "line\nfeed", "tab\there", "\x01", "\xc3\xa9"};
  Profiler profiler({.coverage = ThreadCoverage::kAllThreads});
  expect_ok(profiler.start());
  {
    WEFT_RECORD_FUNCTION("root");
    for (const std::string& name : names) {
      WEFT_RECORD_FUNCTION_DYN(name);
    }
    WEFT_RECORD_FUNCTION_DYN("lone \xff");
  }
  expect_ok(profiler.stop());
  const simdjson::padded_string text(exported(profiler, "acceptance2.json"));
  simdjson::dom::parser parser;
  simdjson::dom::element trace;
  ASSERT_EQ(parser.parse(text).get(trace), simdjson::SUCCESS);
  std::multiset<std::string> found;
  double root_begin = 0, root_end = 0;
  std::vector<std::pair<double, double>> others;
  for (const simdjson::dom::element event : trace["traceEvents"]) {
    if (event["ph"].get_string().value() != "X") continue;
    const std::string name{event["name"].get_string().value()};
    found.insert(name);
    const double begin = event["ts"].get_double().value();
    const double end = begin + event["dur"].get_double().value();
    if (name == "root") {
      root_begin = begin;
      root_end = end;
    } else {
      others.emplace_back(begin, end);
    }
  }
  EXPECT_EQ(found.size(), profiler.events()->size());
  for (const std::string& name : names) EXPECT_EQ(found.count(name), 1u) << name;
  EXPECT_EQ(found.count("lone \xef\xbf\xbd"), 1u);
  for (const auto& [begin, end] : others) {
    EXPECT_GE(begin, root_begin);
    EXPECT_LE(end, root_end);
  }
}

TEST(Profiler, MetadataBecomesMembersOfTheTrace) {
  Profiler profiler({.record_shapes = true});
  expect_ok(profiler.add_metadata("note", "say \"hi\"\n"));
  expect_ok(profiler.add_metadata_json("numbers", "[1, 2]"));
  expect_ok(profiler.add_metadata_json("numbers", "[3]"));
  EXPECT_EQ(profiler.add_metadata_json("broken", "[1,").error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(profiler.add_metadata("traceEvents", "x").error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_FALSE(profiler.add_metadata("", "x").ok());
  expect_ok(profiler.start());
  expect_ok(profiler.stop());
  const std::string text = exported(profiler, "metadata.json");
  EXPECT_NE(text.find(R"("note":"say \"hi\"\u000a")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("numbers":[3])"), std::string::npos);
  EXPECT_NE(text.find(R"("record_shapes":1)"), std::string::npos);
  EXPECT_NE(text.find(R"("trace_id":)"), std::string::npos);
}

TEST(Profiler, RowsHaveTheNodeOfTheProcess) {
  EXPECT_EQ(set_default_node_id(-1).error().code, ErrorCode::kInvalidArgument);
  expect_ok(set_default_node_id(3));
  const auto result = profiled({}, nested_calls);
  ASSERT_FALSE(result->events().empty());
  EXPECT_EQ(result->events()[0].node_id, 3);
}

TEST(Profiler, ThreadNamesAreInTheTrace) {
  Profiler profiler({.coverage = ThreadCoverage::kAllThreads});
  expect_ok(profiler.start());
  std::thread worker([] {
    set_thread_name("profiled worker");
    WEFT_RECORD_FUNCTION("work");
  });
  worker.join();
  expect_ok(profiler.stop());
  EXPECT_NE(exported(profiler, "names.json").find("profiled worker"),
            std::string::npos);
}

TEST(Profiler, TheUserMayRewriteStacksByDebugHandle) {
  ProfilerOptions options;
  options.post_process = [](PostProcessedEvent event) {
    if (event.debug_handle == 42) event.stack = {"script.py(7): forward"};
  };
  const auto result = profiled(std::move(options), [] {
    RecordFunction call;
    call.set_debug_handle(42);
    call.before("scripted");
    call.end();
    WEFT_RECORD_FUNCTION("plain");
  });
  ASSERT_NE(find(result->events(), "scripted"), nullptr);
  EXPECT_EQ(find(result->events(), "scripted")->stack,
            std::vector<std::string>{"script.py(7): forward"});
  EXPECT_TRUE(find(result->events(), "plain")->stack.empty());
}

TEST(Profiler, StacksThatWereNotRecordedAreAnError) {
  Profiler profiler;
  expect_ok(profiler.start());
  expect_ok(profiler.stop());
  const auto exported = profiler.export_stacks("/nowhere");
  ASSERT_FALSE(exported.ok());
  EXPECT_EQ(exported.error().code, ErrorCode::kNotRecorded);
}

TEST(Profiler, TraceOnlyMakesNoEvents) {
  Profiler profiler({.experimental = {.trace_only = true}});
  expect_ok(profiler.start());
  expect_ok(profiler.stop());
  ASSERT_FALSE(profiler.events().ok());
  EXPECT_EQ(profiler.events().error().code, ErrorCode::kUnsupported);
}

TEST(Profiler, StatisticsTellTheWindowAndTheWork) {
  const auto result = profiled({}, nested_calls);
  const ProfilerStatistics& statistics = result->statistics();
  EXPECT_GT(statistics.window_ns, 0);
  EXPECT_EQ(statistics.events, 5u);
  EXPECT_EQ(statistics.records_kept, 10u);
  EXPECT_EQ(statistics.records_dropped, 0u);
  EXPECT_GT(statistics.start_ns, 0);
  EXPECT_GT(statistics.stop_ns, 0);
  EXPECT_GT(statistics.parse_ns, 0);
  EXPECT_GT(statistics.build_tree_ns, 0);
}

}  // namespace
}  // namespace weft
