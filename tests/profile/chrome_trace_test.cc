// SPDX-License-Identifier: Apache-2.0
// The list's trace files, read back with an independent JSON reader.

#include <gtest/gtest.h>
#include <simdjson.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "event_builder.h"
#include "weft/profile/reference.h"

namespace weft {
namespace {

using testing_support::async;
using testing_support::device_row;
using testing_support::range;
using testing_support::us;
using Json = simdjson::dom::element;

std::string trace(const EventList& list,
                  ChromeForm form = ChromeForm::kComplete) {
  std::ostringstream out;
  list.write_chrome_trace(out, form);
  return out.str();
}

class ChromeTrace : public testing::Test {
 protected:
  simdjson::dom::array read(const EventList& list) {
    text_ = trace(list);
    Json file;
    EXPECT_EQ(parser_.parse(text_).get(file), simdjson::SUCCESS) << text_;
    return file["traceEvents"];
  }

  std::vector<Json> of_phase(const EventList& list, std::string_view phase) {
    std::vector<Json> found;
    for (Json event : read(list)) {
      if (std::string_view(event["ph"]) == phase) found.push_back(event);
    }
    return found;
  }

 private:
  simdjson::dom::parser parser_;
  std::string text_;
};

Kernel kernel_at(std::string name, std::int64_t start_us,
                 std::int64_t duration_us) {
  return {std::move(name), DeviceType::kCuda, 0, 7,
          us(duration_us), us(start_us)};
}

TEST_F(ChromeTrace, D06_EveryNameComesBackAsItWas) {
  const std::vector<std::string> names = {
      "a\"b", "C:\\x",    "line\nfeed",      "tab\t",
      "\x01", "\xc3\xa9", "\xf0\x9f\x98\x80"};
  std::vector<FunctionEvent> events;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto at = static_cast<std::int64_t>(10 * i);
    events.push_back(range(names[i], at, at + 5));
  }
  const auto slices = of_phase(EventList(events), "X");
  ASSERT_EQ(slices.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(std::string_view(slices[i]["name"]), names[i]);
  }
}

TEST_F(ChromeTrace, D06_InvalidBytesBecomeReplacementCharacters) {
  const auto slices =
      of_phase(EventList({range("\xff", 0, 1), range("\xe0\x80\x80", 2, 3),
                          range("\xed\xa0\x80", 4, 5), range("a\xc3", 6, 7)}),
               "X");
  ASSERT_EQ(slices.size(), 4u);
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(std::string_view(slices[0]["name"]), bad);
  EXPECT_EQ(std::string_view(slices[1]["name"]), bad + bad + bad);
  EXPECT_EQ(std::string_view(slices[2]["name"]), bad + bad + bad);
  EXPECT_EQ(std::string_view(slices[3]["name"]), "a" + bad);
}

TEST_F(ChromeTrace, TimesAreExactMicroseconds) {
  FunctionEvent event = range("f", 0, 0);
  event.start_ns = 1'700'000'000'123'456'789;
  event.end_ns = event.start_ns + 1500;
  const std::string text = trace(EventList({event}));
  EXPECT_NE(text.find("\"ts\":1700000000123456.789"), std::string::npos);
  EXPECT_NE(text.find("\"dur\":1.5"), std::string::npos);
}

// D-18: an arrow with one end points at nothing.
TEST_F(ChromeTrace, D18_EveryArrowHasBothEndsAndItsWorkIsDrawnOnce) {
  FunctionEvent op = range("mm", 0, 100);
  op.kernels = {kernel_at("gemm", 40, 50), kernel_at("bias", 95, 5)};
  FunctionEvent gemm = device_row("gemm", 40, 90);
  gemm.stream = 7;
  const EventList list({op, gemm});
  std::map<std::uint64_t, std::string> ends;
  std::map<std::string, int> drawn;
  for (Json event : read(list)) {
    const std::string phase{std::string_view(event["ph"])};
    if (phase == "s" || phase == "f") {
      ends[std::uint64_t(event["id"])] += phase;
    } else if (phase == "X") {
      ++drawn[std::string(std::string_view(event["name"]))];
    }
  }
  ASSERT_EQ(ends.size(), 2u);
  for (const auto& [id, sides] : ends) EXPECT_EQ(sides, "sf");
  EXPECT_EQ(drawn["gemm"], 1);
  EXPECT_EQ(drawn["bias"], 1);
}

TEST_F(ChromeTrace, D29_WhatDoesNotNestIsAnAsyncPair) {
  const EventList list(
      {range("A", 0, 10), range("B", 5, 15), async(range("fetch", 0, 30))});
  EXPECT_EQ(of_phase(list, "X").size(), 1u);
  EXPECT_EQ(of_phase(list, "b").size(), 2u);
  EXPECT_EQ(of_phase(list, "e").size(), 2u);
}

TEST_F(ChromeTrace, UnfinishedRangesSaySo) {
  FunctionEvent open = range("request", 0, 10);
  open.finished = false;
  const auto slices = of_phase(EventList({open}), "X");
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_FALSE(bool(slices[0]["args"]["finished"]));
}

TEST_F(ChromeTrace, MemoryRowsAreInstantsWithTheirBytes) {
  FunctionEvent memory = range("[memory]", 3, 3);
  memory.trace_name.reset();
  memory.memory.cpu_bytes = -64;
  const auto instants = of_phase(EventList({memory}), "i");
  ASSERT_EQ(instants.size(), 1u);
  EXPECT_EQ(std::int64_t(instants[0]["args"]["Bytes"]), -64);
}

TEST_F(ChromeTrace, DevicesHaveProcessesOfTheirOwn) {
  const auto names =
      of_phase(EventList({range("f", 0, 1), device_row("k", 0, 1)}), "M");
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(std::string_view(names[0]["args"]["name"]), "host");
  EXPECT_EQ(std::string_view(names[1]["args"]["name"]), "CUDA 0");
  EXPECT_NE(std::uint64_t(names[0]["pid"]), std::uint64_t(names[1]["pid"]));
}

TEST_F(ChromeTrace, EmptyListIsAValidFile) {
  EXPECT_EQ(read(EventList()).size(), 0u);
  EXPECT_EQ(trace(EventList(), ChromeForm::kReferenceList), "[]");
  EXPECT_EQ(trace(EventList(), ChromeForm::kReference2017), "[]");
}

TEST_F(ChromeTrace, D19_MemoryRowsAloneAreAnEmptyArray) {
  FunctionEvent memory = range("[memory]", 3, 3);
  memory.trace_name.reset();
  const EventList list({memory});
  EXPECT_EQ(trace(list, ChromeForm::kReferenceList), "[]");
  EXPECT_FALSE(reference::chrome_trace(list).ok());
}

TEST_F(ChromeTrace, ReferenceListFormHasNearEndsOnly) {
  FunctionEvent op = range("mm", 1, 3);
  op.kernels = {kernel_at("gemm", 4, 5)};
  EXPECT_EQ(
      trace(EventList({op}), ChromeForm::kReferenceList),
      R"([{"name": "mm", "ph": "X", "ts": 1, "dur": 2, "tid": 1, "pid": "CPU functions", "args": {}}, )"
      R"({"name": "mm", "ph": "s", "ts": 1, "tid": 1, "pid": "CPU functions", "id": 0, "cat": "cpu_to_cuda", "args": {}}])");
}

TEST_F(ChromeTrace, Reference2017FormHasDeviceSlicesNamedAfterTheEvent) {
  FunctionEvent op = range("mm", 1, 3);
  op.kernels = {kernel_at("gemm", 4, 5)};
  EXPECT_EQ(
      trace(EventList({op}), ChromeForm::kReference2017),
      R"([{"name": "mm", "ph": "X", "ts": 1, "dur": 2, "tid": 1, "pid": "CPU functions", "args": {}}, )"
      R"({"name": "mm", "ph": "s", "ts": 2, "tid": 1, "pid": "CPU functions", "id": 0, "cat": "cpu_to_cuda", "args": {}}, )"
      R"({"name": "gemm", "ph": "f", "ts": 4, "tid": 1, "pid": "CUDA functions", "id": 0, "cat": "cpu_to_cuda", "args": {}}, )"
      R"({"name": "mm", "ph": "X", "ts": 4, "dur": 5, "tid": 1, "pid": "CUDA functions", "args": {}}])");
}

class TraceFile : public testing::Test {
 protected:
  std::string path(const std::string& name) {
    paths_.push_back(testing::TempDir() + "weft_" + std::to_string(getpid()) +
                     "_" + name);
    return paths_.back();
  }
  ~TraceFile() override {
    for (const std::string& path : paths_) std::remove(path.c_str());
  }

