// SPDX-License-Identifier: Apache-2.0
// The built command on files of other tools, and on two files.

#include <gtest/gtest.h>
#include <simdjson.h>
#include <zlib.h>

#include <fstream>
#include <string>

#include "export/weft_file.h"
#include "tools/command_run.h"

namespace weft::tools {
namespace {

using test::TempPath;

// An operator of 100 us with another inside, which launches a kernel; shapes
// and stacks differ from call to call.
constexpr const char* kTrace =
    R"([{"ph":"X","cat":"cpu_op","name":"outer","pid":1,"tid":1,"ts":0,)"
    R"("dur":100,"args":{"Input Dims":[[2,3],[]],"Call stack":"a.py(1);m;"}},)"
    R"({"ph":"X","cat":"cpu_op","name":"inner","pid":1,"tid":1,"ts":10,)"
    R"("dur":40,"args":{"External id":7,"Input Dims":[[4]],)"
    R"("Call stack":"b.py(2);m;"}},)"
    R"({"ph":"X","cat":"cuda_runtime","name":"launch","pid":1,"tid":1,"ts":20,)"
    R"("dur":5,"args":{"correlation":3}},)"
    R"({"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":60,)"
    R"("dur":30,"args":{"correlation":3,"device":0,"stream":7}},)"
    R"({"ph":"X","cat":"cpu_op","name":"outer","pid":1,"tid":1,"ts":200,)"
    R"("dur":60,"args":{"Input Dims":[[5]],"Call stack":"c.py(3);m;"}}])";

class ForeignFile : public testing::Test {
 protected:
  ForeignFile() : json_(".json") { std::ofstream(json_.str()) << kTrace; }
  const std::string& json() const { return json_.str(); }

 private:
  TempPath json_;
};

simdjson::dom::element parsed(simdjson::dom::parser& parser,
                              const std::string& text) {
  simdjson::dom::element element;
  EXPECT_EQ(parser.parse(text).get(element), simdjson::SUCCESS) << text;
  return element;
}

TEST_F(ForeignFile, SummaryHasHostAndDeviceTimes) {
  const Outcome outcome = run("summary " + json() + " --format csv");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.out.find("outer,cpu,2,160000,120000,80000,30000,0"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("inner,cpu,1,40000,35000,40000,30000,30000"),
            std::string::npos);
  EXPECT_NE(outcome.out.find("gemm,cuda,1,0,0,0,30000,30000"),
            std::string::npos);
}

TEST_F(ForeignFile, GroupingSplitsRowsByShapeAndStack) {
  simdjson::dom::parser parser;
  for (const char* by : {"shape", "stack:1"}) {
    const Outcome outcome = run("summary " + json() + " --group-by " + by +
                                " --device cpu --format json");
    std::size_t outer = 0;
    for (const auto row :
         simdjson::dom::array(parsed(parser, outcome.out)["averages"]))
      outer += std::string_view(row["name"]) == "outer" ? 1 : 0;
    EXPECT_EQ(outer, 2u) << by << outcome.out;
  }
  EXPECT_NE(run("summary " + json() + " --group-by shape").out.find("[[2, 3], []]"),
            std::string::npos);
}

// A limit must not change the sums below the table.
TEST_F(ForeignFile, LimitHidesRowsButNotTheirTime) {
  const Outcome outcome = run("summary " + json() + " --row-limit 1");
  EXPECT_NE(outcome.out.find("Self CPU time total: 160.000us"),
            std::string::npos)
      << outcome.out;
  EXPECT_EQ(outcome.out.find("inner"), std::string::npos);
}

TEST_F(ForeignFile, TopLevelAndDeviceChooseRows) {
  Outcome outcome =
      run("summary " + json() + " --top-level --device cpu --format csv");
  EXPECT_NE(outcome.out.find("outer,"), std::string::npos);
  EXPECT_EQ(outcome.out.find("inner,"), std::string::npos);
  outcome = run("summary " + json() + " --device cuda --format csv");
  EXPECT_NE(outcome.out.find("gemm,"), std::string::npos);
  EXPECT_EQ(outcome.out.find("outer,"), std::string::npos);
}

TEST_F(ForeignFile, SortByPutsTheLargestFirst) {
  const auto first_row = [&](const char* key) {
    const Outcome outcome = run("summary " + json() + " --device cpu --sort-by " +
                                key + " --format csv");
    const std::size_t line = outcome.out.find("\r\n") + 2;
    return outcome.out.substr(line, outcome.out.find(',', line) - line);
  };
  EXPECT_EQ(first_row("self_cuda_time_total"), "inner");
  EXPECT_EQ(first_row("cpu_time_total"), "outer");
  EXPECT_EQ(first_row("name"), "inner");
}

TEST_F(ForeignFile, StacksAreThoseRecordedOrThoseOfSpans) {
  EXPECT_EQ(run("stacks " + json() + " --frames spans").out,
            "outer 120\nouter;inner 35\nouter;inner;launch 5\n");
  EXPECT_EQ(run("stacks " + json()).out,
            "m;a.py(1);outer 60\nm;b.py(2);inner 35\nm;c.py(3);outer 60\n");
  EXPECT_EQ(
      run("stacks " + json() +
          " --frames spans --metric self_cuda_time_total --unit ns").out,
      "outer;inner;gemm 30000\n");
}

// Work whose launch is not in the file must not vanish.
TEST_F(ForeignFile, WorkWithoutALaunchHasAStackOfItsOwn) {
  const TempPath file(".json");
  std::ofstream(file.str())
      << R"([{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":0,)"
         R"("dur":30,"args":{"correlation":9,"device":0,"stream":7}}])";
  EXPECT_EQ(run("stacks " + file.str() + " --metric self_device_time_total").out,
            "(launched_by_none_of_these) 30\n");
}

TEST_F(ForeignFile, FlameGraphHasABoxAFrameAndNoMarkupOfNames) {
  const TempPath evil(".json");
  std::ofstream(evil.str())
      << R"([{"ph":"X","name":"<script>&\"","pid":1,"tid":1,"ts":0,"dur":9}])";
  const Outcome outcome = run("stacks " + evil.str() + " --svg");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out.find("<script"), std::string::npos);
  EXPECT_NE(outcome.out.find("&lt;script&gt;&amp;&quot; (9.00µs, 100.00%)"),
            std::string::npos)
      << outcome.out;
  const std::string svg = run("stacks " + json() + " --frames spans --svg").out;
  std::size_t boxes = 0;
  for (std::size_t at = 0; (at = svg.find("<title>", at)) != svg.npos; ++at)
    ++boxes;
  EXPECT_EQ(boxes, 3u);
}

