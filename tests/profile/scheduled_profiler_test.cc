// SPDX-License-Identifier: Apache-2.0

// Scheduled sessions, their windows, and the files that a handler writes.

#include "weft/profile/scheduled_profiler.h"

#include <gtest/gtest.h>
#include <regex.h>

#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "weft/profile/record_function.h"
#include "weft/profile/record_profile.h"

namespace weft {
namespace {

bool matches(const std::string& text, const char* pattern) {
  regex_t compiled;
  if (regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB) != 0) return false;
  const bool found = regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
  regfree(&compiled);
  return found;
}

using Names = std::vector<std::string>;

Schedule schedule(ScheduleOptions options) {
  return Schedule::create(options).value();
}

// The trace names of a window's rows, by start.
Names names_of(const ProfilerResult& result) {
  Names names;
  for (const FunctionEvent& event : result.events())
    names.push_back(event.trace_name.value_or(event.name));
  return names;
}

void work(int number) {
  WEFT_RECORD_FUNCTION_DYN("work " + std::to_string(number));
}

TEST(ScheduledProfiler, HandsOverEachWindowWithItsSteps) {
  std::vector<ProfiledWindow> windows;
  ScheduledProfiler profiler(
      {}, schedule({.wait = 1, .warmup = 1, .active = 2}),
      [&](const ProfiledWindow& window) -> Result<void> {
        windows.push_back(window);
        return {};
      });
  ASSERT_TRUE(profiler.start().ok());
  for (int i = 0; i < 8; ++i) {
    work(i);
    EXPECT_TRUE(profiler.step().ok());
  }
  const auto run = profiler.stop();
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->steps, 8u);
  EXPECT_EQ(run->windows, 2u);
  EXPECT_EQ(run->advice, "");
  ASSERT_EQ(windows.size(), 2u);
  EXPECT_EQ(windows[0].first_step, 2u);
  EXPECT_EQ(windows[0].last_step, 3u);
  EXPECT_EQ(names_of(*windows[0].result),
            (Names{"ProfilerStep#2", "work 2", "ProfilerStep#3", "work 3"}));
  EXPECT_EQ(windows[1].number, 1u);
  EXPECT_EQ(windows[1].first_step, 6u);
  EXPECT_EQ(windows[1].last_step, 7u);
  // D-28: an earlier window's rows belong to who kept them.
  EXPECT_EQ(names_of(*windows[1].result),
            (Names{"ProfilerStep#6", "work 6", "ProfilerStep#7", "work 7"}));
  EXPECT_EQ(profiler.last_result(), windows[1].result);
}

// D-39: start and three steps give 0, 1, 2, 3.
TEST(D39, StepRangesHaveTheNumbersOfTheirSteps) {
  Names names;
  ScheduledProfiler profiler(
      {}, schedule({.warmup = 0, .active = 4}),
      [&](const ProfiledWindow& window) -> Result<void> {
        names = names_of(*window.result);
        return {};
      });
  ASSERT_TRUE(profiler.start().ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(profiler.step().ok());
  ASSERT_TRUE(profiler.stop().ok());
  EXPECT_EQ(names, (Names{"ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2",
                          "ProfilerStep#3"}));
}

// TV-A3: averages merge steps.
TEST(ScheduledProfiler, StepsAreOneRowOfAverages) {
  ScheduledProfiler profiler({}, schedule({.warmup = 0, .active = 2}));
  ASSERT_TRUE(profiler.start().ok());
  ASSERT_TRUE(profiler.step().ok());
  ASSERT_TRUE(profiler.stop().ok());
  const KeyAverages averages =
      profiler.last_result()->events().key_averages();
  ASSERT_NE(averages.find("ProfilerStep*"), nullptr);
  EXPECT_EQ(averages.find("ProfilerStep*")->count, 2u);
}

TEST(ScheduledProfiler, WithoutAScheduleEverythingIsOneWindow) {
  int windows = 0;
  ScheduledProfiler profiler({},
                             [&](const ProfiledWindow& window) -> Result<void> {
                               ++windows;
                               EXPECT_EQ(names_of(*window.result),
                                         (Names{"work 0", "work 1"}));
                               return {};
                             });
  ASSERT_TRUE(profiler.start().ok());
  EXPECT_TRUE(profiler.recording());
  work(0);
  ASSERT_TRUE(profiler.step().ok());
  work(1);
  ASSERT_TRUE(profiler.stop().ok());
  EXPECT_EQ(windows, 1);
  EXPECT_FALSE(profiler.recording());
}

// D-28: who never steps is told so.
TEST(D28, ARunWithoutAWindowSaysWhy) {
  ScheduledProfiler profiler({}, schedule({.wait = 5}));
  ASSERT_TRUE(profiler.start().ok());
  auto run = profiler.stop();
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->windows, 0u);
  EXPECT_NE(run->advice.find("step() was never called"), std::string::npos);
  ASSERT_TRUE(profiler.start().ok());
  ASSERT_TRUE(profiler.step().ok());
  run = profiler.stop();
  EXPECT_NE(run->advice.find("ended before"), std::string::npos);
  EXPECT_EQ(profiler.last_result(), nullptr);
}

