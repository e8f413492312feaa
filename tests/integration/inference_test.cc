// SPDX-License-Identifier: Apache-2.0

// examples/inference, run small.

#include <gtest/gtest.h>
#include <simdjson.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "export/weft_file.h"

namespace weft::test {
namespace {

constexpr int kSteps = 6;
constexpr int kThreads = 2;

class Inference : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    FILE* const pipe =
        popen((std::string(WEFT_INFERENCE) + " --steps " +
               std::to_string(kSteps) + " --threads " +
               std::to_string(kThreads) + " --batch 32 --rows 100 --out " + prefix().str())
                  .c_str(),
              "r");
    ASSERT_NE(pipe, nullptr);
    char buffer[4096];
    for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
      text().append(buffer, n);
    const int status = pclose(pipe);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << text();
  }
  static void TearDownTestSuite() {
    for (const char* end : {".json", ".stacks"})
      std::remove((prefix().str() + end).c_str());
  }

  static std::string& text() {
    static std::string all;
    return all;
  }
  static TempPath& prefix() {
    static TempPath path("_inference");
    return path;
  }

  // The cells of the first row whose name is `name`, by the table's headings.
  static std::map<std::string, std::string> row(const std::string& name) {
    std::istringstream lines(text());
    std::vector<std::string> headings;
    for (std::string line; std::getline(lines, line);) {
      std::vector<std::string> words;
      // Cells are two blanks apart; names and headings hold single ones.
      for (std::size_t at = 0; at < line.size();) {
        const std::size_t begin = line.find_first_not_of(' ', at);
        if (begin == std::string::npos) break;
        std::size_t end = line.find("  ", begin);
        if (end == std::string::npos) end = line.size();
        words.push_back(line.substr(begin, end - begin));
        at = end;
      }
      if (!words.empty() && words[0] == "Name") headings = words;
      if (words.empty() || words[0] != name || words.size() != headings.size())
        continue;
      std::map<std::string, std::string> cells;
      for (std::size_t i = 0; i < words.size(); ++i)
        cells[headings[i]] = words[i];
      return cells;
    }
    ADD_FAILURE() << "no row " << name << " in\n" << text();
    return {};
  }
};

// Two forward convolutions a part of a step, and two of the last inference.
TEST_F(Inference, EveryCallOfEveryThreadIsInTheTable) {
  EXPECT_EQ(row("aten::conv2d")["# of Calls"],
            std::to_string(2 * kSteps * kThreads + 2));
  EXPECT_EQ(row("ConvolutionBackward")["# of Calls"],
            std::to_string(2 * kSteps * kThreads));
  EXPECT_EQ(row("conv2d_backward")["# of Calls"],
            std::to_string(2 * kSteps * kThreads));
}

// 2 * 9 multiplications and additions a pixel, channel in and channel out, for
// each image: 6 * 32 that are learnt from and 500 that are only told apart.
TEST_F(Inference, FlopsAreThoseOfTheNetwork) {
  constexpr double kImages = kSteps * 32 + 500;
  constexpr double kEach = 2.0 * 9 * (16 * 16 * 1 * 8 + 8 * 8 * 8 * 16);
  std::map<std::string, std::string> cells = row("aten::conv2d");
  double flops = 0;
  for (const auto& [unit, scale] :
       {std::pair{"Total MFLOPs", 1e6}, {"Total GFLOPs", 1e9}, {"Total KFLOPs", 1e3}})
    if (cells.count(unit) != 0) flops = std::stod(cells[unit]) * scale;
  EXPECT_NEAR(flops, kImages * kEach, 0.001 * kImages * kEach);
}

TEST_F(Inference, MemoryOfTensorsIsAttributed) {
  EXPECT_NE(row("aten::conv2d")["CPU Mem"], "0 B");
}

TEST_F(Inference, TheTraceIsJsonWithArrowsFromForwardToBackward) {
  auto json = simdjson::padded_string::load(prefix().str() + ".json");
  ASSERT_EQ(json.error(), simdjson::SUCCESS);
  simdjson::dom::parser parser;
  int arrows = 0;
  int calls = 0;
  for (const auto event : parser.parse(json.value())["traceEvents"]) {
    const std::string_view phase = event["ph"];
    std::string_view category;
    if (event["cat"].get(category) != simdjson::SUCCESS) continue;
    arrows += phase == "s" && category == "fwdbwd";
    calls += phase == "X";
  }
  // conv, relu, pool, twice, and the last product.
  EXPECT_EQ(arrows, 7 * kSteps * kThreads);
  EXPECT_GT(calls, 7 * kSteps * kThreads);
}

TEST_F(Inference, StacksLeadToTheFunctionsOfTheProgram) {
  std::ifstream stacks(prefix().str() + ".stacks");
  std::string all((std::istreambuf_iterator<char>(stacks)), {});
  EXPECT_NE(all.find("inference::conv2d("), std::string::npos)
      << all.substr(0, 2000);
  // Where calls are recorded is nobody's question.
  EXPECT_EQ(all.find("weft/span.h("), std::string::npos);
  EXPECT_EQ(all.find(":_weft::internal::"), std::string::npos);
}

}  // namespace
}  // namespace weft::test
