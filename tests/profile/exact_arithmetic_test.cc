// SPDX-License-Identifier: Apache-2.0
//
// Figures of a table add up to the nanosecond, and a table that is printed
// again is the same: on recorded inputs, public traces and a session at random.

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "corpus_files.h"
#include "golden_input.h"
#include "weft/profile/chrome_import.h"
#include "weft/profile/nsys.h"
#include "weft/profile/nvprof.h"
#include "weft/profile/profiler.h"
#include "weft/profile/record_function.h"
#include "weft/profile/wrapping_sum.h"

namespace weft {
namespace {

using testing_support::data_folder;

// What a thread spent by itself in each of its ranges is what it spent in its
// outermost ones.
void expect_self_times_add_up(const EventList& events) {
  struct Sums {
    std::int64_t self_ns = 0;
    std::int64_t roots_ns = 0;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Sums> threads;
  std::int64_t all_self_ns = 0;
  for (const FunctionEvent& event : events) {
    add_wrapping(all_self_ns, event.self_cpu_time_total_ns);
    if (!event.is_host() || event.is_async) {
      EXPECT_EQ(event.self_cpu_time_total_ns, 0) << event.name;
      continue;
    }
    Sums& sums = threads[{event.node_id, event.thread}];
    add_wrapping(sums.self_ns, event.self_cpu_time_total_ns);
    if (event.parent == kNoEvent) {
      add_wrapping(sums.roots_ns, event.duration_ns());
    }
  }
  for (const auto& [thread, sums] : threads) {
    EXPECT_EQ(sums.self_ns, sums.roots_ns) << "thread " << thread.second;
  }
  EXPECT_EQ(events.self_cpu_time_total_ns(), all_self_ns);
}

// Averages are the same time, cut another way.
void expect_averages_add_up(const EventList& events,
                            const KeyAverages& averages) {
  std::uint64_t count = 0;
  std::int64_t self_ns = 0;
  std::int64_t device_ns = 0;
  for (const FunctionEventAvg& row : averages) {
    count += row.count;
    add_wrapping(self_ns, row.self_cpu_time_total_ns);
    add_wrapping(device_ns, row.self_device_time_total_ns.sum());
  }
  std::int64_t events_device_ns = 0;
  for (const FunctionEvent& event : events) {
    add_wrapping(events_device_ns, event.self_device_time_total_ns.sum());
  }
  EXPECT_EQ(count, events.size());
  EXPECT_EQ(self_ns, events.self_cpu_time_total_ns());
  EXPECT_EQ(device_ns, events_device_ns);
}

void expect_exact(const EventList& events) {
  expect_self_times_add_up(events);
  std::vector<KeyOptions> keys = {
      {}, {.group_by_input_shape = true}, {.group_by_stack_n = 2}};
  // Sanitizers make the largest files slow.
  if (events.size() > 5000) keys.resize(1);
  const std::string table = events.table();
  for (const KeyOptions& key : keys) {
    const KeyAverages averages = events.key_averages(key);
    expect_averages_add_up(events, averages);
    const std::string first = averages.table();
    EXPECT_EQ(averages.table(), first);
    EXPECT_EQ(events.key_averages(key).table(), first);
  }
  EXPECT_EQ(events.table(), table);
  EXPECT_EQ(events.table(), table);
}

TEST(ExactArithmetic, HoldsForRecordedInputs) {
  if (!std::filesystem::exists(golden::golden_folder())) {
    GTEST_SKIP() << "no " << golden::golden_folder()
                 << "; set WEFT_TEST_GOLDEN";
  }
  std::size_t lists = 0;
  simdjson::dom::parser parser;
  for (const auto& file :
       std::filesystem::directory_iterator(golden::golden_folder())) {
    if (file.path().extension() != ".json") continue;
    const golden::Json json = parser.load(file.path().string());
    const std::string kind = golden::text(json, "kind");
    if (kind != "events" && kind != "raw") continue;
    SCOPED_TRACE(file.path().filename().string());
    for (const golden::Json call : simdjson::dom::array(json["calls"])) {
      expect_exact(golden::read_list(json, call, Rules::kWeft));
      ++lists;
    }
  }
  EXPECT_GT(lists, 100u);
}

// The rows of a public file, if it is one of these forms.
std::optional<EventList> imported(const std::string& form,
                                  const std::string& path) {
  if (form == "sqlite") {
    if (path.find("/nsys/") != path.npos) {
      auto import = import_nsys(path);
      if (import.ok()) return std::move(import->events);
      return std::nullopt;
    }
    auto import = parse_nvprof_trace(path);
    if (import.ok()) return std::move(import->events);
    return std::nullopt;
  }
  auto import = import_chrome_trace(path);
  if (import.ok()) return std::move(import->events);
  return std::nullopt;
}

TEST(ExactArithmetic, HoldsForPublicTraces) {
  WEFT_NEED_CORPUS();
  simdjson::dom::parser parser;
  const simdjson::dom::element list =
      parser.load((data_folder() / "expected.json").string());
  std::size_t files = 0;
  for (auto [name, expected] : simdjson::dom::object(list["files"])) {
    const std::string path = (data_folder() / std::string(name)).string();
    const auto events =
        imported(std::string(std::string_view(expected["form"])), path);
    if (!events) continue;
    SCOPED_TRACE(std::string(name));
    expect_exact(*events);
    ++files;
  }
  EXPECT_GT(files, 130u);
}

// Calls in calls, as deep and as many as chance has it.
void call_at_random(std::mt19937& random, int depth) {
  static constexpr const char* kNames[] = {"parse", "plan", "fetch", "render"};
  const std::uint32_t calls = random() % 4;
  for (std::uint32_t i = 0; i < calls; ++i) {
    RecordFunction call;
    call.before(kNames[random() % 4]);
    if (depth < 8) call_at_random(random, depth + 1);
  }
}

TEST(ExactArithmetic, HoldsForASessionAtRandom) {
  Profiler profiler({.coverage = ThreadCoverage::kAllThreads});
  ASSERT_TRUE(profiler.start().ok());
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([seed] {
      std::mt19937 random(seed);
      for (int request = 0; request < 50; ++request) {
        WEFT_RECORD_FUNCTION("request");
        call_at_random(random, 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(profiler.stop().ok());
  const auto result = profiler.result();
  ASSERT_TRUE(result.ok());
  EXPECT_GE((*result)->events().size() + profiler.statistics()->records_dropped,
            200u);
  expect_exact((*result)->events());
}

}  // namespace
}  // namespace weft