TEST_F(ForeignFile, ConvertedRowsReadBackTheSame) {
  const TempPath copy(".json.gz");
  EXPECT_EQ(run("convert " + json() + " -o " + copy.str()).code, 0);
  const std::string figures = run("summary " + copy.str() + " --format csv").out;
  EXPECT_NE(figures.find("outer,cpu,2,160000,120000,80000,30000,0"),
            std::string::npos)
      << figures;
  // It exists now.
  EXPECT_EQ(run("convert " + json() + " -o " + copy.str()).code, 2);
}

TEST_F(ForeignFile, WrongCombinationsAreRefusedInWords) {
  for (const std::string& arguments :
       {"summary " + json() + " --slowest 3",
        "summary " + json() + " --sort-by p99",
        "summary " + json() + " --group-by stack:0",
        "summary " + json() + " --group-by colour",
        "stacks " + json() + " --metric colour",
        "diff " + json() + " /nonexistent",
        "diff " + json() + " " + json() + " --fail-on colour",
        "diff " + json() + " " + json() + " --min-growth 7",
        "convert " + json() + " -o " + json() + ".json --split-time 1s"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_EQ(outcome.errors.rfind("weft: ", 0), 0u) << outcome.errors;
    EXPECT_EQ(outcome.out, "") << arguments;
  }
}

TEST_F(ForeignFile, DiffTellsGrowthByItsExitCode) {
  const TempPath slower(".json");
  std::string text = kTrace;
  text.replace(text.find("\"dur\":40"), 8, "\"dur\":50");
  std::ofstream(slower.str()) << text;
  const std::string files = json() + " " + slower.str();
  EXPECT_EQ(run("diff " + files).code, 0);
  EXPECT_EQ(run("diff " + files + " --fail-on p99 --threshold 20").code, 1);
  EXPECT_EQ(run("diff " + files + " --fail-on p99 --threshold 25").code, 0);
  EXPECT_EQ(run("diff " + files + " --fail-on count --threshold 0").code, 0);
  EXPECT_EQ(run("diff " + files +
                " --fail-on p99 --threshold 20 --min-growth 11us").code, 0);
  EXPECT_EQ(run("diff " + files +
                " --fail-on p99 --threshold 20 --min-count 2").code, 0);
  const Outcome csv = run("diff " + files + " --fail-on p50 --format csv");
  EXPECT_NE(csv.out.find(
                "inner,1,1,40000,50000,40000,50000,40000,50000,1\r\n"),
            std::string::npos)
      << csv.out;
  simdjson::dom::parser parser;
  const auto rows = parsed(parser, run("diff " + files + " --format json").out);
  // The largest change stands first.
  EXPECT_EQ(std::string_view(rows["names"].at(0)["name"]), "inner");
}

TEST_F(ForeignFile, InfoSaysWhatWasSkippedOfABrokenFile) {
  const TempPath cut(".json");
  std::ofstream(cut.str())
      << R"({"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":2},{"ph":"X)";
  simdjson::dom::parser parser;
  const auto report =
      parsed(parser, run("info " + cut.str() + " --format json").out);
  EXPECT_EQ(std::string_view(report["json"]), "cut or broken");
  EXPECT_EQ(std::uint64_t(report["complete_events"]), 1u);
  EXPECT_EQ(std::string_view(report["skipped"].at(0)),
            "the list breaks off at byte 53");
  EXPECT_EQ(run("summary " + cut.str()).errors,
            "weft: " + cut.str() +
                ": note: the list breaks off at byte 53\n");
}

// Names lie: what a file is its first bytes tell.
TEST_F(ForeignFile, KindIsToldByContent) {
  const TempPath zipped(".weft");
  gzFile file = gzopen(zipped.str().c_str(), "wb");
  gzputs(file, kTrace);
  gzclose(file);
  EXPECT_EQ(run("summary " + zipped.str() + " --format csv").out,
            run("summary " + json() + " --format csv").out);
  const TempPath lines(".txt");
  std::ofstream(lines.str())
      << "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2}\n"
         "{\"ph\":\"X\",\"name\":\"b\",\"ts\":4,\"dur\":1}\n";
  EXPECT_EQ(run("stacks " + lines.str()).out, "a 2\nb 1\n");
}

}  // namespace
}  // namespace weft::tools
