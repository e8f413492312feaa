// SPDX-License-Identifier: Apache-2.0
// Whole files: recorded by the real exporters, converted, split, cut, repaired.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "export/json_trace_check.h"
#include "runtime/scale.h"
#include "export/weft_file.h"
#include "weft/export/chrome_json.h"

namespace weft::exporters {
namespace {

using test::JsonTrace;
using test::Recording;
using test::SlotBuilder;
using test::TempPath;

std::string text_of(const std::string& path) {
  return path.ends_with(".gz") ? test::read_gzip(path)
                               : test::read_text(path);
}

JsonTrace checked(const std::string& path) {
  JsonTrace json = test::read_json_trace(text_of(path));
  EXPECT_EQ(json.all_problems(), "") << path;
  return json;
}

// Something of everything that is shown, on two threads, with anchors around.
void record(Recording& recording) {
  test::FakeCatalog& catalog = recording.catalog();
  const SiteId outer = catalog.add_site(SiteKind::kSpan, "outer", "test",
                                        {{"bytes", RecordKind::kInt64}});
  const SiteId inner = catalog.add_site(SiteKind::kSpan, "inner");
  const SiteId depth = catalog.add_site(SiteKind::kCounter, "depth");
  const SiteId call = catalog.add_site(SiteKind::kAsyncSpan, "call");
  const SiteId sent = catalog.add_site(SiteKind::kFlowOut, "hand_off");
  catalog.add_metadata("version", "1.2.3");
  SlotBuilder one(catalog.add_thread("main", 100));
  SlotBuilder two(catalog.add_thread("worker", 101));
  recording.exporter().anchor(test::anchor_at(1, 1001));
  Ticks tick = 1000;
  for (std::uint64_t block = 0; block < 5; ++block) {
    const auto span = one.begin(tick, outer);
    one.int64(0, static_cast<std::int64_t>(block));
    one.end(tick + 20, one.begin(tick + 10, inner));
    one.flow_out(tick + 25, sent, block + 7);
    const std::uint64_t id = one.async_begin(tick + 30, call);
    one.counter(tick + 35, depth, 0.5);
    one.late_argument(tick + 36, span, catalog.add_string("rows"), 3);
    one.end(tick + 40, span);
    const auto taken = two.begin(tick + 50, outer);
    two.flow_in(tick + 60, sent, block + 7);
    two.async_end(tick + 70, call, id);
    two.end(tick + 80, taken);
    recording.add(two);  // the end before the begin, as drains happen to do
    recording.add(one);
    tick += 100'000'000;
    recording.exporter().anchor(
        test::anchor_at(tick, 1000 + static_cast<std::int64_t>(tick)));
    recording.flush();
  }
  recording.end().stop_tick = tick;
}

void expect_all_of_it(const JsonTrace& json) {
  EXPECT_EQ(json.tree(100).substr(0, 28), "0outer 1inner 0outer 1inner ");
  EXPECT_EQ(json.all_spans().size(), 15u);
  EXPECT_EQ(json.with_phase("s").size(), 5u);
  EXPECT_EQ(json.with_phase("f").size(), 5u);
  EXPECT_EQ(json.with_phase("b").size(), 5u);
  EXPECT_EQ(json.with_phase("C").size(), 5u);
  EXPECT_EQ(json.span("outer").args.at("rows"), "3");
  EXPECT_EQ(json.span("outer").begin_ns, 999) << "since the start, tick 1";
  EXPECT_EQ(json.with_phase("b").back().ts_ns, 400'001'029);
  EXPECT_EQ(json.with_phase("e").back().ts_ns, 400'001'069);
  EXPECT_EQ(json.thread_name(101), "\"worker\"");
  EXPECT_EQ(json.other_data.at("base_monotonic_ns"), "\"1001\"");
  EXPECT_NE(json.tail.find("\"complete\":\"yes\""), std::string::npos);
  EXPECT_NE(json.tail.find("\"version\":\"1.2.3\""), std::string::npos);
}

TEST(ChromeJsonFile, AWeftFileIsConvertedWhole) {
  const TempPath from(".weft");
  {
    Recording recording(from.str());
    record(recording);
    EXPECT_EQ(recording.close().error, "");
  }
  for (const char* suffix : {".json", ".json.gz"}) {
    const TempPath to(suffix);
    auto reader = TraceReader::open(from.str());
    ASSERT_TRUE(reader);
    const auto reports = convert_to_chrome_json(*reader, to.str());
    ASSERT_TRUE(reports) << reports.error().message;
    ASSERT_EQ(reports->size(), 1u);
    const JsonFileReport& report = reports->front();
    EXPECT_EQ(report.path, to.str());
    EXPECT_EQ(report.text_bytes, text_of(to.str()).size());
    EXPECT_EQ(report.file_bytes, std::filesystem::file_size(to.str()));
    EXPECT_EQ(report.hint, "");
    const JsonTrace json = checked(to.str());
    std::size_t shown = 0;  // all events but the three that name the process
    for (const auto& event : json.events)
      shown += !event.name.starts_with("process_");
    EXPECT_EQ(report.events, shown);
    expect_all_of_it(json);
  }
}

TEST(ChromeJsonFile, WhatIsWrittenLiveIsTheSame) {
  for (const char* suffix : {".json", ".json.gz"}) {
    const TempPath to(suffix);
    Recording recording(to.str());
    record(recording);
    const ExporterStatus status = recording.close();
    EXPECT_EQ(status.error, "");
    EXPECT_EQ(status.bytes_written, std::filesystem::file_size(to.str()));
    expect_all_of_it(checked(to.str()));
  }
}

TEST(ChromeJsonFile, ALiveFileIsNotReplacedAgainstTheUsersWill) {
  const TempPath path(".json");
  std::ofstream(path.str()) << "mine";
  OutputOptions options;
  options.path = path.str();
  options.overwrite = false;
  Error error;
  EXPECT_EQ(make_chrome_json_exporter(options, &error), nullptr);
  EXPECT_EQ(error.code, ErrorCode::kIo);
  EXPECT_EQ(test::read_text(path.str()), "mine");
}

TEST(ChromeJsonFile, AFullDiskIsReported) {
  OutputOptions options;
  options.path = "/dev/full";
  Error error;
  auto exporter = make_chrome_json_exporter(options, &error);
  ASSERT_NE(exporter, nullptr) << error.message;
  exporter->begin({}, {});
  exporter->end({});
  while (exporter->work()) {
  }
  EXPECT_NE(exporter->status().error.find("/dev/full"), std::string::npos);
}

TEST(ChromeJsonFile, LimitsThatCannotBeKeptAreRefused) {
  const auto bytes = test::small_trace();
  auto reader = TraceReader::open_bytes(bytes.data(), bytes.size());
  ASSERT_TRUE(reader);
  ChromeJsonOptions options;
  options.max_bytes = 1000;
  const auto reports = convert_to_chrome_json(*reader, "never.json", options);
  ASSERT_FALSE(reports);
  EXPECT_EQ(reports.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(reports.error().message.find("65536"), std::string::npos);
}

class TempFolder {
 public:
  TempFolder() { std::filesystem::create_directory(path_.str()); }
  ~TempFolder() { std::filesystem::remove_all(path_.str()); }
  std::string file(const std::string& name) const {
    return path_.str() + "/" + name;
  }

 private:
  TempPath path_{".dir"};
};

std::uint64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  in >> size >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// `spans` of two threads, a parent for every ten.
void record_many(Recording& recording, std::uint64_t spans) {
  const SiteId outer = recording.catalog().add_site(SiteKind::kSpan, "outer");
  const SiteId inner = recording.catalog().add_site(SiteKind::kSpan, "inner");
  SlotBuilder one(recording.catalog().add_thread("main", 100));
  SlotBuilder two(recording.catalog().add_thread("worker", 101));
  recording.exporter().anchor(test::anchor_at(1, 1));
  Ticks tick = 100;
  for (std::uint64_t i = 0; i < spans;) {
    for (SlotBuilder* slots : {&one, &two}) {
      for (int group = 0; group < 1000; ++group) {
        const auto parent = slots->begin(tick, outer);
        for (int child = 0; child < 9; ++child, tick += 100)
          slots->end(tick + 60, slots->begin(tick + 10, inner));
        slots->end(tick, parent);
        i += 10;
      }
      ASSERT_TRUE(recording.add(*slots));
      recording.work();
    }
  }
  recording.exporter().anchor(
      test::anchor_at(tick, static_cast<std::int64_t>(tick)));
  recording.end().stop_tick = tick;
}

// A converter that keeps the document in memory dies of the traces for which
// it is needed most.
TEST(K4_06, MemoryDoesNotGrowWithTheTrace) {
  constexpr std::uint64_t kSpans = test::scaled(10'000'000);
  const TempPath from(".weft");
  {
    Recording recording(from.str());
    record_many(recording, kSpans);
    recording.close();
  }
  auto reader = TraceReader::open(from.str());
  ASSERT_TRUE(reader);
  const std::uint64_t before = resident_bytes();
  const auto reports = convert_to_chrome_json(*reader, "/dev/null");
  ASSERT_TRUE(reports) << reports.error().message;
  EXPECT_GE(reports->front().events, kSpans);
  if (test::kSlowdown == 1) {
    EXPECT_NE(reports->front().hint, "") << "no viewer loads this in one file";
  }
  const std::uint64_t after = resident_bytes();
  EXPECT_LT(after > before ? after - before : 0, 100u << 20);
  std::printf("[          ] %.1f bytes a span in the file, %.1f in JSON\n",
              static_cast<double>(reader->info().file_bytes) / kSpans,
              static_cast<double>(reports->front().text_bytes) / kSpans);
}

TEST(K4_06, FilesSplitBySizeOrTimeAreCompleteByThemselves) {
  const TempPath from(".weft");
  {
    Recording recording(from.str());
    record_many(recording, 40'000);
    recording.close();
  }
  auto reader = TraceReader::open(from.str());
  ASSERT_TRUE(reader);
  ChromeJsonOptions by_size, by_time;
  by_size.max_bytes = 1u << 20;
  by_time.max_duration = std::chrono::microseconds(500);
  for (const ChromeJsonOptions& options : {by_size, by_time}) {
    const TempFolder folder;
    const auto reports =
        convert_to_chrome_json(*reader, folder.file("t.json.gz"), options);
    ASSERT_TRUE(reports) << reports.error().message;
    ASSERT_GT(reports->size(), 3u);
    std::size_t whole = 0, clipped = 0;
    for (std::size_t i = 0; i < reports->size(); ++i) {
      const JsonFileReport& report = (*reports)[i];
      EXPECT_EQ(report.path, folder.file("t.00" + std::to_string(i) +
                                         ".json.gz"));
      if (options.max_bytes != 0) {
        EXPECT_LE(report.text_bytes, options.max_bytes);
      }
      const JsonTrace json = checked(report.path);
      EXPECT_EQ(json.other_data.at("executable"), "\"/bin/program\"");
      for (const auto& span : json.all_spans())
        ++(span.args.contains("clipped") ? clipped : whole);
    }
    EXPECT_LE(whole, 40'000u);
    EXPECT_GE(whole + clipped, 40'000u) << "every span is in some file";
    EXPECT_GT(clipped, 0u);
  }
}

TEST(K4_03, AFileCutAnywhereIsRepairedButForItsLastEvent) {
  std::mt19937 random(7);
  for (const char* suffix : {".json", ".json.gz"}) {
    const TempPath whole(suffix), cut(suffix), repaired(".json");
    Recording recording(whole.str());
    record(recording);
    recording.close();
    const auto bytes = test::read_file(whole.str());
    const std::string whole_text = text_of(whole.str());
    const std::size_t all = checked(whole.str()).events.size();
    std::size_t most = 0;
    for (int i = 0; i < 200; ++i) {
      const std::size_t length = random() % bytes.size();
      test::write_file(cut.str(),
                       {bytes.begin(),
                        bytes.begin() + static_cast<std::ptrdiff_t>(length)});
      const std::string left = text_of(cut.str());
      const auto report = repair_json(cut.str(), repaired.str());
      if (!report) {
        EXPECT_EQ(report.error().code, ErrorCode::kCorrupt);
        EXPECT_EQ(left.find("process_name\",\"cat\":\"__metadata\",\"ph\":\"M\","
                            "\"ts\":0,\"pid\":42,\"tid\":42,\"args\":{\"name\":"
                            "\"program\"}}"),
                  std::string::npos)
            << report.error().message;
        continue;
      }
      // A .gz may be cut behind all of its text.
      EXPECT_EQ(report->was_complete, left == whole_text);
      checked(repaired.str());
      if (report->was_complete) continue;
      std::size_t begun = 0;
      for (std::size_t at = 0; (at = left.find("\n{\"name\"", at)) != left.npos;
           ++at)
        ++begun;
      EXPECT_LE(report->events, begun);
      EXPECT_GE(report->events + 2, begun) << "the last, or one of two halves";
      most = std::max<std::size_t>(most, report->events);
    }
    EXPECT_GT(most, all / 2);
    const auto report = repair_json(whole.str(), repaired.str());
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->was_complete);
    EXPECT_EQ(test::read_text(repaired.str()), whole_text);
  }
}

// The child streams until it is killed; a byte in a pipe says that it wrote.
TEST(K4_03, AFileOfAKilledProcessIsRepaired) {
  std::mt19937 random(11);
  for (int round = 0; round < 50; ++round) {
    const TempPath path(round % 2 == 0 ? ".json" : ".json.gz");
    const TempPath repaired(".json");
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      Recording recording(path.str());
      const SiteId site = recording.catalog().add_site(SiteKind::kSpan, "work");
      SlotBuilder slots(recording.catalog().add_thread("main", 100));
      recording.exporter().anchor(test::anchor_at(1, 1));
      auto parent = slots.begin(50, site);
      for (Ticks tick = 100;; tick += 1000) {
        slots.end(tick + 900, slots.begin(tick, site));
        if (tick % 20'000 == 100) {
          slots.end(tick + 950, parent);
          parent = slots.begin(tick + 960, site);
        }
        recording.add(slots);
        recording.exporter().anchor(test::anchor_at(
            tick + 1000, static_cast<std::int64_t>(tick + 1000)));
        recording.flush();
        if (write(pipe_ends[1], "w", 1) != 1) _exit(1);
      }
    }
    char written[64];
    for (auto left = 1 + random() % 60; left > 0;)
      left -= std::min(
          left, static_cast<std::mt19937::result_type>(
                    read(pipe_ends[0], written, 1)));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    const auto report = repair_json(path.str(), repaired.str());
    ASSERT_TRUE(report) << report.error().message;
    const JsonTrace json = checked(repaired.str());
    EXPECT_FALSE(json.all_spans().empty());
  }
}

TEST(ChromeJsonRepair, RefusesWhatIsNotItsOwn) {
  const TempPath from(".json"), to(".json");
  for (const char* text :
       {"", "[]", "{\"traceEvents\":[]}", "{\"displayTimeUnit\":\"ns\",\n"}) {
    std::ofstream(from.str()) << text;
    const auto report = repair_json(from.str(), to.str());
    ASSERT_FALSE(report) << text;
    EXPECT_EQ(report.error().code, ErrorCode::kCorrupt);
    EXPECT_FALSE(std::filesystem::exists(to.str()));
  }
  EXPECT_EQ(repair_json(from.str(), from.str()).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(repair_json(from.str() + ".none", to.str()).error().code,
            ErrorCode::kIo);
}

}  // namespace
}  // namespace weft::exporters
