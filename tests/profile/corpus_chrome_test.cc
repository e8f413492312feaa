// SPDX-License-Identifier: Apache-2.0
// Public Chrome traces, against the figures known for them.

#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "corpus_files.h"
#include "decimal_time.h"
#include "weft/profile/chrome_import.h"
#include "weft/profile/chrome_summary.h"

namespace weft {
namespace {

using Json = simdjson::dom::element;
using testing_support::data_folder;

std::int64_t time_ns(Json object, const char* key) {
  Json value;
  if (object.at_key(key).get(value) != simdjson::SUCCESS) return 0;
  return profile::decimal_us_to_ns(std::string_view(value)).value();
}

std::uint64_t number(Json object, const char* key) {
  Json value;
  if (object.at_key(key).get(value) != simdjson::SUCCESS) return 0;
  return std::uint64_t(value);
}

// Figures that every file has.
void expect_counts(Json expected, const ChromeImport& import) {
  const ChromeImportStatistics& statistics = import.statistics;
  EXPECT_EQ(statistics.event_objects, number(expected, "event_objects"));
  EXPECT_EQ(statistics.complete_events, number(expected, "complete_events"));
  std::map<std::string, std::uint64_t> by_phase;
  for (auto [phase, count] : simdjson::dom::object(expected["by_ph"])) {
    by_phase[std::string(phase)] = std::uint64_t(count);
  }
  EXPECT_EQ(statistics.by_phase, by_phase);
  EXPECT_EQ(statistics.total_complete_time_ns,
            time_ns(expected, "total_complete_time_us"));
  EXPECT_EQ(statistics.first_ns, time_ns(expected, "min_ts_us"));
  EXPECT_EQ(statistics.last_ns, time_ns(expected, "max_end_us"));
}

// Of files that come from PyTorch.
void expect_device_work(Json expected, const ChromeImport& import) {
  std::uint64_t work = 0;
  std::uint64_t attached = 0;
  std::int64_t work_ns = 0;
  std::set<std::pair<int, std::int64_t>> streams;
  for (const FunctionEvent& event : import.events) {
    attached += event.kernels.size();
    if (event.is_host() || event.is_user_annotation) continue;
    ++work;
    work_ns += event.duration_ns();
    streams.emplace(event.device_index, event.stream);
  }
  EXPECT_EQ(work, number(expected, "kernels") + number(expected, "gpu_memcpy") +
                      number(expected, "gpu_memset"));
  EXPECT_EQ(work_ns, time_ns(expected, "kernel_time_us") +
                         time_ns(expected, "gpu_memcpy_time_us") +
                         time_ns(expected, "gpu_memset_time_us"));
  EXPECT_EQ(streams.size(), simdjson::dom::array(expected["streams"]).size());
  // Work with a launch always has an owner; work without one may.
  EXPECT_GE(attached, number(expected, "gpu_ops_with_launch"));
  EXPECT_EQ(attached + import.statistics.unattributed_device_rows, work);
}

void expect_pairs(Json expected, const ChromeImport& import) {
  std::int64_t total_ns = 0;
  std::uint64_t rows = 0;
  for (const FunctionEvent& event : import.events) {
    if (event.is_async || event.is_instant()) continue;
    ++rows;
    total_ns += event.duration_ns();
  }
  if (number(expected, "complete_events") == 0) {
    EXPECT_EQ(rows, number(expected["begin_end"], "matched_pairs"));
    EXPECT_EQ(total_ns, time_ns(expected["begin_end"], "total_time_us"));
  }
}

// The short way must say what the long one says.
void expect_same_averages(const KeyAverages& found,
                          const KeyAverages& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const FunctionEventAvg& a = found[i];
    const FunctionEventAvg& b = expected[i];
    SCOPED_TRACE(b.key);
    EXPECT_EQ(a.key, b.key);
    EXPECT_EQ(a.device, b.device);
    EXPECT_EQ(a.scope, b.scope);
    EXPECT_EQ(a.is_async, b.is_async);
    EXPECT_EQ(a.is_user_annotation, b.is_user_annotation);
    EXPECT_EQ(a.first_has_parent, b.first_has_parent);
    EXPECT_EQ(a.node_id, b.node_id);
    EXPECT_EQ(a.count, b.count);
    EXPECT_EQ(a.top_level_count, b.top_level_count);
    EXPECT_EQ(a.cpu_time_total_ns, b.cpu_time_total_ns);
    EXPECT_EQ(a.self_cpu_time_total_ns, b.self_cpu_time_total_ns);
    EXPECT_EQ(a.device_time_total_ns.sum(), b.device_time_total_ns.sum());
    EXPECT_EQ(a.self_device_time_total_ns.sum(),
              b.self_device_time_total_ns.sum());
    EXPECT_EQ(a.memory.cpu_bytes, b.memory.cpu_bytes);
    EXPECT_EQ(a.memory.device_bytes.sum(), b.memory.device_bytes.sum());
    EXPECT_EQ(a.self_memory.cpu_bytes, b.self_memory.cpu_bytes);
    EXPECT_EQ(a.self_memory.device_bytes.sum(),
              b.self_memory.device_bytes.sum());
  }
  EXPECT_EQ(found.table(), expected.table());
}

TEST(ChromeCorpus, EveryPublicTraceReadsAsItsFiguresSay) {
  WEFT_NEED_CORPUS();
  simdjson::dom::parser parser;
  const Json file = parser.load((data_folder() / "expected.json").string());
  std::size_t read = 0;
  for (auto [name, expected] : simdjson::dom::object(file["files"])) {
    const std::string form{std::string_view(expected["form"])};
    if (form != "array" && form != "object" && form != "lines" &&
        form != "empty") {
      continue;
    }
    SCOPED_TRACE(std::string(name));
    const auto import =
        import_chrome_trace((data_folder() / std::string(name)).string());
    Json other;
    if (expected.at_key("not_a_trace").get(other) == simdjson::SUCCESS) {
      ASSERT_FALSE(import.ok());
      EXPECT_EQ(import.error().code, ErrorCode::kUnsupported);
      continue;
    }
    ASSERT_TRUE(import.ok()) << import.error().message;
    ++read;
    const auto summary =
        summarize_chrome_trace((data_folder() / std::string(name)).string());
    ASSERT_TRUE(summary.ok()) << summary.error().message;
    expect_same_averages(summary->averages, import->events.key_averages());
    EXPECT_EQ(summary->skipped, import->skipped);
    EXPECT_EQ(summary->statistics.by_phase, import->statistics.by_phase);
    EXPECT_EQ(summary->statistics.unattributed_device_rows,
              import->statistics.unattributed_device_rows);
    expect_counts(expected, *import);
    const std::string json{std::string_view(expected["json"])};
    EXPECT_EQ(
        json == "unterminated" || json == "cut or broken" || json == "empty",
        std::any_of(import->skipped.begin(), import->skipped.end(),
                    [](const std::string& line) {
                      return line.find("breaks off") != line.npos ||
                             line.find("is broken") != line.npos ||
                             line.find("is empty") != line.npos;
                    }));
    if (expected.at_key("pytorch").get(other) == simdjson::SUCCESS) {
      expect_device_work(other, *import);
    }
    if (expected.at_key("begin_end").get(other) == simdjson::SUCCESS) {
      expect_pairs(expected, *import);
    }
  }
  EXPECT_GT(read, 100u);
}

}  // namespace
}  // namespace weft
