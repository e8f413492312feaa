// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/chrome_import.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>

#include "decimal_time.h"
#include "weft/profile/chrome_summary.h"

namespace weft {
namespace {

class ChromeFile : public testing::Test {
 protected:
  ChromeFile()
      : path_(testing::TempDir() + "weft_" + std::to_string(getpid()) +
              "_import.json") {}
  ~ChromeFile() override { std::remove(path_.c_str()); }

  Result<ChromeImport> read(const std::string& text,
                            const ChromeImportOptions& options = {}) {
    std::ofstream(path_, std::ios::binary) << text;
    return import_chrome_trace(path_, options);
  }

  ChromeImport import(const std::string& text) {
    auto result = read(text);
    EXPECT_TRUE(result.ok()) << result.error().message;
    return result.ok() ? *std::move(result) : ChromeImport();
  }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const FunctionEvent* find(const EventList& list, const std::string& name) {
  for (const FunctionEvent& event : list) {
    if (event.name == name) return &event;
  }
  return nullptr;
}

bool says(const ChromeImport& import, const std::string& text) {
  for (const std::string& line : import.skipped) {
    if (line.find(text) != std::string::npos) return true;
  }
  return false;
}

// An operator, its launch, and the kernel launched.
constexpr const char* kOperator =
    R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":10,"tid":11,)"
    R"("ts":1700000000000100.5,"dur":100,"args":{"External id":3,)"
    R"("Sequence number":7}},)"
    R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,)"
    R"("tid":11,"ts":1700000000000120.5,"dur":10,"args":{"correlation":77}},)"
    R"({"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,)"
    R"("ts":1700000000000150.5,"dur":40,"args":{"correlation":77,"device":0,)"
    R"("stream":7,"External id":3}})";

// Found by fuzzing: what is no value in a second list was waited for without
// end.
TEST_F(ChromeFile, ASecondListThatIsBrokenEndsTheReading) {
  for (const char* rest : {":", "}", "]", "\"", "1:", "{", ""}) {
    const ChromeImport trace =
        import(std::string("{\"traceEvents\":[") + kOperator +
               "],\"traceEvents\":[" + rest + "]}");
    EXPECT_EQ(trace.events.size(), 3u) << rest;
  }
}

TEST_F(ChromeFile, KernelsBelongToTheOperatorThatLaunchedThem) {
  const ChromeImport trace =
      import(std::string("{\"traceEvents\":[") + kOperator + "]}");
  ASSERT_EQ(trace.events.size(), 3u);
  const FunctionEvent* mm = find(trace.events, "aten::mm");
  ASSERT_NE(mm, nullptr);
  EXPECT_EQ(mm->start_ns, 0);
  EXPECT_EQ(mm->sequence_nr, 7);
  ASSERT_EQ(mm->kernels.size(), 1u);
  EXPECT_EQ(mm->device_time_total_ns[DeviceFamily::kCuda], 40000);
  EXPECT_EQ(find(trace.events, "gemm")->stream, 7);
  EXPECT_EQ(trace.statistics.first_ns, 1700000000000100500);
  EXPECT_EQ(trace.statistics.unattributed_device_rows, 0u);
}

// D-32: a kernel launched straight from a user's range.
TEST_F(ChromeFile, D32_UserRangesOwnWhatTheyLaunch) {
  const ChromeImport trace = import(
      R"([{"ph":"X","cat":"user_annotation","name":"request","pid":1,"tid":1,"ts":0,"dur":100},)"
      R"({"ph":"X","cat":"cuda_runtime","name":"launch","pid":1,"tid":1,"ts":5,"dur":1,"args":{"correlation":1}},)"
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":50,"dur":9,"args":{"correlation":1}}])");
  EXPECT_EQ(find(trace.events, "request")->kernels.size(), 1u);
}

// Operators "outer" (1) around "inner" (2) on thread 1, which launches `kernel`
// as told by `external_id` at `launch_us` on `launch_tid`.
std::string nested_operators(int external_id, int launch_us, int launch_tid,
                             const char* inner_category = "cpu_op") {
  return R"([{"ph":"X","cat":"cpu_op","name":"outer","pid":1,"tid":1,"ts":0,"dur":100,"args":{"External id":1}},)"
         R"({"ph":"X","cat":")" +
         std::string(inner_category) +
         R"(","name":"inner","pid":1,"tid":1,"ts":20,"dur":50,"args":{"External id":2}},)"
         R"({"ph":"X","cat":"cuda_runtime","name":"launch","pid":1,"tid":)" +
         std::to_string(launch_tid) + R"(,"ts":)" + std::to_string(launch_us) +
         R"(,"dur":1,"args":{"correlation":9}},)"
         R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":50,"dur":9,)"
         R"("args":{"correlation":9,"External id":)" +
         std::to_string(external_id) + "}}]";
}