// 2.22.3: known to the tracker from its making to its end.
TEST(ScheduledProfiler, CountsItsStepsInATracker) {
  StepTracker tracker;
  tracker.increment("other");
  tracker.increment("other");
  ASSERT_EQ(tracker.current(), 1);
  {
    ScheduledProfiler profiler({}, schedule({.wait = 9}));
    profiler.count_steps_in(tracker);
    ASSERT_TRUE(profiler.start().ok());
    ASSERT_TRUE(profiler.step().ok());
    EXPECT_EQ(tracker.current(), 2) << "who joins late is level";
    ASSERT_TRUE(profiler.stop().ok());
  }
  EXPECT_FALSE(tracker.erase("ProfilerStep"));
}

TEST(ScheduledProfiler, IsStoppedByTheEndOfItsBlock) {
  int windows = 0;
  {
    ScheduledProfiler profiler({}, [&](const ProfiledWindow&) -> Result<void> {
      ++windows;
      return {};
    });
    ASSERT_TRUE(profiler.start().ok());
    EXPECT_EQ(profiler.start().error().code, ErrorCode::kBusy);
  }
  EXPECT_EQ(windows, 1);
  EXPECT_FALSE(profiling());
}

TEST(ScheduledProfiler, AHandlerThatFailsIsToldOfAndSteppingGoesOn) {
  int calls = 0;
  ScheduledProfiler profiler({}, schedule({.warmup = 0, .active = 1}),
                             [&](const ProfiledWindow&) -> Result<void> {
                               if (++calls == 1)
                                 throw std::runtime_error("disk on fire");
                               return {};
                             });
  ASSERT_TRUE(profiler.start().ok());
  const auto failed = profiler.step();
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().message.find("disk on fire"), std::string::npos);
  EXPECT_TRUE(profiler.step().ok());
  EXPECT_TRUE(profiler.stop().ok());
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(profiler.step().error().code, ErrorCode::kNotRunning);
  EXPECT_EQ(profiler.stop().error().code, ErrorCode::kNotRunning);
}

TEST(ScheduledProfiler, OptionsThatCannotBeMetAreToldAtStart) {
  ScheduledProfiler profiler({.activities = {}});
  EXPECT_EQ(profiler.start().error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(profiler.step().error().code, ErrorCode::kNotRunning);
}

TEST(TraceFileHandler, WritesOneFileAWindowUnderTheKnownName) {
  const std::string directory =
      testing::TempDir() + "trace_file_handler/deep";
  std::filesystem::remove_all(directory);
  ScheduledProfiler profiler({}, schedule({.warmup = 0, .active = 1}),
                             trace_file_handler(directory, "worker0"));
  EXPECT_TRUE(profiler.add_metadata("run", "seven").ok());
  EXPECT_FALSE(profiler.add_metadata_json("run", "{").ok());
  ASSERT_TRUE(profiler.start().ok());
  ASSERT_TRUE(profiler.step().ok());
  ASSERT_TRUE(profiler.stop().ok());
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    ++files;
    EXPECT_TRUE(matches(file.path().filename().string(),
                        R"(^worker0\.[0-9]{19}\.pt\.trace\.json$)"))
        << file.path();
    EXPECT_GT(file.file_size(), 0u);
  }
  EXPECT_EQ(files, 2);
  std::filesystem::remove_all(directory);
}

TEST(TraceFileHandler, NamesTheProcessAndCompresses) {
  const std::string directory = testing::TempDir() + "trace_file_handler_gz";
  std::filesystem::remove_all(directory);
  ScheduledProfiler profiler(
      {}, trace_file_handler(directory, "", TraceFileForm::kGzip));
  ASSERT_TRUE(profiler.start().ok());
  ASSERT_TRUE(profiler.stop().ok());
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    ++files;
    EXPECT_TRUE(matches(file.path().filename().string(),
                        R"(^.+_[0-9]+\.[0-9]{19}\.pt\.trace\.json\.gz$)"))
        << file.path();
  }
  EXPECT_EQ(files, 1);
  std::filesystem::remove_all(directory);
}

TEST(TraceFileHandler, FailuresAreErrorsWithPathAndReason) {
  ScheduledProfiler profiler({}, trace_file_handler("/proc/no/such/place"));
  ASSERT_TRUE(profiler.start().ok());
  const auto stopped = profiler.stop();
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::kIo);
  EXPECT_NE(stopped.error().message.find("/proc/no/such/place"),
            std::string::npos);
}

// 2.13.3
TEST(RecordProfile, WritesItsBlockAsAnArrayOfSlices) {
  std::ostringstream out;
  {
    RecordProfile profile(out);
    work(1);
    work(2);
    EXPECT_TRUE(profile.finish().ok());
    EXPECT_EQ(profile.finish().error().code, ErrorCode::kBusy);
  }
  EXPECT_TRUE(
      matches(out.str(),
              R"(^\[\{"name": "work 1", "ph": "X", "ts": [0-9.]+, )"
              R"("dur": [0-9.]+, "tid": [0-9]+, "pid": "CPU Functions", )"
              R"("args": \{\}\}, \{"name": "work 2"[^]]*\}\])"
              "\n$"))
      << out.str();
}

TEST(RecordProfile, ItsEndWritesTheFile) {
  const std::string path = testing::TempDir() + "record_profile.json";
  {
    const RecordProfile profile(path);
    work(1);
  }
  EXPECT_GT(std::filesystem::file_size(path), 10u);
  std::filesystem::remove(path);
  RecordProfile lost("/proc/no/such/file.json");
  EXPECT_EQ(lost.finish().error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace weft
