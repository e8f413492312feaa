// SPDX-License-Identifier: Apache-2.0
// Perfetto's published answers about its test traces, against weft's rows.
//
// expected.json has, for each of those files, an SQL query and the lines that
// Perfetto answers. Where the two disagree on purpose a rule below says so.

#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "corpus_files.h"
#include "weft/profile/chrome_facts.h"
#include "weft/profile/chrome_import.h"

namespace weft {
namespace {

using Json = simdjson::dom::element;
using testing_support::data_folder;

// The cells of a line of CSV, by the names in its first line.
using Line = std::map<std::string, std::string>;

std::vector<std::string> cells_of(std::string_view text) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

std::vector<Line> lines_of(simdjson::dom::array csv) {
  std::vector<std::string> names;
  std::vector<Line> lines;
  for (const Json text : csv) {
    const std::vector<std::string> cells = cells_of(std::string_view(text));
    if (names.empty()) {
      names = cells;
      continue;
    }
    Line& line = lines.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) line[names[i]] = cells.at(i);
  }
  return lines;
}

// What a query is about decides how it is compared.
enum class Subject { kSlices, kDepths, kCounters, kArrows, kTallies, kNothing };

Subject subject_of(std::string_view file, std::string_view query) {
  if (file.find("overlapping") != file.npos ||
      query.find("slice_count") != query.npos) {
    return Subject::kTallies;
  }
  if (file.find("flow_events") != file.npos) return Subject::kArrows;
  if (query.find("counter") != query.npos) return Subject::kCounters;
  if (query.find("depth") != query.npos) return Subject::kDepths;
  // Arguments, order of rows in a viewer, the kernel's scheduler, names of
  // processes, what the file says of itself: in no row of weft's.
  for (const char* other : {"args.id", "sort_index", "sched", "thread_state",
                            "FROM process", "FROM metadata"}) {
    if (query.find(other) != query.npos) return Subject::kNothing;
  }
  return Subject::kSlices;
}

std::size_t depth_of(const EventList& events, std::size_t row) {
  std::size_t depth = 0;
  for (row = events[row].parent; row != kNoEvent; row = events[row].parent) {
    ++depth;
  }
  return depth;
}

std::int64_t number(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The name of a row's thread, or what stands for it.
std::string thread_name_of(const ChromeImport& import,
                           const FunctionEvent& row) {
  const ChromeThread& thread =
      import.threads[static_cast<std::size_t>(row.thread) - 1];
  return thread.name.empty() ? thread.tid : thread.name;
}

bool is_same(const ChromeImport& import, const FunctionEvent& row, Line line) {
  if (row.start_ns + import.statistics.first_ns != number(line["ts"])) {
    return false;
  }
  if (line.count("name") != 0 && row.trace_name != line["name"]) return false;
  // Perfetto leaves a begin open whose end has another name; weft pairs the
  // last begin with the first end, as Chrome does.
  if (line.count("dur") != 0 && line["dur"] != "-1" &&
      row.duration_ns() != number(line["dur"])) {
    return false;
  }
  const std::string thread = line["thread_name"];
  return thread.empty() || thread == "[NULL]" ||
         thread == thread_name_of(import, row);
}

void expect_slices(const ChromeImport& import, const std::vector<Line>& lines,
                   std::string_view query) {
  std::set<std::size_t> matched;
  for (const Line& line : lines) {
    // A point in time has no row in weft's tables.
    if (line.count("dur") != 0 && line.at("dur") == "0") continue;
    const auto found = std::find_if(
        import.events.begin(), import.events.end(),
        [&](const FunctionEvent& row) { return is_same(import, row, line); });
    ASSERT_NE(found, import.events.end())
        << line.at("ts") << " has no row of weft's";
    // Arguments of a slice have a line each.
    matched.insert(static_cast<std::size_t>(found - import.events.begin()));
  }
  // A count over all slices has one line.
  if (query.find("COUNT") != query.npos) return;
  const bool without_async =
      query.find("thread_or_process_slice") != query.npos;
  const auto rows = std::count_if(import.events.begin(), import.events.end(),
                                  [&](const FunctionEvent& row) {
                                    return !without_async || !row.is_async;
                                  });
  EXPECT_EQ(static_cast<std::size_t>(rows), matched.size());
}

// In weft a row of length 0 is nobody's parent, and time alone decides: a row
// that begins with another and ends before it is inside, whatever came first.
// A row without a tid is on a thread of its own.
const std::map<std::string, std::map<std::string, std::size_t>> kOtherDepths = {
    {"same_ts_two_zero_duration_slice_nesting", {{"Slice 2", 0}}},
    {"same_ts_zero_duration_slice_then_begin_end_slice_unnesting",
     {{"Slice 1", 1}}},
    {"x_event_order", {{"Child", 0}}},
};

void expect_depths(const std::string& file, const EventList& events,
                   const std::vector<Line>& lines) {
  ASSERT_EQ(events.size(), lines.size());
  for (const Line& line : lines) {
    const std::string& name = line.at("name");
    SCOPED_TRACE(name);
    std::size_t row = 0;
    while (row < events.size() && events[row].name != name) ++row;
    ASSERT_LT(row, events.size());
    std::size_t depth = static_cast<std::size_t>(number(line.at("depth")));
    if (const auto other = kOtherDepths.find(file);
        other != kOtherDepths.end() && other->second.count(name) != 0) {
      EXPECT_NE(depth, other->second.at(name)) << "no rule is needed";
      depth = other->second.at(name);
    }
    EXPECT_EQ(depth_of(events, row), depth);
  }
}

// Perfetto joins a series' name and its key, and leaves out values that are no
// numbers, as weft does.
void expect_counters(const ChromeFacts& facts, const std::vector<Line>& lines) {
  std::map<std::string, std::vector<double>> published;
  for (const Line& line : lines) {
    published[line.at("name")].push_back(std::stod(line.at("value")));
  }
  EXPECT_EQ(facts.series.size(), published.size());
  for (const ChromeSeriesFacts& series : facts.series) {
    const std::string name = series.name + " " + series.key;
    SCOPED_TRACE(name);
    ASSERT_EQ(published.count(name), 1u);
    const std::vector<double>& values = published[name];
    EXPECT_EQ(series.samples, values.size());
    EXPECT_EQ(std::stod(series.min),
              *std::min_element(values.begin(), values.end()));
    EXPECT_EQ(std::stod(series.max),
              *std::max_element(values.begin(), values.end()));
  }
}

// Perfetto tells of two slices that overlap what they are, weft counts them.
void expect_tallies(const ChromeImport& import,
                    const std::vector<Line>& lines) {
  const Line& line = lines.front();
  const bool tells = line.count("severity") != 0;
  EXPECT_EQ(
      import.events.size(),
      tells ? 2 : static_cast<std::size_t>(number(line.at("slice_count"))));
  const bool overlaps = tells || line.count("spill_count") != 0;
  EXPECT_EQ(import.events.statistics().partial_overlaps, overlaps ? 1u : 0u);
}

TEST(PublishedFigures, PerfettosAnswersAreThoseOfWeftsRows) {
  WEFT_NEED_CORPUS();
  simdjson::dom::parser parser;
  const Json list = parser.load((data_folder() / "expected.json").string());
  std::map<Subject, int> answered;
  for (auto [name, expected] : simdjson::dom::object(list["files"])) {
    std::string_view query;
    if (expected["query"].get(query) != simdjson::SUCCESS) continue;
    const std::filesystem::path path = data_folder() / std::string(name);
    const std::string file = path.stem().string();
    SCOPED_TRACE(file);
    const std::vector<Line> lines =
        lines_of(simdjson::dom::array(expected["csv"]));
    const auto import = import_chrome_trace(path.string());
    ASSERT_TRUE(import.ok()) << import.error().message;
    const Subject subject = subject_of(file, query);
    ++answered[subject];
    switch (subject) {
      case Subject::kSlices:
        expect_slices(*import, lines, query);
        break;
      case Subject::kDepths:
        expect_depths(file, import->events, lines);
        break;
      case Subject::kCounters:
        expect_counters(*chrome_facts(path.string()), lines);
        break;
      case Subject::kArrows: {
        // Ids of slices, in place of flow events, are no arrows in weft.
        if (file == "flow_events_v2") break;
        const auto facts = chrome_facts(path.string());
        ASSERT_TRUE(facts.ok()) << facts.error().message;
        std::uint64_t arrows = 0;
        for (const auto& [category, flow] : facts->flows) {
          arrows += flow.arrows;
        }
        EXPECT_EQ(arrows, lines.size());
        break;
      }
      case Subject::kTallies:
        expect_tallies(*import, lines);
        break;
      case Subject::kNothing:
        break;
    }
  }
  EXPECT_EQ(answered[Subject::kSlices], 20);
  EXPECT_EQ(answered[Subject::kDepths], 6);
  EXPECT_EQ(answered[Subject::kCounters], 2);
  EXPECT_EQ(answered[Subject::kArrows], 2);
  EXPECT_EQ(answered[Subject::kTallies], 3);
  EXPECT_EQ(answered[Subject::kNothing], 7);
}

}  // namespace
}  // namespace weft
