// SPDX-License-Identifier: Apache-2.0
// Public nvprof files, against the figures known for them.

#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "weft/profile/nvprof.h"

namespace weft {
namespace {

std::filesystem::path data_folder() {
  const char* set = std::getenv("WEFT_TEST_DATA");
  return set != nullptr ? set : WEFT_TEST_DATA;
}

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