// The file's own word counts where it can be true.
TEST_F(ChromeFile, KernelsBelongToTheOperatorTheyNameIfItRanAtTheLaunch) {
  const auto owner = [&](const std::string& json) {
    const ChromeImport trace = import(json);
    for (const FunctionEvent& event : trace.events) {
      if (!event.kernels.empty()) return event.name;
    }
    return std::string("nobody");
  };
  EXPECT_EQ(owner(nested_operators(1, 30, 1)), "outer");
  EXPECT_EQ(owner(nested_operators(2, 30, 1)), "inner");
  EXPECT_EQ(owner(nested_operators(2, 30, 5)), "inner") << "another thread";
  // Not running then: the number is of something else.
  EXPECT_EQ(owner(nested_operators(2, 80, 1)), "outer");
  EXPECT_EQ(owner(nested_operators(7, 30, 1)), "inner");
  EXPECT_EQ(owner(nested_operators(2, 150, 5)), "launch");
  // A user's range is never named.
  EXPECT_EQ(owner(nested_operators(1, 30, 1, "user_annotation")), "inner");
}

TEST_F(ChromeFile, ArrowsLinkWhereNumbersAreMissing) {
  const ChromeImport trace = import(
      R"([{"ph":"X","name":"add","pid":"CPU functions","tid":1,"ts":10,"dur":20},)"
      R"({"ph":"s","name":"add","pid":"CPU functions","tid":1,"ts":11,"id":0,"cat":"cpu_to_cuda"},)"
      R"({"ph":"f","name":"add","pid":"CUDA functions","tid":0,"ts":15,"id":0,"cat":"cpu_to_cuda"},)"
      R"({"ph":"X","name":"add_k","pid":"CUDA functions","tid":0,"ts":15,"dur":5}])");
  EXPECT_EQ(find(trace.events, "add")->kernels.size(), 1u);
  EXPECT_FALSE(find(trace.events, "add_k")->is_host());
}

TEST_F(ChromeFile, BeginsAndEndsArePairedByThread) {
  const ChromeImport trace =
      import(R"([{"ph":"B","name":"a","pid":1,"tid":1,"ts":0},)"
             R"({"ph":"B","name":"b","pid":1,"tid":2,"ts":1},)"
             R"({"ph":"E","pid":1,"tid":1,"ts":5},)"
             R"({"ph":"E","pid":1,"tid":2,"ts":9},)"
             R"({"ph":"E","pid":1,"tid":2,"ts":10},)"
             R"({"ph":"B","name":"open","pid":1,"tid":2,"ts":11}])");
  ASSERT_EQ(trace.events.size(), 2u);
  EXPECT_EQ(find(trace.events, "a")->duration_ns(), 5000);
  EXPECT_EQ(find(trace.events, "b")->duration_ns(), 8000);
  EXPECT_TRUE(says(trace, "1 begins without an end"));
  EXPECT_TRUE(says(trace, "1 ends without a begin"));
}

