// SPDX-License-Identifier: Apache-2.0
//
// Defects of the reference that reach across parts: what must come out instead.
// Those of one part are in that part's tests, by the same names.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "event_builder.h"
#include "runtime/scale.h"
#include "weft/profile/profiler.h"
#include "weft/profile/record_function.h"

namespace weft {
namespace {

using testing_support::device_row;
using testing_support::parents;
using testing_support::range;
using testing_support::raw;
using testing_support::row;
using testing_support::us;
using testing_support::with_kernel;
using Names = std::vector<std::string>;

// Summed over wrappers, a kernel's time was there two to four times.
TEST(D01, DeviceTimeIsCountedOnceHoweverManyRangesAreAround) {
  const EventList list({range("model", 0, 100), range("layer", 10, 90),
                        with_kernel(range("mm", 20, 80), "gemm", 40),
                        device_row("gemm", 30, 70)});
  std::int64_t host_self_ns = 0;
  for (const FunctionEvent& event : list) {
    if (event.is_host()) host_self_ns += event.self_device_time_total_ns.sum();
  }
  EXPECT_EQ(host_self_ns, us(40));
  EXPECT_EQ(row(list, "model").device_time_total_ns.sum(), us(40));
  EXPECT_EQ(row(list, "model").self_device_time_total_ns.sum(), 0);
  for (const std::string& text : {list.table(), list.key_averages().table()}) {
    EXPECT_NE(text.find("Self CUDA time total: 40.000us"), text.npos) << text;
  }
}

// Users of the reference's C++ had a trace file and nothing else.
TEST(D07, AProgramInCppHasAllResults) {
  Profiler profiler({.with_stack = true});
  ASSERT_TRUE(profiler.start().ok());
  {
    WEFT_RECORD_FUNCTION("request");
    WEFT_RECORD_FUNCTION("parse");
  }
  ASSERT_TRUE(profiler.stop().ok());
  EXPECT_NE(profiler.table()->find("parse"), std::string::npos);
  EXPECT_EQ(profiler.key_averages()->find("request")->count, 1u);
  EXPECT_EQ(profiler.total_average()->count, 2u);
  const EventList events = *profiler.events();
  std::ostringstream trace;
  events.write_chrome_trace(trace);
  EXPECT_NE(trace.str().find("\"parse\""), std::string::npos);
  for (const FunctionEvent& event : events) EXPECT_FALSE(event.stack.empty());
}

// A device's clock may be a little behind: what it did must not be gone.
TEST(D09, WorkOutsideTheWindowStaysWithItsOperation) {
  const auto kernel = [](std::int64_t start_us, std::int64_t end_us,
                         std::int64_t id) {
    RawEvent event = raw("gemm", start_us, end_us, id);
    event.device = DeviceType::kCuda;
    event.linked_op = 5;
    return event;
  };
  RawEventOptions options;
  options.trace_start_ns = us(1000);
  const EventListOptions rules;
  const ParsedEvents parsed = parse_raw_events(
      {raw("mm", 1000, 1100, 5), kernel(990, 1010, 71), kernel(1200, 1300, 72)},
      rules, options);
  const EventList list(parsed.events, rules);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(row(list, "gemm").start_ns, us(-10)) << "not the epoch";
  EXPECT_EQ(row(list, "mm").kernels.size(), 2u);
  EXPECT_EQ(row(list, "mm").device_time_total_ns.sum(), us(120));
  EXPECT_EQ(parsed.statistics.unattributed_device_rows, 0u);
}

// The reference's other tree, by its worked examples.
TEST(D31, OneSetOfRulesDecidesWhatNests) {
  const auto parents_of = [](std::vector<FunctionEvent> rows) {
    return parents(EventList(std::move(rows)));
  };
  EXPECT_EQ(parents_of({range("A", 0, 10), range("B", 10, 20)}),
            (Names{"-", "-"}));
  EXPECT_EQ(parents_of({range("A", 0, 10), range("B", 1, 3), range("C", 3, 4),
                        range("D", 5, 6)}),
            (Names{"-", "A", "A", "A"}));
  EXPECT_EQ(parents_of({range("short", 0, 3), range("long", 0, 10)}),
            (Names{"long", "-"}));
  EXPECT_EQ(
      parents_of({range("A", 0, 10), range("B", 5, 15), range("C", 12, 14)}),
      (Names{"-", "-", "B"}));
  EXPECT_EQ(parents_of({range("A", 0, 10), range("Z", 5, 5), range("Y", 5, 5)}),
            (Names{"-", "A", "A"}));
}

// 2.27: an open range lasts until the session's end, also when what is around
// it has ended.
TEST(D31, AnOpenRangeDoesNotBorrowTheEndOfTheRangeAroundIt) {
  Profiler profiler;
  RecordFunction open;
  ASSERT_TRUE(profiler.start().ok());
  {
    WEFT_RECORD_FUNCTION("around");
    open.before("open");
    WEFT_RECORD_FUNCTION("inside");
  }
  ASSERT_TRUE(profiler.stop().ok());
  const EventList events = *profiler.events();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_FALSE(row(events, "open").finished);
  EXPECT_EQ(row(events, "open").end_ns, profiler.statistics()->window_ns);
  EXPECT_TRUE(row(events, "around").finished);
  EXPECT_EQ(profiler.statistics()->unfinished, 1u);
}

// The reference fails in a forked worker for good.
TEST(D34, AForkedChildMayProfileAndAsksForDevicesAnew) {
  if (test::kSlowdown != 1)
    GTEST_SKIP() << "a sanitizer's child cannot allocate";
  const ProfilerOptions options{
      .activities = {Activity::kCpu, Activity::kCuda}};
  Profiler parent(options);
  ASSERT_TRUE(parent.start().ok());
  const pid_t child = fork();
  if (child == 0) {
    Profiler profiler(options);
    const bool started = profiler.start().ok();
    { WEFT_RECORD_FUNCTION("of the child"); }
    const bool recorded =
        started && profiler.stop().ok() && profiler.events()->size() == 1;
    _exit(recorded ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  { WEFT_RECORD_FUNCTION("of the parent"); }
  ASSERT_TRUE(parent.stop().ok());
  EXPECT_EQ(parent.events()->size(), 1u);
}

// 5.8 item 8: a machine without devices runs everything, and is told of what it
// does not have.
TEST(Acceptance8, EveryFeatureWorksWithoutADevice) {
  ProfilerOptions options;
  options.activities = {Activity::kCpu, Activity::kCuda};
  options.record_shapes = true;
  options.with_flops = true;
  options.with_stack = true;
  options.with_modules = true;
  options.profile_memory = true;
  options.reduce_on_missing_device = true;
  Profiler profiler(options);
  const Result<void> started = profiler.start();
  ASSERT_TRUE(started.ok()) << started.error().message;
  { WEFT_RECORD_FUNCTION("op"); }
  ASSERT_TRUE(profiler.stop().ok());
  EXPECT_NE(profiler.table()->find("op"), std::string::npos);
  // A machine that has one records it; others say so.
  EXPECT_EQ(profiler.config().activities.count(Activity::kCuda),
            profiler.warnings().empty() ? 1u : 0u);
}

}  // namespace
}  // namespace weft
