// SPDX-License-Identifier: Apache-2.0
// One subscription in many files.

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "claimed_file.h"
#include "export/weft_file.h"
#include "numbered_path.h"

namespace weft::exporters {
namespace {

using test::Recording;
using test::SlotBuilder;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// A directory of this test alone; goes with the object.
class TempDirectory {
 public:
  TempDirectory() {
    static int count = 0;
    path_ = ::testing::TempDir() + "weft_rotation_" + std::to_string(getpid()) +
            "_" + std::to_string(count++);
    std::filesystem::create_directory(path_);
  }
  ~TempDirectory() { std::filesystem::remove_all(path_); }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& str() const { return path_; }

 private:
  std::string path_;
};

OutputOptions rotating(const std::string& path, std::uint64_t bytes,
                       std::uint64_t keep_bytes = 0) {
  OutputOptions options;
  options.path = path;
  options.rotation.bytes = bytes;
  options.rotation.keep_bytes = keep_bytes;
  return options;
}

void add_spans(SlotBuilder* slots, SiteId site, int count) {
  // Irregular, so that a span takes some bytes.
  Ticks tick = 1000 + slots->position() * 5000;
  for (int i = 0; i < count; ++i) {
    const auto uneven = static_cast<Ticks>(i);
    const auto span = slots->begin(tick += 2000 + uneven * 37 % 1000, site);
    slots->end(tick += 2000 + uneven * 91 % 2000, span);
  }
}

// What the files of an output hold together; each has to be whole.
struct Sums {
  std::size_t files = 0;
  std::uint64_t records = 0;
  std::uint64_t delivered = 0;
  std::uint64_t lost = 0;
  std::uint64_t dropped[kDropReasons] = {};
};

Sums sum_up(const std::string& path) {
  Sums sums;
  for (const NumberedFile& file : numbered_files(path)) {
    const std::string name = numbered_path(path, file.number);
    SCOPED_TRACE(name);
    auto reader = TraceReader::open(name);
    if (!reader) {
      ADD_FAILURE() << reader.error().message;
      continue;
    }
    ++sums.files;
    EXPECT_EQ(test::words(check_trace(*reader)), "");
    EXPECT_TRUE(reader->info().complete);
    EXPECT_EQ(reader->info().process.pid, 42u);
    EXPECT_FALSE(reader->info().anchors.empty());
    sums.records += reader->info().records;
    sums.delivered += reader->info().end.delivered;
    sums.lost += reader->info().lost_records;
    for (std::size_t reason = 0; reason < kDropReasons; ++reason)
      sums.dropped[reason] += reader->info().end.dropped[reason];
  }
  return sums;
}

TEST(Rotation, FilesAreWholeAndTheirAccountsAddUp) {
  const TempDirectory directory;
  const std::string path = directory.file("service.weft");
  Recording recording(rotating(path, kMiB));
  auto& catalog = recording.catalog();
  const SiteId site = catalog.add_site(SiteKind::kSpan, "work");
  std::vector<SlotBuilder> threads;
  for (std::uint32_t i = 0; i < 3; ++i)
    threads.emplace_back(catalog.add_thread("t", i + 1));
  std::uint64_t lost_in_ring = 0;
  Ticks tick = 1;
  for (int pass = 0; pass < 100; ++pass) {
    recording.exporter().anchor(test::anchor_at(tick, 1000 + pass));
    tick += 5'000'000;
    for (SlotBuilder& slots : threads) {
      add_spans(&slots, site, 3000);
      if (pass % 7 == 0) {
        slots.loss(1000 + slots.position() * 5000, DropReason::kRingFull, 5);
        recording.end().dropped[static_cast<std::size_t>(
            DropReason::kRingFull)] += 5;
        lost_in_ring += 5;
      }
      ASSERT_TRUE(recording.add(slots));
      if (pass % 7 == 0) --recording.end().delivered;  // a mark is no call
    }
    if (pass % 11 == 3)
      recording.lose({ThreadIndex{1}, threads[0].position(), 2,
                      DropReason::kSlowSink});
    recording.flush();
  }
  // Such a drop has no place in a stream; it must not get lost.
  recording.end().dropped[static_cast<std::size_t>(DropReason::kNoRing)] = 3;
  const std::uint64_t delivered = recording.end().delivered;
  const std::uint64_t slow = recording.end().dropped[static_cast<std::size_t>(
      DropReason::kSlowSink)];
  EXPECT_EQ(recording.close().error, "");

  const Sums sums = sum_up(path);
  EXPECT_GE(sums.files, 4u);
  EXPECT_EQ(sums.delivered, delivered);
  EXPECT_EQ(sums.dropped[static_cast<std::size_t>(DropReason::kRingFull)],
            lost_in_ring);
  EXPECT_EQ(sums.dropped[static_cast<std::size_t>(DropReason::kSlowSink)], slow);
  EXPECT_EQ(sums.dropped[static_cast<std::size_t>(DropReason::kNoRing)], 3u);
  for (const NumberedFile& file : numbered_files(path))
    EXPECT_LT(file.bytes, 2 * kMiB);
}

// The end of a span stands in another file than its begin, and names it.
TEST(Rotation, ASpanMayLieAcrossFiles) {
  const TempDirectory directory;
  const std::string path = directory.file("service.weft");
  Recording recording(rotating(path, kMiB));
  const SiteId site = recording.catalog().add_site(SiteKind::kSpan, "long");
  SlotBuilder slots(recording.catalog().add_thread("main", 1));
  recording.exporter().anchor(test::anchor_at(1, 1000));
  const auto span = slots.begin(10, site);
  ASSERT_TRUE(recording.add(slots));
  ASSERT_TRUE(recording.exporter().rotate());
  recording.flush();
  slots.end(20, span);
  ASSERT_TRUE(recording.add(slots));
  recording.close();

  const Sums sums = sum_up(path);
  EXPECT_EQ(sums.files, 2u);
  auto reader = TraceReader::open(numbered_path(path, 2));
  ASSERT_TRUE(reader);
  DecodedRecord record;
  ASSERT_TRUE(reader->next(&record));
  EXPECT_EQ(record.kind, RecordKind::kSpanEnd);
  EXPECT_EQ(reader->info().name_of(record), "long");
  EXPECT_EQ(reader->info().text(reader->info().threads[0].name), "main");
}

TEST(Rotation, NumbersGoOnAndNothingIsWrittenOver) {
  const TempDirectory directory;
  const std::string path = directory.file("service.weft");
  test::write_file(directory.file("service.7.weft"), {1, 2, 3});
  // None of these is one of ours.
  for (const char* other : {"service.weft", "service.009.weft", "service.x.weft",
                            "service.99.weft.gz", "other.99.weft"})
    test::write_file(directory.file(other), {4});
  Recording recording(rotating(path, kMiB, 2 * kMiB));
  recording.flush();
  recording.close();
  EXPECT_TRUE(std::filesystem::exists(directory.file("service.8.weft")));
  EXPECT_EQ(test::read_file(directory.file("service.7.weft")).size(), 3u);
  EXPECT_EQ(numbered_files(path).size(), 2u);
  EXPECT_EQ(test::read_file(directory.file("other.99.weft")).size(), 1u);
}

TEST(Rotation, TheOldestFilesMakeRoom) {
  const TempDirectory directory;
  const std::string path = directory.file("service.weft");
  constexpr std::uint64_t kKeep = 4 * kMiB;
  Recording recording(rotating(path, kMiB, kKeep));
  const SiteId site = recording.catalog().add_site(SiteKind::kSpan, "work");
  SlotBuilder slots(recording.catalog().add_thread("main", 1));
  std::uint64_t most = 0;
  for (int pass = 0; pass < 300; ++pass) {
    recording.exporter().anchor(
        test::anchor_at(static_cast<Ticks>(pass) + 1, 1000 + pass));
    add_spans(&slots, site, 5000);
    ASSERT_TRUE(recording.add(slots));
    recording.flush();
    std::uint64_t sum = 0;
    for (const NumberedFile& file : numbered_files(path)) sum += file.bytes;
    most = std::max(most, sum);
  }
  EXPECT_EQ(recording.close().error, "");
  // A pass writes less than a block beyond the size of a file.
  EXPECT_LE(most, kKeep + 256 * 1024);
  EXPECT_GT(most, 2 * kMiB);
  const std::vector<NumberedFile> left = numbered_files(path);
  EXPECT_GT(left.front().number, 1u);
  // The newest, without a gap.
  EXPECT_EQ(left.back().number - left.front().number + 1, left.size());
  EXPECT_GE(sum_up(path).files, 2u);
}

// Two processes of one output count on together; neither removes what the other
// writes, however old it is.
TEST(Rotation, AFileThatIsBeingWrittenIsNotRemoved) {
  const TempDirectory directory;
  const std::string path = directory.file("service.weft");
  const Result<int> other = open_claimed(numbered_path(path, 1), 0, true);
  ASSERT_TRUE(other) << other.error().message;
  std::filesystem::resize_file(numbered_path(path, 1), 16 * kMiB);
  test::write_file(numbered_path(path, 2), test::Bytes(8 * kMiB));
  Recording recording(rotating(path, kMiB, 2 * kMiB));
  EXPECT_TRUE(std::filesystem::exists(numbered_path(path, 1)));
  EXPECT_FALSE(std::filesystem::exists(numbered_path(path, 2)));
  close(*other);
  ASSERT_TRUE(recording.exporter().rotate());
  recording.flush();
  EXPECT_FALSE(std::filesystem::exists(numbered_path(path, 1)));
  recording.close();
}

TEST(Rotation, ByAgeButNotOfNothing) {
  const TempDirectory directory;
  const std::string path = directory.file("service.weft");
  OutputOptions options = rotating(path, 0);
  options.rotation.after = std::chrono::seconds(10);
  Recording recording(options);
  const SiteId site = recording.catalog().add_site(SiteKind::kSpan, "work");
  SlotBuilder slots(recording.catalog().add_thread("main", 1));
  recording.exporter().anchor(test::anchor_at(1, 1000));
  add_spans(&slots, site, 10);
  ASSERT_TRUE(recording.add(slots));
  for (int second = 0; second < 9; ++second) recording.flush();
  EXPECT_EQ(numbered_files(path).size(), 1u);
  for (int second = 0; second < 100; ++second) recording.flush();
  EXPECT_EQ(numbered_files(path).size(), 2u);
  recording.close();
  EXPECT_EQ(sum_up(path).delivered, 20u);
}

TEST(Rotation, WithoutItAnOutputIsOneFile) {
  const test::TempPath path(".weft");
  Recording recording(path.str());
  EXPECT_FALSE(recording.exporter().rotate());
}

// The directory goes away, and comes back: what was lost meanwhile is counted in
// the file it would have been in, and what comes later is whole.
TEST(Rotation, ADirectoryThatIsGoneCostsRecordsAndIsUsedWhenItIsBack) {
  const TempDirectory directory;
  const std::string inner = directory.file("traces");
  std::filesystem::create_directory(inner);
  const std::string path = inner + "/service.weft";
  Recording recording(rotating(path, kMiB));
  const SiteId site = recording.catalog().add_site(SiteKind::kSpan, "work");
  SlotBuilder slots(recording.catalog().add_thread("main", 1));
  const auto pass = [&] {
    recording.exporter().anchor(
        test::anchor_at(slots.position() * 5000 + 1, 1000));
    add_spans(&slots, site, 100);
    ASSERT_TRUE(recording.add(slots));
    recording.flush();
  };
  pass();
  std::filesystem::remove_all(inner);
  ASSERT_TRUE(recording.exporter().rotate());
  recording.flush();
  pass();
  EXPECT_NE(recording.exporter().status().error.find("No such file"),
            std::string::npos)
      << recording.exporter().status().error;
  std::filesystem::create_directory(inner);
  pass();
  pass();
  // The file after it has lost nothing.
  ASSERT_TRUE(recording.exporter().rotate());
  recording.flush();
  pass();
  const ExporterStatus status = recording.close();
  EXPECT_EQ(status.records_lost, 200u);
  const Sums sums = sum_up(path);
  EXPECT_EQ(sums.files, 2u);
  EXPECT_EQ(sums.delivered, 800u);
  EXPECT_EQ(sums.lost, 200u);
  EXPECT_EQ(sums.records, 600u);
}

// A helper that stands still: the drainer goes on in the same file rather than
// lose the accounts of those before it.
TEST(Rotation, TheDrainerIsNotMoreThanSomeFilesAhead) {
  const TempDirectory directory;
  const std::string path = directory.file("service.weft");
  Recording recording(rotating(path, kMiB));
  const SiteId site = recording.catalog().add_site(SiteKind::kSpan, "work");
  SlotBuilder slots(recording.catalog().add_thread("main", 1));
  for (int pass = 0; pass < 12; ++pass) {
    recording.exporter().anchor(
        test::anchor_at(slots.position() * 5000 + 1, 1000));
    add_spans(&slots, site, 10);
    ASSERT_TRUE(recording.add(slots));
    ASSERT_TRUE(recording.exporter().rotate());
    recording.exporter().settle(1'000'000'000 + pass);
  }
  EXPECT_TRUE(recording.exporter().has_work());
  recording.close();
  const Sums sums = sum_up(path);
  EXPECT_EQ(sums.files, 9u);
  EXPECT_EQ(sums.delivered, 240u);
}

TEST(Rotation, DrainerAndHelperWorkAtTheSameTime) {
  const TempDirectory directory;
  const std::string path = directory.file("service.weft");
  Recording recording(rotating(path, kMiB));
  const SiteId site = recording.catalog().add_site(SiteKind::kSpan, "work");
  SlotBuilder slots(recording.catalog().add_thread("main", 1));
  std::atomic<bool> stop{false};
  std::thread helper([&] {
    while (!stop.load())
      if (!recording.exporter().work()) std::this_thread::yield();
  });
  for (int pass = 0; pass < 200; ++pass) {
    recording.exporter().anchor(
        test::anchor_at(slots.position() * 5000 + 1, 1000));
    add_spans(&slots, site, 500);
    recording.add(slots);
    if (pass % 5 == 0) recording.exporter().rotate();
    recording.exporter().settle((pass + 1) * 300'000'000LL);
  }
  stop.store(true);
  helper.join();
  const std::uint64_t delivered = recording.end().delivered;
  EXPECT_EQ(recording.close().error, "");
  const Sums sums = sum_up(path);
  EXPECT_GE(sums.files, 5u);
  EXPECT_EQ(sums.delivered, delivered);
}

}  // namespace
}  // namespace weft::exporters