TEST_F(ChromeFile, AsyncPairsAreAsyncRows) {
  const ChromeImport trace = import(
      R"([{"ph":"b","cat":"net","name":"fetch","id":"0x1","pid":1,"tid":1,"ts":0},)"
      R"({"ph":"e","cat":"net","name":"fetch","id":"0x1","pid":1,"tid":2,"ts":8}])");
  ASSERT_EQ(trace.events.size(), 1u);
  EXPECT_TRUE(trace.events[0].is_async);
  EXPECT_EQ(trace.events[0].duration_ns(), 8000);
}

TEST_F(ChromeFile, MemoryRecordsAreCharged) {
  const ChromeImport trace = import(
      R"([{"ph":"X","cat":"cpu_op","name":"f","pid":1,"tid":1,"ts":10,"dur":20},)"
      R"({"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":15,"s":"t","args":{"Device Type":0,"Bytes":64}},)"
      R"({"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":40,"s":"t","args":{"Device Type":1,"Bytes":-8}}])");
  EXPECT_EQ(find(trace.events, "f")->memory.cpu_bytes, 64);
  const FunctionEvent* loose = find(trace.events, "[memory]");
  ASSERT_NE(loose, nullptr);
  EXPECT_EQ(loose->memory.device_bytes[DeviceFamily::kCuda], -8);
}

// D-05, in both ways of reading: a range's end is outside it.
TEST_F(ChromeFile, D05_MemoryWhereARangeEndsIsNotItsOwn) {
  const ChromeImport trace = import(
      R"([{"ph":"X","cat":"cpu_op","name":"f","pid":1,"tid":1,"ts":10,"dur":20},)"
      R"({"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":30,"s":"t","args":{"Bytes":64}}])");
  EXPECT_EQ(find(trace.events, "f")->memory.cpu_bytes, 0);
  const auto summary = summarize_chrome_trace(path());
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->averages.find("f")->memory.cpu_bytes, 0);
  const FunctionEventAvg* loose = summary->averages.find("[memory]");
  ASSERT_NE(loose, nullptr);
  EXPECT_EQ(loose->memory.cpu_bytes, 64);
}

TEST_F(ChromeFile, ThreadsKeepTheirNames) {
  const ChromeImport trace = import(
      R"([{"ph":"M","name":"thread_name","pid":1,"tid":"2","args":{"name":"main"}},)"
      R"({"ph":"X","name":"f","pid":1,"tid":2,"ts":0,"dur":1}])");
  ASSERT_EQ(trace.threads.size(), 1u);
  EXPECT_EQ(trace.threads[0].name, "main");
  EXPECT_EQ(trace.events[0].thread, 1);
}

TEST_F(ChromeFile, GzipIsReadInSeveralMembers) {
  const std::string text = std::string("{\"traceEvents\":[") + kOperator + "]}";
  for (const char* mode : {"wb", "ab"}) {
    gzFile file = gzopen(path().c_str(), mode);
    const bool first = std::string(mode) == "wb";
    const std::string part = first ? text.substr(0, 100) : text.substr(100);
    ASSERT_GT(gzwrite(file, part.data(), static_cast<unsigned>(part.size())),
              0);
    gzclose(file);
  }
  const auto trace = import_chrome_trace(path());
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->events.size(), 3u);
  EXPECT_TRUE(trace->skipped.empty());
}

TEST_F(ChromeFile, CutGzipGivesWhatWasBeforeTheCut) {
  std::string text = "[";
  for (int i = 0; i < 20000; ++i) {
    text += R"({"ph":"X","name":"f)" + std::to_string(i * 7919 % 10007) +
            R"(","pid":1,"tid":1,"ts":)" + std::to_string(2 * i) +
            R"(,"dur":1},)";
  }
  gzFile file = gzopen(path().c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  std::ifstream in(path(), std::ios::binary | std::ios::ate);
  const auto size = in.tellg();
  in.close();
  ASSERT_EQ(truncate(path().c_str(), size / 2), 0);
  const auto trace = import_chrome_trace(path());
  ASSERT_TRUE(trace.ok());
  EXPECT_GT(trace->events.size(), 1000u);
  EXPECT_LT(trace->events.size(), 20000u);
  EXPECT_TRUE(says(*trace, "breaks off"));
}

