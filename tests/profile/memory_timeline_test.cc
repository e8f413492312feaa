// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/memory_timeline.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "weft/profile/memory_report.h"

namespace weft {
namespace {

constexpr MemoryDevice kHost{};
constexpr MemoryDevice kGpu{DeviceType::kCuda, 1};

MemoryRecord record(std::int64_t at_ns, std::uint64_t address,
                    std::int64_t bytes,
                    MemoryCategory category = MemoryCategory::kUnknown) {
  MemoryRecord made;
  made.at_ns = at_ns;
  made.thread = 1;
  made.address = address;
  made.bytes = bytes;
  made.category = category;
  return made;
}

// A parameter that was there before, an input that becomes an activation.
std::vector<MemoryRecord> some_records() {
  return {record(1'000, 1, 100, MemoryCategory::kInput),
          record(2'500, 1, 0, MemoryCategory::kActivation),
          record(2'600, 7, -40, MemoryCategory::kParameter),
          record(9'000, 1, -100)};
}

std::string text_of(void (MemoryTimeline::*write)(std::ostream&, MemoryDevice)
                        const,
                    const MemoryTimeline& timeline, MemoryDevice device) {
  std::ostringstream out;
  (timeline.*write)(out, device);
  return out.str();
}

TEST(MemoryTimeline, PointsTellWhatCameWentAndChanged) {
  EXPECT_EQ(text_of(&MemoryTimeline::write_points,
                    MemoryTimeline(some_records()), kHost),
            "[[-1, 1, 40, 0], [1000, 2, 100, 2], [2500, 3, -100, 2], "
            "[2500, 3, 100, 4], [2600, 4, -40, 0], [9000, 4, -100, 4]]");
}

// What was there before counts from the first time on.
TEST(MemoryTimeline, SamplesAreSumsByCategoryADistinctMicrosecond) {
  EXPECT_EQ(text_of(&MemoryTimeline::write_samples,
                    MemoryTimeline(some_records()), kHost),
            "[[1, 1, 2, 9], [[0, 40, 0, 0, 0, 0, 0, 0, 0], "
            "[0, 40, 0, 100, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 100, 0, 0, 0], "
            "[0, 0, 0, 0, 0, 0, 0, 0, 0]]]");
}

TEST(MemoryTimeline, DevicesAreApartAndTheFirstIsTheDefault) {
  std::vector<MemoryRecord> records = some_records();
  EXPECT_EQ(MemoryTimeline(records).default_device().type, DeviceType::kCpu);
  MemoryRecord gpu = record(3'000, 1, 8);
  gpu.device = DeviceType::kCuda;
  gpu.device_index = 1;
  records.push_back(gpu);
  const MemoryTimeline timeline(records);
  EXPECT_EQ(timeline.default_device().index, 1);
  EXPECT_EQ(timeline.points(kGpu).size(), 1u);
  EXPECT_EQ(timeline.points(kHost).size(), 6u);
}

// A release may not say another size than what came: sums would never be 0.
TEST(MemoryTimeline, BlocksGoWithTheBytesTheyCameWith) {
  const MemoryTimeline timeline(
      {record(1'000, 1, 100), record(2'000, 1, -1), record(3'000, 1, 5),
       record(4'000, 1, 7)});
  const auto samples = timeline.samples(kHost);
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples[1].bytes[7], 0);
  EXPECT_EQ(samples[3].bytes[7], 7);  // the one before was lost track of
}

TEST(MemoryTimeline, EmptyIsEmptyInEachForm) {
  const MemoryTimeline timeline({});
  EXPECT_EQ(text_of(&MemoryTimeline::write_points, timeline, kHost), "[]");
  EXPECT_EQ(text_of(&MemoryTimeline::write_samples, timeline, kHost),
            "[[], []]");
  EXPECT_NE(text_of(&MemoryTimeline::write_page, timeline, kHost).find("<svg"),
            std::string::npos);
}

std::string inflated(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  std::string text(4096, '\0');
  const int size = gzread(file, text.data(), 4096);
  const bool compressed = gzdirect(file) == 0;
  gzclose(file);
  EXPECT_TRUE(compressed) << path;
  return text.substr(0, size < 0 ? 0 : static_cast<std::size_t>(size));
}

TEST(MemoryTimeline, NameChoosesTheForm) {
  const std::string stem =
      testing::TempDir() + "weft_" + std::to_string(getpid()) + "_memory.";
  const MemoryTimeline timeline(some_records());
  for (const char* suffix : {"html", "raw.json.gz", "json.gz", "json"}) {
    ASSERT_TRUE(timeline.export_memory_timeline(stem + suffix).ok());
  }
  EXPECT_EQ(inflated(stem + "raw.json.gz").substr(0, 8), "[[-1, 1,");
  EXPECT_EQ(inflated(stem + "json.gz").substr(0, 8), "[[1, 1, ");
  const auto first_line = [](const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
  };
  EXPECT_EQ(first_line(stem + "json").substr(0, 8), "[[1, 1, ");
  EXPECT_EQ(first_line(stem + "html"), "<!DOCTYPE html>");
  for (const char* suffix : {"html", "raw.json.gz", "json.gz", "json"}) {
    std::remove((stem + suffix).c_str());
  }
  EXPECT_EQ(timeline.export_memory_timeline("/nonexistent/x.json").error().code,
            ErrorCode::kIo);
}

FunctionEvent range(const char* name, std::int64_t thread,
                    std::int64_t start_ns, std::int64_t end_ns) {
  FunctionEvent event;
  event.name = name;
  event.trace_name = name;
  event.thread = thread;
  event.start_ns = start_ns;
  event.end_ns = end_ns;
  return event;
}

const MemoryRow* find(const MemoryReport& report, const std::string& name) {
  for (const MemoryRow& row : report.rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

// 10 MB from before are released inside; a block of `a` is released in `b` on
// another thread; one comes and goes outside; one grows; and many small ones.
TEST(K8_06, AllocatedAndReleasedAreTwoColumnsThatAddUp) {
  const EventList events({range("a", 1, 100, 1'000), range("b", 2, 0, 9'000),
                          range("inner", 1, 200, 300)});
  std::vector<MemoryRecord> records = {
      record(150, 0xb000, -10'000'000), record(160, 1, 64),
      record(250, 2, 32), record(2'000, 3, 500), record(2'100, 3, -500),
      // A block that grows moves.
      record(400, 4, 100), record(410, 5, 200), record(411, 4, -100)};
  MemoryRecord elsewhere = record(1'500, 1, -64);
  elsewhere.thread = 2;
  records.push_back(elsewhere);
  constexpr std::uint64_t kSmall = 1'000'000;
  for (std::uint64_t i = 0; i < kSmall; ++i) {
    records.push_back(record(500, 1'000 + i, 8));
    records.push_back(record(600, 1'000 + i, -8));
  }
  const MemoryReport report = memory_report(events, records);

  const MemoryRow* a = find(report, "a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->allocated_bytes, 64 + 100 + 200 + 8 * kSmall);
  EXPECT_EQ(a->released_bytes, 100 + 8 * kSmall);
  EXPECT_EQ(a->net_bytes(), 264);
  EXPECT_EQ(find(report, "inner")->allocated_bytes, 32u);
  EXPECT_EQ(find(report, "b")->released_bytes, 64u);
  EXPECT_EQ(find(report, kEarlierMemory)->released_bytes, 10'000'000u);
  EXPECT_EQ(find(report, kEarlierMemory)->allocated_bytes, 0u);
  const MemoryRow* outside = find(report, kUnattributedMemory);
  EXPECT_EQ(outside->allocated_bytes, 500u);
  EXPECT_EQ(outside->released_bytes, 500u);

  std::int64_t net = 0;
  std::int64_t change = 0;
  for (const MemoryRow& row : report.rows) net += row.net_bytes();
  for (const MemoryRecord& one : records) change += one.bytes;
  EXPECT_EQ(net, change);
  EXPECT_EQ(report.change_bytes, change);
}

TEST(K8_06, PeakIsTheMostInUseAtOnce) {
  const EventList events({range("a", 1, 0, 100)});
  const MemoryReport report = memory_report(
      events, {record(10, 1, 100), record(20, 2, 50), record(30, 1, -100),
               record(40, 3, 60), record(50, 3, -60), record(60, 2, -50)});
  EXPECT_EQ(report.peak_bytes, 150);
  EXPECT_EQ(report.peak_at_ns, 20);
  EXPECT_EQ(report.change_bytes, 0);
  EXPECT_EQ(memory_report(events, {}).table(),
            "Name         Allocated          Released               Net     "
            "# Alloc      # Free\nChange: 0 bytes, peak 0 bytes at 0 ns\n");
}

// At its end a range is over: what comes then is not its own.
TEST(K8_06, RangesAreHalfOpen) {
  const EventList events({range("outer", 1, 0, 100), range("in", 1, 0, 50)});
  const MemoryReport report =
      memory_report(events, {record(0, 1, 1), record(50, 2, 2),
                             record(100, 3, 4)});
  EXPECT_EQ(find(report, "in")->allocated_bytes, 1u);
  EXPECT_EQ(find(report, "outer")->allocated_bytes, 2u);
  EXPECT_EQ(find(report, kUnattributedMemory)->allocated_bytes, 4u);
}

}  // namespace
}  // namespace weft
