// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/memory_timeline.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <sstream>

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

}  // namespace
}  // namespace weft
