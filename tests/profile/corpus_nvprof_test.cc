// SPDX-License-Identifier: Apache-2.0
// Public nvprof files, against the figures known for them.

#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "corpus_files.h"
#include "weft/profile/nvprof.h"

namespace weft {
namespace {

using testing_support::data_folder;

class NvprofCorpus : public testing::TestWithParam<const char*> {};

TEST_P(NvprofCorpus, FiguresAreThoseOfTheFile) {
  const std::string name = std::string("nvprof/") + GetParam();
  if (!std::filesystem::exists(data_folder() / name)) {
    GTEST_SKIP() << "no " << data_folder() / name << "; set WEFT_TEST_DATA";
  }
  simdjson::dom::parser parser;
  const simdjson::dom::element expected =
      parser.load((data_folder() / "expected.json").string())["files"].at_key(
          name);
  const auto import = parse_nvprof_trace((data_folder() / name).string());
  ASSERT_TRUE(import.ok()) << import.error().message;

  std::int64_t kernels = 0;
  std::int64_t kernel_ns = 0;
  std::int64_t ranges = 0;
  std::int64_t range_ns = 0;
  std::map<std::int64_t, std::int64_t> ranges_of;
  for (const FunctionEvent& event : import->events) {
    if (event.is_host()) {
      ++ranges;
      range_ns += event.duration_ns();
      ++ranges_of[event.thread];
    } else {
      ++kernels;
      kernel_ns += event.duration_ns();
    }
  }
  EXPECT_EQ(kernels, std::int64_t(expected["kernels"]));
  EXPECT_EQ(kernel_ns, std::int64_t(expected["kernel_time_ns"]));
  EXPECT_EQ(ranges, std::int64_t(expected["markers"]["ranges"]));
  EXPECT_EQ(range_ns, std::int64_t(expected["markers"]["total_range_time_ns"]));
  const std::int64_t without_call =
      kernels - std::int64_t(expected["kernels_with_any_call"]);
  EXPECT_EQ(std::any_of(import->skipped.begin(), import->skipped.end(),
                        [](const std::string& line) {
                          return line.find("no call") != std::string::npos;
                        }),
            without_call > 0);
  if (ranges == 0) return;
  EXPECT_EQ(static_cast<std::int64_t>(ranges_of.size()),
            std::int64_t(expected["markers"]["threads"]));
  const auto busiest = std::max_element(
      ranges_of.begin(), ranges_of.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
  EXPECT_EQ(busiest->second,
            std::int64_t(expected["markers"]["main_thread"]["ranges"]));
}

INSTANTIATE_TEST_SUITE_P(
    Public, NvprofCorpus,
    testing::Values("nvprof-writer-markers.nvprof",
                    "nvprof-writer-markers-combined.nvprof",
                    "openacc-p100-driver-only.nvvp", "pyprof-v100-empty.sql",
                    "pyprof-v100-lm.sql"),
    [](const testing::TestParamInfo<const char*>& test) {
      std::string name = test.param;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; },
          '_');
      return name;
    });

// The list at `key` of a line of pyprof's dictionaries, or its one text.
// Elements stand in either kind of quotes and hold none of that kind.
std::vector<std::string> texts_at(std::string_view line, std::string_view key) {
  std::vector<std::string> texts;
  line.remove_prefix(line.find("'" + std::string(key) + "': ") + key.size() +
                     4);
  const bool is_list = line.front() == '[';
  if (is_list) line.remove_prefix(1);
  while (line.front() != ']') {
    const std::size_t end = line.find(line.front(), 1);
    texts.emplace_back(line.substr(1, end - 1));
    line.remove_prefix(end + 1);
    if (!is_list) break;
    if (line.front() == ',') line.remove_prefix(2);
  }
  return texts;
}

std::int64_t number_at(std::string_view line, std::string_view key) {
  const std::string label = "'" + std::string(key) + "': ";
  return std::stoll(std::string(line.substr(line.find(label) + label.size())));
}

// Names of the ranges around a kernel's launch, innermost first.
std::vector<std::string> names_around(const EventList& events,
                                      std::size_t row) {
  std::vector<std::string> names;
  for (; row != kNoEvent; row = events[row].parent) {
    names.push_back(events[row].name);
  }
  return names;
}

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// Operators by the sequence number behind their name. Of those that share one,
// which are calls of one operator in another, pyprof keeps the first in the
// alphabet.
std::map<std::string, std::string> operators_of(
    const std::vector<std::string>& names) {
  std::map<std::string, std::string> operators;
  for (const std::string& name : names) {
    const std::size_t number = name.find(", seq = ");
    if (number == name.npos || name.front() == '{') continue;
    std::string& kept = operators[name.substr(number)];
    if (kept.empty() || name < kept) kept = name;
  }
  return operators;
}

// pyprof's demangler counts wrongly what stands behind a lambda.
std::string up_to_lambda(const std::string& name) {
  return name.substr(0, name.find("{lambda"));
}

// apex.pyprof.parse read the same file: a line a kernel, in the order of the
// launches, with the ranges around it. Its seqId, dir, op and mod are cut out
// of the markers that are compared here.
TEST(PublishedFigures, PyprofsReadingOfAnNvprofFileIsWefts) {
  WEFT_NEED_CORPUS();
  const auto import = parse_nvprof_trace(
      (data_folder() / "nvprof" / "pyprof-v100-lm.sql").string());
  ASSERT_TRUE(import.ok()) << import.error().message;
  struct Launched {
    const Kernel* kernel;
    std::size_t owner;
  };
  std::map<std::int64_t, Launched> launched;  // kernels of one stream: by start
  for (std::size_t i = 0; i < import->events.size(); ++i) {
    for (const Kernel& kernel : import->events[i].kernels) {
      launched.emplace(*kernel.start_ns, Launched{&kernel, i});
    }
  }
  std::ifstream file(data_folder() / "nvprof" / "pyprof-v100-lm.dict");
  auto next = launched.begin();
  std::size_t frames = 0;
  for (std::string line; std::getline(file, line); ++next) {
    ASSERT_NE(next, launched.end()) << line;
    const auto& [kernel, owner] = next->second;
    EXPECT_EQ(kernel->duration_ns, number_at(line, "kDuration"));
    EXPECT_EQ(kernel->stream, number_at(line, "stream"));
    EXPECT_EQ(kernel->device_index, number_at(line, "device"));
    EXPECT_EQ(up_to_lambda(kernel->name),
              up_to_lambda(texts_at(line, "kLongName").at(0)));
    const std::vector<std::string> around = names_around(import->events, owner);
    EXPECT_EQ(operators_of(around), operators_of(texts_at(line, "seqMarker")));
    for (const std::string& marker : texts_at(line, "marker")) {
      EXPECT_NE(std::find(around.begin(), around.end(), marker), around.end())
          << marker;
    }
    // The stack at the launch, as the script's own frames: the ranges named
    // "traceMarker" have those of its libraries too.
    const auto stack =
        std::find_if(around.begin(), around.end(), [](const std::string& name) {
          return starts_with(name, "{'traceMarker': ");
        });
    for (const std::string& frame : texts_at(line, "trace")) {
      ASSERT_NE(stack, around.end());
      EXPECT_NE(stack->find("'" + frame + "'"), stack->npos) << frame;
      ++frames;
    }
  }
  EXPECT_EQ(next, launched.end());
  EXPECT_EQ(launched.size(), 160u);
  EXPECT_GT(frames, 160u);
}

// An XML project has the same suffix.
TEST(NvprofCorpusFiles, ProjectFileIsRefusedPolitely) {
  const auto path = data_folder() / "nvprof" / "nvvp-project-xml.nvvp";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "no " << path << "; set WEFT_TEST_DATA";
  }
  EXPECT_EQ(parse_nvprof_trace(path.string()).error().code,
            ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace weft