TEST_F(ChromeFile, EveryPlaceToCutIsSurvived) {
  const std::string text = std::string(
                               "{\"meta\":{\"a\":[1,\"]\"]},"
                               "\"traceEvents\":[") +
                           kOperator + "],\"after\":1}";
  const std::size_t list = text.find("[{");
  const std::size_t end = text.find("],\"after");
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    const auto trace = read(text.substr(0, cut));
    if (cut > list && trace.ok()) {
      EXPECT_EQ(trace->skipped.empty(), cut > end) << cut;
    } else if (cut > 0 && cut <= list) {
      ASSERT_FALSE(trace.ok()) << cut;
      EXPECT_EQ(trace.error().code, ErrorCode::kUnsupported);
    }
  }
}

TEST_F(ChromeFile, SmallSinsAreRepaired) {
  const ChromeImport trace = import(
      "\xef\xbb\xbf[,{\"ph\":\"X\",\"name\":\"line\nfeed \xff \\ud800\","
      "\"pid\":1,\"tid\":1,\"ts\":\"5\",\"dur\":2,\"args\":{\"a\":1,}},,"
      "null,7,[],]");
  ASSERT_EQ(trace.events.size(), 1u);
  EXPECT_EQ(trace.events[0].name, "line\nfeed \xef\xbf\xbd \xef\xbf\xbd");
  EXPECT_TRUE(says(trace, "3 elements that are no objects"));
}

TEST_F(ChromeFile, BrokenEventEndsTheReadingAndIsNamed) {
  const ChromeImport trace = import(
      R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":1},{ph:"X"},)"
      R"({"ph":"X","name":"b","pid":1,"tid":1,"ts":2,"dur":1}])");
  EXPECT_EQ(trace.events.size(), 1u);
  EXPECT_TRUE(says(trace, "event at byte 54 is broken"));
}

TEST_F(ChromeFile, OfEqualKeysTheLastWins) {
  const ChromeImport trace = import(
      R"([{"name":"first","name":"second","ph":"X","pid":1,"tid":1,"ts":1,"ts":5,"dur":2}])");
  EXPECT_EQ(trace.events[0].name, "second");
  EXPECT_EQ(trace.statistics.first_ns, 5000);
}

