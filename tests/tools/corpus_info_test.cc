// SPDX-License-Identifier: Apache-2.0
// `weft info --format json` of public traces, against the figures known for
// them.

#include <gtest/gtest.h>
#include <simdjson.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tools/command_run.h"

namespace weft::tools {
namespace {

using Json = simdjson::dom::element;

std::filesystem::path data_folder() {
  const char* set = std::getenv("WEFT_TEST_DATA");
  return set != nullptr ? set : WEFT_TEST_DATA;
}

// Of the collection itself, not of what a file holds.
bool is_commentary(std::string_view key) {
  return key.substr(0, 9) == "published" || key == "query" || key == "csv" ||
         key == "intended";
}

void expect_equal(Json expected, Json found, const std::string& where);

void expect_members(simdjson::dom::object expected, simdjson::dom::object found,
                    const std::string& where) {
  for (auto [key, value] : expected) {
    if (where.empty() && is_commentary(key)) continue;
    const std::string place = where + "/" + std::string(key);
    Json other;
    if (found.at_key(key).get(other) != simdjson::SUCCESS) {
      ADD_FAILURE() << place << " is missing";
      continue;
    }
    expect_equal(value, other, place);
  }
  for (auto [key, value] : found) {
    // What was not read has no figure to compare with.
    if (where.empty() && key == "skipped") continue;
    Json other;
    EXPECT_EQ(expected.at_key(key).get(other), simdjson::SUCCESS)
        << where << "/" << key << " is not expected: " << value;
  }
}

void expect_equal(Json expected, Json found, const std::string& where) {
  simdjson::dom::object members;
  simdjson::dom::array elements;
  if (expected.get(members) == simdjson::SUCCESS && found.is_object()) {
    expect_members(members, simdjson::dom::object(found), where);
    return;
  }
  if (expected.get(elements) == simdjson::SUCCESS && found.is_array()) {
    const simdjson::dom::array others = found;
    ASSERT_EQ(elements.size(), others.size()) << where;
    auto other = others.begin();
    for (const Json element : elements) {
      expect_equal(element, *other, where + "[]");
      ++other;
    }
    return;
  }
  EXPECT_EQ(simdjson::minify(expected), simdjson::minify(found)) << where;
}

TEST(CorpusInfo, EveryFileIsReportedAsItsFiguresSay) {
  const auto list = data_folder() / "expected.json";
  if (!std::filesystem::exists(list)) {
    GTEST_SKIP() << "no " << list << "; set WEFT_TEST_DATA";
  }
  simdjson::dom::parser parser;
  const Json file = parser.load(list.string());
  std::size_t compared = 0;
  for (auto [name, expected] : simdjson::dom::object(file["files"])) {
    SCOPED_TRACE(std::string(name));
    const Outcome outcome = run(
        "info '" + (data_folder() / std::string(name)).string() +
        "' --format json");
    const std::string_view form = expected["form"];
    if (form == "text" || form == "lines of Python dict literals") {
      // No trace: refused.
      EXPECT_EQ(outcome.code, 2);
      EXPECT_EQ(outcome.out, "");
      continue;
    }
    EXPECT_EQ(outcome.code, form == "xml" ? 2 : 0);
    simdjson::dom::parser report_parser;
    Json report;
    ASSERT_EQ(report_parser.parse(outcome.out).get(report), simdjson::SUCCESS)
        << outcome.out;
    expect_equal(expected, report, "");
    ++compared;
  }
  EXPECT_GT(compared, 140u);
}

}  // namespace
}  // namespace weft::tools
