// SPDX-License-Identifier: Apache-2.0
//
// Field check K8-05 through the command: tails of a skewed law, in every form
// that people and scripts read.

#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "export/weft_file.h"
#include "runtime/scale.h"
#include "tools/command_run.h"

namespace weft::tools {
namespace {

using test::Recording;
using test::SlotBuilder;
using test::TempPath;

constexpr std::size_t kThreads = 4;
constexpr std::size_t kDurations = test::scaled(1'000'000);

std::vector<std::uint64_t> log_normal(std::size_t count) {
  std::mt19937_64 random(8);
  std::lognormal_distribution<double> law(std::log(50'000.0), 1.5);
  std::vector<std::uint64_t> out(count);
  for (auto& ns : out) ns = static_cast<std::uint64_t>(law(random));
  return out;
}

// Spans of one name and these lengths, in turn on several threads; ticks are
// ns.
void write_spans(const std::string& path,
                 const std::vector<std::uint64_t>& durations) {
  constexpr std::size_t kSpansARun = 1000;
  Recording recording(path);
  const SiteId work = recording.catalog().add_site(SiteKind::kSpan, "work");
  std::vector<SlotBuilder> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back(recording.catalog().add_thread(
        "worker " + std::to_string(i), static_cast<std::uint32_t>(100 + i)));
  }
  recording.exporter().anchor(test::anchor_at(1, 1));
  std::vector<Ticks> now(kThreads, 1000);
  for (std::size_t i = 0; i < durations.size(); ++i) {
    const std::size_t thread = i / kSpansARun % kThreads;
    SlotBuilder& slots = threads[thread];
    const test::OpenSpan span = slots.begin(now[thread], work);
    now[thread] += durations[i];
    slots.end(now[thread]++, span);
    if ((i + 1) % kSpansARun == 0 || i + 1 == durations.size()) {
      ASSERT_TRUE(recording.add(slots));
      recording.work();
    }
  }
  const Ticks last = *std::max_element(now.begin(), now.end());
  recording.exporter().anchor(
      test::anchor_at(last, static_cast<std::int64_t>(last)));
  recording.close();
}

// By definition: the least value that this share is not above.
double percentile(const std::vector<std::uint64_t>& sorted, std::size_t share) {
  return static_cast<double>(sorted[(sorted.size() * share + 999) / 1000 - 1]);
}

using Figures = std::map<std::string, double>;

Figures figures_of(std::vector<std::uint64_t> durations) {
  std::sort(durations.begin(), durations.end());
  return {
      {"p50", percentile(durations, 500)},
      {"p90", percentile(durations, 900)},
      {"p99", percentile(durations, 990)},
      {"p99.9", percentile(durations, 999)},
      {"max", static_cast<double>(durations.back())},
      {"count", static_cast<double>(durations.size())},
      {"total", static_cast<double>(std::accumulate(
                    durations.begin(), durations.end(), std::uint64_t{0}))}};
}

// "1.28ms" in nanoseconds, "1,000,000" as it is.
double number_in_cell(std::string cell) {
  cell.erase(std::remove(cell.begin(), cell.end(), ','), cell.end());
  std::size_t end = 0;
  const double number = std::stod(cell, &end);
  const std::string unit = cell.substr(end);
  if (unit == "µs") return number * 1e3;
  if (unit == "ms") return number * 1e6;
  return unit == "s" ? number * 1e9 : number;
}

std::vector<std::string> split(const std::string& line, char at) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, at);) {
    if (!cell.empty() || at == ',') cells.push_back(cell);
  }
  return cells;
}

// The row of "work" below the first line of its table.
Figures figures_of_rows(const std::string& text, char at) {
  std::vector<std::string> heads;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> cells = split(line, at);
    if (std::find(cells.begin(), cells.end(), "count") != cells.end()) {
      heads = cells;
    } else if (std::find(cells.begin(), cells.end(), "work") != cells.end()) {
      Figures figures;
      for (std::size_t i = 0; i < std::min(cells.size(), heads.size()); ++i) {
        if (std::isdigit(static_cast<unsigned char>(cells[i].front())) != 0) {
          figures[heads[i]] = number_in_cell(cells[i]);
        }
      }
      return figures;
    }
  }
  return {};
}

// What CSV and JSON call them.
const std::map<std::string, std::string> kLongNames = {
    {"p50", "p50_ns"},     {"p90", "p90_ns"}, {"p99", "p99_ns"},
    {"p99.9", "p99_9_ns"}, {"max", "max_ns"}, {"total", "total_ns"}};

class K8_05 : public testing::Test {
 protected:
  K8_05()
      : durations_(log_normal(kDurations)), expected_(figures_of(durations_)) {
    write_spans(path_.str(), durations_);
  }

  std::string summary(const std::string& form) const {
    const Outcome outcome = run("summary --format " + form + " " + path_.str());
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return outcome.out;
  }
  double expected(const std::string& figure) const {
    return expected_.at(figure);
  }
  // `names`: what the form calls each.
  void expect_within_one_percent(
      const Figures& found,
      const std::map<std::string, std::string>& names) const {
    for (const auto& [name, exact] : expected_) {
      const auto renamed = names.find(name);
      const std::string& here = renamed == names.end() ? name : renamed->second;
      SCOPED_TRACE(here);
      ASSERT_EQ(found.count(here), 1u);
      EXPECT_NEAR(found.at(here), exact, exact / 100);
    }
  }

 private:
  TempPath path_{".weft"};
  std::vector<std::uint64_t> durations_;
  Figures expected_;
};

TEST_F(K8_05, TheTableHasTailsWithinOnePercent) {
  const Figures found = figures_of_rows(summary("text"), ' ');
  expect_within_one_percent(found, {});
  EXPECT_EQ(found.at("count"), expected("count"));
}

TEST_F(K8_05, CsvHasTailsWithinOnePercentAndCountAndSumExactly) {
  const Figures found = figures_of_rows(summary("csv"), ',');
  expect_within_one_percent(found, kLongNames);
  EXPECT_EQ(found.at("count"), expected("count"));
  EXPECT_EQ(found.at("total_ns"), expected("total"));
  EXPECT_EQ(found.at("max_ns"), expected("max"));
}

TEST_F(K8_05, JsonHasTailsWithinOnePercentAndCountAndSumExactly) {
  simdjson::dom::parser parser;
  const std::string text = summary("json");
  simdjson::dom::element json;
  ASSERT_EQ(parser.parse(text).get(json), simdjson::SUCCESS) << text;
  Figures found;
  for (auto [key, value] : simdjson::dom::object(json["spans"].at(0))) {
    double number = 0;
    if (value.get(number) == simdjson::SUCCESS)
      found[std::string(key)] = number;
  }
  expect_within_one_percent(found, kLongNames);
  EXPECT_EQ(found.at("count"), expected("count"));
  EXPECT_EQ(found.at("total_ns"), expected("total"));
  EXPECT_EQ(found.at("max_ns"), expected("max"));
}

}  // namespace
}  // namespace weft::tools