  static std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static std::string inflated(const std::string& path) {
    gzFile file = gzopen(path.c_str(), "rb");
    std::string text;
    char buffer[4096];
    for (int n; (n = gzread(file, buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<std::size_t>(n));
    }
    gzclose(file);
    return text;
  }

 private:
  std::vector<std::string> paths_;
};

TEST_F(TraceFile, D20_ExportsAreIdenticalHoweverOften) {
  const EventList list({range("f", 0, 5)});
  const std::string first = path("first.json");
  const std::string second = path("second.json");
  ASSERT_TRUE(list.export_chrome_trace(first).ok());
  ASSERT_TRUE(list.export_chrome_trace(second).ok());
  EXPECT_EQ(contents(first), contents(second));
  EXPECT_EQ(contents(first), trace(list));
}

TEST_F(TraceFile, GzSuffixCompresses) {
  std::vector<FunctionEvent> events;
  for (std::int64_t i = 0; i < 5000; ++i) {
    events.push_back(range("request", i, i + 1));
  }
  const EventList list(std::move(events));
  const std::string file = path("trace.json.gz");
  ASSERT_TRUE(list.export_chrome_trace(file).ok());
  EXPECT_EQ(contents(file).substr(0, 2), "\x1f\x8b");
  EXPECT_LT(contents(file).size(), trace(list).size() / 4);
  EXPECT_EQ(inflated(file), trace(list));
}

TEST_F(TraceFile, FailureNamesThePathAndLeavesNothing) {
  const EventList list({range("f", 0, 5)});
  const Result<void> done =
      list.export_chrome_trace("/nowhere/at/all/trace.json");
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, ErrorCode::kIo);
  EXPECT_NE(done.error().message.find("/nowhere/at/all/trace.json"),
            std::string::npos);
}

// A full disk must not look like a finished file.
TEST_F(TraceFile, FullDiskIsAnError) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  const EventList list({range("f", 0, 5)});
  const std::string target = path("full.json");
  const std::string partial = target + ".tmp." + std::to_string(getpid());
  ASSERT_EQ(symlink("/dev/full", partial.c_str()), 0);
  EXPECT_FALSE(list.export_chrome_trace(target).ok());
  EXPECT_NE(access(target.c_str(), F_OK), 0);
}

}  // namespace
}  // namespace weft
