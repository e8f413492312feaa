// SPDX-License-Identifier: Apache-2.0

// Traces on demand: their texts, when they run, and what they may not do.

#include "weft/profile/on_demand.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "weft/profile/input_writer.h"
#include "weft/profile/profiler.h"
#include "weft/profile/record_function.h"

namespace weft {
namespace {

using std::chrono::milliseconds;

TEST(OnDemandConfig, ReadsKeysCommentsAndBlankLines) {
  const auto config = parse_on_demand_config(
      "# a comment\n"
      "\n"
      "ACTIVITIES_LOG_FILE = /tmp/x.json   # behind a value\r\n"
      "  ACTIVITIES_DURATION_SECS=3\n"
      "ACTIVITY_TYPES = cpu_op, kernel\n"
      "PROFILE_REPORT_INPUT_SHAPES = Yes\n"
      "PYTHON_STACK_TRACE = t\n"
      "PROFILE_WITH_FLOPS = 0\n"
      "PROFILE_START_ITERATION = 12\n"
      "PROFILE_START_ITERATION_ROUNDUP = 0\n"
      "REQUEST_TRACE_ID = abc\n"
      "SOME_NEW_KEY = 1\n");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->log_file, "/tmp/x.json");
  EXPECT_EQ(config->duration, milliseconds(3000));
  EXPECT_EQ(config->activity_types,
            (std::vector<std::string>{"cpu_op", "kernel"}));
  EXPECT_TRUE(config->record_shapes);
  EXPECT_TRUE(config->with_stack);
  EXPECT_FALSE(config->with_flops);
  EXPECT_EQ(config->start_iteration, 12);
  EXPECT_EQ(config->start_iteration_roundup, -1);
  EXPECT_EQ(config->trace_id, "abc");
  ASSERT_EQ(config->warnings.size(), 2u);
  EXPECT_NE(config->warnings[0].find("ROUNDUP"), std::string::npos);
  EXPECT_NE(config->warnings[1].find("SOME_NEW_KEY"), std::string::npos);
}

TEST(OnDemandConfig, DefaultsAreThoseOfTheReference) {
  const auto config = parse_on_demand_config("");
  ASSERT_TRUE(config.ok());
  EXPECT_TRUE(config->activities_enabled);
  EXPECT_EQ(config->duration, milliseconds(500));
  EXPECT_EQ(config->warmup, std::chrono::seconds(5));
  EXPECT_EQ(config->start_iteration, -1);
  EXPECT_EQ(config->iterations, 0);
}

TEST(OnDemandConfig, BadLinesAreErrorsThatNameThem) {
  for (const char* bad :
       {"no equals", "A = B = C", "ACTIVITIES_DURATION_SECS = -1",
        "ACTIVITIES_DURATION_SECS = soon", "PROFILE_WITH_STACK = maybe",
        "ACTIVITIES_DURATION_MSECS = 99999999999999999999",
        "ACTIVITIES_ITERATIONS ="}) {
    const auto config = parse_on_demand_config(std::string("\n") + bad);
    ASSERT_FALSE(config.ok()) << bad;
    EXPECT_EQ(config.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(config.error().message.find("line 2"), std::string::npos) << bad;
  }
  EXPECT_FALSE(parse_on_demand_config(std::string(1 << 20, '#')).ok());
}

// A profiler on a clock of the test's own, that writes into a folder of its own.
class OnDemand : public testing::Test {
 protected:
  OnDemand() { std::filesystem::create_directories(folder_); }
  ~OnDemand() override { std::filesystem::remove_all(folder_); }

  OnDemandOptions options() {
    OnDemandOptions options;
    options.directories = {folder_};
    options.clock = [this] { return now_ms_; };
    return options;
  }
  std::string file(const std::string& name) { return folder_ + "/" + name; }
  static std::string read(const std::string& path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

  const std::string folder_ = testing::TempDir() + "on_demand_" +
                              testing::UnitTest::GetInstance()
                                  ->current_test_info()
                                  ->name();
  std::int64_t now_ms_ = 1'700'000'000'000;
};

TEST_F(OnDemand, ByTimeCollectsFromItsStartToItsEnd) {
  OnDemandProfiler profiler(options());
  const auto answer = profiler.submit(
      "ACTIVITIES_WARMUP_PERIOD_SECS = 1\n"
      "ACTIVITIES_DURATION_MSECS = 500\n"
      "PROFILE_REPORT_INPUT_SHAPES = true\n"
      "ACTIVITIES_LOG_FILE = " + file("trace.json"));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->triggered, 1u);
  EXPECT_EQ(answer->busy, 0u);
  EXPECT_TRUE(answer->warnings.empty());
  EXPECT_EQ(answer->file,
            file("trace_" + std::to_string(getpid()) + ".json"));
  const auto call = [](const char* name) {
    WEFT_RECORD_FUNCTION_DYN(name, ArrayInput{"int", nullptr, 0});
  };
  const auto expect_state = [&](OnDemandState state) {
    EXPECT_TRUE(profiler.poll().ok());
    EXPECT_EQ(profiler.status().state, state);
  };
  // Start: now + 1 s of warm-up + 2 s.
  expect_state(OnDemandState::kPending);
  EXPECT_EQ(profiler.submit("").error().code, ErrorCode::kBusy);
  now_ms_ += 999;
  expect_state(OnDemandState::kPending);
  now_ms_ += 1;  // a tick before the warm-up is due
  expect_state(OnDemandState::kWarming);
  call("while warming");
  now_ms_ += 2000;
  expect_state(OnDemandState::kCollecting);
  EXPECT_EQ(profiler.submit("").error().code, ErrorCode::kBusy);
  call("while collecting");
  now_ms_ += 499;
  expect_state(OnDemandState::kCollecting);
  now_ms_ += 1;
  expect_state(OnDemandState::kWaiting);
  call("afterwards");
  EXPECT_EQ(profiler.status().traces, 1u);
  EXPECT_EQ(profiler.status().last_file, answer->file);
  EXPECT_EQ(profiler.status().last_error, "");
  const std::string text = read(answer->file);
  EXPECT_NE(text.find("while collecting"), std::string::npos);
  EXPECT_NE(text.find("int[]"), std::string::npos) << "shapes were asked for";
  EXPECT_EQ(text.find("while warming"), std::string::npos);
  EXPECT_EQ(text.find("afterwards"), std::string::npos);
}

TEST_F(OnDemand, ByIterationsCollectsThoseSteps) {
  OnDemandProfiler profiler(options());
  profiler.step();  // iteration 0: somebody calls step()
  const auto answer = profiler.submit(
      "PROFILE_START_ITERATION = 3\n"
      "ACTIVITIES_ITERATIONS = 2\n"
      "ACTIVITIES_WARMUP_ITERATIONS = 1\n"
      "ACTIVITIES_LOG_FILE = " + file("steps.json"));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  std::vector<OnDemandState> states;
  for (int i = 1; i <= 5; ++i) {
    profiler.step();
    WEFT_RECORD_FUNCTION_DYN("iteration " + std::to_string(i));
    states.push_back(profiler.status().state);
  }
  states.pop_back();  // it may be written by now
  EXPECT_EQ(states, (std::vector<OnDemandState>{
                        OnDemandState::kPending, OnDemandState::kWarming,
                        OnDemandState::kCollecting,
                        OnDemandState::kCollecting}));
  EXPECT_NE(profiler.status().state, OnDemandState::kCollecting);
  // Written on a thread of its own: not on this one, which steps.
  while (profiler.status().state != OnDemandState::kWaiting)
    std::this_thread::yield();
  const std::string text = read(profiler.status().last_file);
  EXPECT_NE(text.find("iteration 3"), std::string::npos);
  EXPECT_NE(text.find("iteration 4"), std::string::npos);
  EXPECT_EQ(text.find("iteration 2"), std::string::npos);
}

TEST_F(OnDemand, AStartThatIsPastMovesAndIsRoundedUp) {
  OnDemandProfiler profiler(options());
  for (int i = 0; i <= 7; ++i) profiler.step();  // now at 7
  ASSERT_TRUE(profiler
                  .submit("PROFILE_START_ITERATION = 2\n"
                          "PROFILE_START_ITERATION_ROUNDUP = 5\n"
                          "ACTIVITIES_ITERATIONS = 1")
                  .ok());
  profiler.step();
  profiler.step();  // 9
  EXPECT_EQ(profiler.status().state, OnDemandState::kPending);
  profiler.step();  // 10, the next multiple of 5
  EXPECT_EQ(profiler.status().state, OnDemandState::kCollecting);
}

TEST_F(OnDemand, RefusesWhatCannotBe) {
  OnDemandProfiler profiler(options());
  const auto refused = [&](const std::string& text) {
    const auto answer = profiler.submit(text);
    EXPECT_FALSE(answer.ok()) << text;
    return answer.ok() ? std::string() : answer.error().message;
  };
  EXPECT_NE(refused("ACTIVITIES_ENABLED = no").find("ACTIVITIES_ENABLED"),
            std::string::npos);
  EXPECT_NE(refused("PROFILE_START_TIME = " + std::to_string(now_ms_ - 20'000))
                .find("past"),
            std::string::npos);
  EXPECT_NE(refused("PROFILE_START_TIME = " + std::to_string(now_ms_ + 1000))
                .find("warm-up"),
            std::string::npos);
  EXPECT_NE(refused("PROFILE_START_ITERATION = 1\nACTIVITIES_ITERATIONS = 1")
                .find("step()"),
            std::string::npos);
  EXPECT_EQ(profiler.status().state, OnDemandState::kWaiting);
  // With a duration it is taken by time.
  const auto by_time = profiler.submit(
      "PROFILE_START_ITERATION = 1\nACTIVITIES_ITERATIONS = 1\n"
      "ACTIVITIES_DURATION_SECS = 1");
  ASSERT_TRUE(by_time.ok());
  EXPECT_EQ(by_time->warnings.size(), 1u);
}

// D-33: the text does not choose where files go, nor how long traces last.
TEST_F(OnDemand, D33_TheProgramDecidesWhereAndHowLong) {
  OnDemandOptions bounded = options();
  bounded.max_duration = milliseconds(100);
  for (const std::string& evil :
       {std::string("/etc/passwd.json"), folder_ + "/../out.json",
        std::string("relative.json"), folder_ + "_beside/x.json"}) {
    OnDemandProfiler profiler(bounded);
    const auto answer = profiler.submit("ACTIVITIES_DURATION_SECS = 60\n"
                                        "ACTIVITIES_LOG_FILE = " + evil);
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(answer->file.rfind(folder_ + "/weft_activities_", 0), 0u)
        << answer->file;
    ASSERT_EQ(answer->warnings.size(), 2u) << evil;
  }
  const std::string link = file("link");
  std::filesystem::create_directory_symlink("/etc", link);
  OnDemandProfiler profiler(bounded);
  const auto answer =
      profiler.submit("ACTIVITIES_DURATION_SECS = 60\n"
                      "ACTIVITIES_LOG_FILE = " + link + "/x.json");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->warnings.size(), 2u) << "links are followed";
}

TEST_F(OnDemand, AFileIsLookedAtAndTakenOnce) {
  OnDemandProfiler profiler(options());
  const std::string path = file("request.conf");
  profiler.watch_file(path);
  EXPECT_TRUE(profiler.poll().ok()) << "no file is no request";
  std::ofstream(path) << "ACTIVITIES_WARMUP_PERIOD_SECS = 0\n";
  EXPECT_TRUE(profiler.poll().ok());
  EXPECT_EQ(profiler.status().state, OnDemandState::kPending);
  EXPECT_TRUE(profiler.cancel().ok());
  EXPECT_TRUE(profiler.poll().ok());
  EXPECT_EQ(profiler.status().state, OnDemandState::kWaiting)
      << "the same text is no new request";
  std::ofstream(path) << "nonsense\n";
  EXPECT_FALSE(profiler.poll().ok());
  EXPECT_TRUE(profiler.poll().ok()) << "told once";
  std::ofstream(path) << "ACTIVITIES_WARMUP_PERIOD_SECS = 1\n";
  EXPECT_TRUE(profiler.poll().ok());
  EXPECT_EQ(profiler.status().state, OnDemandState::kPending);
}

TEST_F(OnDemand, CanBeCancelledAtAnyTime) {
  OnDemandProfiler profiler(options());
  EXPECT_EQ(profiler.cancel().error().code, ErrorCode::kNotRunning);
  const auto answer = profiler.submit("ACTIVITIES_WARMUP_PERIOD_SECS = 0");
  now_ms_ += 2000;
  ASSERT_TRUE(profiler.poll().ok());
  ASSERT_EQ(profiler.status().state, OnDemandState::kCollecting);
  EXPECT_TRUE(profiler.cancel().ok());
  EXPECT_EQ(profiler.status().state, OnDemandState::kWaiting);
  EXPECT_EQ(profiler.status().traces, 0u);
  EXPECT_FALSE(std::filesystem::exists(answer->file));
}

TEST_F(OnDemand, RunsBesideASessionOfAllThreads) {
  OnDemandProfiler on_demand(options());
  ASSERT_TRUE(on_demand.submit("ACTIVITIES_WARMUP_PERIOD_SECS = 0").ok());
  now_ms_ += 2000;
  ASSERT_TRUE(on_demand.poll().ok());
  Profiler profiler({.coverage = ThreadCoverage::kAllThreads});
  ASSERT_TRUE(profiler.start().ok());
  {
    WEFT_RECORD_FUNCTION("in both");
  }
  ASSERT_TRUE(profiler.stop().ok());
  now_ms_ += 1000;
  ASSERT_TRUE(on_demand.poll().ok());
  EXPECT_EQ(profiler.events()->size(), 1u);
  EXPECT_NE(read(on_demand.status().last_file).find("in both"),
            std::string::npos);
}

}  // namespace
}  // namespace weft