TEST_F(ChromeFile, OtherFilesAreRefusedInWords) {
  for (const char* text : {"PK\x03\x04zip", "hello", "{}", "{\"a\":1}", "42"}) {
    const auto trace = read(text);
    ASSERT_FALSE(trace.ok()) << text;
    EXPECT_EQ(trace.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(trace.error().message.find(path()), std::string::npos);
  }
  EXPECT_EQ(import_chrome_trace("/nowhere/at/all").error().code,
            ErrorCode::kIo);
  EXPECT_EQ(import_chrome_trace(testing::TempDir()).error().code,
            ErrorCode::kIo);
}

TEST_F(ChromeFile, EmptyFileIsAnEmptyList) {
  const ChromeImport trace = import("");
  EXPECT_TRUE(trace.events.empty());
  EXPECT_TRUE(says(trace, "the file is empty"));
}

TEST_F(ChromeFile, LimitsAreErrorsThatNameThem) {
  ChromeImportOptions few;
  few.max_events = 2;
  const std::string text = std::string("[") + kOperator + "]";
  EXPECT_EQ(read(text, few).error().code, ErrorCode::kLimit);
  ChromeImportOptions small;
  small.max_event_bytes = 100;
  const auto trace = read(text, small);
  EXPECT_EQ(trace.error().code, ErrorCode::kLimit);
  EXPECT_NE(trace.error().message.find("100 bytes"), std::string::npos);
}

// Deep nesting must not overflow the stack of the process.
TEST_F(ChromeFile, DeepNestingIsNoDanger) {
  const std::string deep(200'000, '[');
  const auto trace = read("[{\"ph\":\"X\",\"args\":" + deep);
  ASSERT_TRUE(trace.ok());
  EXPECT_TRUE(trace->events.empty());
}

TEST_F(ChromeFile, ExtremeTimesDoNotOverflow) {
  const ChromeImport trace = import(
      R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":-9.2e15,"dur":9.2e15},)"
      R"({"ph":"X","name":"b","pid":1,"tid":1,"ts":9.2e15,"dur":9.2e15},)"
      R"({"ph":"X","name":"c","pid":1,"tid":2,"ts":9.2e15,"dur":2e13},)"
      R"({"ph":"X","name":"d","pid":1,"tid":3,"ts":-9.2e15,"dur":9.2e15},)"
      R"({"ph":"X","name":"e","pid":1,"tid":1,"ts":1e999,"dur":1}])");
  EXPECT_EQ(trace.statistics.complete_events, 3u);
  EXPECT_EQ(trace.statistics.complete_without_times, 2u);
  EXPECT_FALSE(trace.events.table().empty());
  EXPECT_FALSE(trace.events.key_averages().table().empty());
}

// What a list writes it can read.
TEST_F(ChromeFile, OwnTracesComeBack) {
  const ChromeImport trace =
      import(std::string("{\"traceEvents\":[") + kOperator + "]}");
  ASSERT_TRUE(trace.events.export_chrome_trace(path()).ok());
  const auto again = import_chrome_trace(path());
  ASSERT_TRUE(again.ok()) << again.error().message;
  ASSERT_EQ(again->events.size(), trace.events.size());
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    EXPECT_EQ(again->events[i].name, trace.events[i].name);
    EXPECT_EQ(again->events[i].start_ns, trace.events[i].start_ns);
    EXPECT_EQ(again->events[i].end_ns, trace.events[i].end_ns);
    EXPECT_EQ(again->events[i].is_host(), trace.events[i].is_host());
  }
}

TEST(DecimalTime, IsExact) {
  using profile::decimal_us_to_ns;
  EXPECT_EQ(decimal_us_to_ns("0"), 0);
  EXPECT_EQ(decimal_us_to_ns("1"), 1000);
  EXPECT_EQ(decimal_us_to_ns("-1.5"), -1500);
  EXPECT_EQ(decimal_us_to_ns("1.5e3"), 1500000);
  EXPECT_EQ(decimal_us_to_ns("2E+1"), 20000);
  EXPECT_EQ(decimal_us_to_ns("25e-1"), 2500);
  EXPECT_EQ(decimal_us_to_ns("1725000000000000.123"), 1725000000000000123);
  EXPECT_EQ(decimal_us_to_ns("9007199254740993"), 9007199254740993000);
  EXPECT_EQ(decimal_us_to_ns("9223372036854775.807"),
            std::numeric_limits<std::int64_t>::max());
}

TEST(DecimalTime, HalvesGoToEven) {
  using profile::decimal_us_to_ns;
  EXPECT_EQ(decimal_us_to_ns("0.0005"), 0);
  EXPECT_EQ(decimal_us_to_ns("0.00050001"), 1);
  EXPECT_EQ(decimal_us_to_ns("0.0015"), 2);
  EXPECT_EQ(decimal_us_to_ns("0.0025"), 2);
  EXPECT_EQ(decimal_us_to_ns("5e-4"), 0);
  EXPECT_EQ(decimal_us_to_ns("6e-4"), 1);
  EXPECT_EQ(decimal_us_to_ns("9e-5"), 0);
}

TEST(DecimalTime, AnythingElseIsNone) {
  using profile::decimal_us_to_ns;
  for (const char* text :
       {"", "-", ".", "e5", "1e", "1e+", "1e+-2", "100a", "1.2.3", "0x10", " 1",
        "1 ", "nan", "inf", "9223372036854775.808", "1e30", "1e99999999999"}) {
    EXPECT_EQ(decimal_us_to_ns(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace weft
