// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "export/weft_file.h"

namespace weft::exporters {
namespace {

using test::SlotBuilder;
using test::TempPath;

constexpr std::size_t kPoolBytes = 2u << 20;
constexpr int kSpansARun = 2000;

// A flight recorder's drainer and helper, by turns in this thread, and one
// thread that records spans back to back.
class FlightRecording {
 public:
  explicit FlightRecording(const std::string& path) {
    OutputOptions options;
    options.path = path;
    options.block_pool_bytes = kPoolBytes;
    options.flight_recorder = true;
    Error error;
    weft_open_output(options, &exporter_, &error);
    if (exporter_ == nullptr) {
      ADD_FAILURE() << error.message;
      return;
    }
    ProcessInfo process;
    process.pid = 42;
    process.tick_hz = 1e9;
    SubscriptionInfo subscription;
    subscription.name = "default";
    subscription.start_tick = 1;
    exporter_->begin(process, subscription);
    exporter_->define(catalog);
    catalog.forget_news();
  }

  // What is refused is told as lost. True if it was taken.
  bool add_spans() {
    for (int i = 0; i < kSpansARun; ++i) {
      const auto span = slots.begin(now += 3000, site);
      slots.end(now += 3000, span);
    }
    const std::uint64_t records = slots.records();
    const bool taken = exporter_->consume(slots.run());
    slots.drained();
    if (!taken)
      exporter_->lose({slots.run().thread, slots.position(), records,
                       DropReason::kSlowSink});
    exporter_->anchor(
        test::anchor_at(now, static_cast<std::int64_t>(now) + 1'000'000));
    return taken;
  }
  void order(const std::string& path, Ticks from = 0, bool numbered = false) {
    SnapshotOrder order;
    order.path = path;
    order.numbered = numbered;
    order.reason = "test";
    order.from = from;
    order.to = now;
    order.finish = [this](const Result<SnapshotInfo>& result) {
      answers.push_back(result);
    };
    exporter_->snapshot(std::move(order));
  }
  void work() {
    while (exporter_->work()) {
    }
  }
  Exporter& exporter() { return *exporter_; }

  test::FakeCatalog catalog;
  SiteId site = catalog.add_site(SiteKind::kSpan, "work");
  SlotBuilder slots{catalog.add_thread("main", 7)};
  Ticks now = 1000;
  std::vector<Result<SnapshotInfo>> answers;

 private:
  std::unique_ptr<Exporter> exporter_;
};

// Opens a snapshot, which must be whole.
std::optional<TraceReader> open_whole(const std::string& path) {
  auto reader = TraceReader::open(path);
  if (!reader) {
    ADD_FAILURE() << reader.error().message;
    return std::nullopt;
  }
  EXPECT_EQ(test::words(check_trace(*reader)), "");
  EXPECT_TRUE(reader->info().complete);
  return std::move(*reader);
}

TEST(FlightRecorder, ASnapshotHoldsTheNewestRecordsAndWhatTheyMean) {
  FlightRecording recording("x.weft");
  const TempPath path(".weft");
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(recording.add_spans());
  recording.order(path.str());
  recording.work();
  ASSERT_EQ(recording.answers.size(), 1u);
  ASSERT_TRUE(recording.answers[0].ok()) << recording.answers[0].error().message;
  const SnapshotInfo& snapshot = *recording.answers[0];
  EXPECT_EQ(snapshot.path, path.str());

  auto reader = open_whole(path.str());
  ASSERT_TRUE(reader);
  const TraceInfo& info = reader->info();
  EXPECT_EQ(info.end.reason, "snapshot: test");
  EXPECT_EQ(info.process.pid, 42u);
  EXPECT_EQ(info.records, snapshot.records);
  EXPECT_EQ(info.file_bytes, snapshot.bytes);
  // Less than was recorded, and at least half of what the memory could hold.
  EXPECT_LT(info.records, 300u * kSpansARun * 2);
  EXPECT_GT(info.file_bytes, kPoolBytes / 2);
  EXPECT_LT(info.file_bytes, kPoolBytes + kPoolBytes / 4);
  ASSERT_EQ(info.threads.size(), 1u);
  EXPECT_EQ(info.text(info.threads[0].name), "main");
  DecodedRecord record;
  std::uint64_t records = 0;
  Ticks last = 0;
  while (reader->next(&record)) {
    ++records;
    last = record.tick;
    EXPECT_EQ(info.name_of(record), "work");
  }
  EXPECT_EQ(records, info.records);
  EXPECT_EQ(last, recording.now);
}

TEST(FlightRecorder, AWindowLeavesOutWhatIsOlder) {
  FlightRecording recording("x.weft");
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(recording.add_spans());
  const TempPath all(".weft");
  recording.order(all.str());
  recording.work();
  const TempPath path(".weft");
  const Ticks from = recording.now - 10 * kSpansARun * 6000;
  recording.order(path.str(), from);
  recording.work();
  ASSERT_EQ(recording.answers.size(), 2u);
  auto reader = open_whole(path.str());
  ASSERT_TRUE(reader);
  // All of the window, and no more than a block beyond.
  DecodedRecord record;
  ASSERT_TRUE(reader->next(&record));
  EXPECT_LE(record.tick, from + 6000);
  EXPECT_GE(reader->info().records, 10u * kSpansARun * 2);
  EXPECT_LT(reader->info().records, recording.answers[0]->records / 2);
}

TEST(FlightRecorder, RecordingGoesOnWhileASnapshotIsWritten) {
  FlightRecording recording("x.weft");
  const TempPath path(".weft");
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(recording.add_spans());
  const Ticks moment = recording.now;
  recording.order(path.str());
  // The helper comes late: first the reserve takes what comes, then it is full.
  int taken = 0;
  while (recording.add_spans()) ++taken;
  EXPECT_GT(taken, 10);
  const TempPath second(".weft");
  recording.order(second.str());
  ASSERT_EQ(recording.answers.size(), 1u);
  ASSERT_FALSE(recording.answers[0].ok());
  EXPECT_EQ(recording.answers[0].error().code, ErrorCode::kBusy);
  recording.work();
  auto reader = open_whole(path.str());
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->info().end.stop_tick, moment);
  EXPECT_EQ(reader->info().end.dropped[4], 0u);

  // What was refused meanwhile is told in the next.
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(recording.add_spans());
  recording.order(second.str());
  recording.work();
  reader = open_whole(second.str());
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->info().end.dropped[4], 2u * kSpansARun);
}

TEST(FlightRecorder, LossesInTheRingAreCountedWhileTheyAreKept) {
  FlightRecording recording("x.weft");
  recording.slots.loss(recording.now, DropReason::kRingFull, 5);
  ASSERT_TRUE(recording.add_spans());
  const TempPath path(".weft");
  recording.order(path.str());
  recording.work();
  auto reader = open_whole(path.str());
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->info().end.dropped[1], 5u);
  EXPECT_EQ(reader->info().end.delivered, 2u * kSpansARun);
}

TEST(FlightRecorder, ThreadsThatEndedAreStillNamed) {
  FlightRecording recording("x.weft");
  ASSERT_TRUE(recording.add_spans());
  ThreadInfo exit;
  exit.index = recording.slots.run().thread;
  exit.name = recording.catalog.add_string("main");
  exit.exit_tick = recording.now;
  recording.catalog.set_thread(exit);
  recording.exporter().define(recording.catalog);
  recording.catalog.forget_news();
  for (int i = 0; i < 2; ++i) {
    const TempPath path(".weft");
    recording.order(path.str());
    recording.work();
    auto reader = open_whole(path.str());
    ASSERT_TRUE(reader);
    ASSERT_EQ(reader->info().threads.size(), 1u);
    EXPECT_EQ(reader->info().text(reader->info().threads[0].name), "main");
  }
}

TEST(FlightRecorder, AnExistingFileIsNeverReplaced) {
  FlightRecording recording("x.weft");
  ASSERT_TRUE(recording.add_spans());
  const TempPath path(".weft");
  const std::string stem = path.str().substr(0, path.str().size() - 5);
  for (std::size_t i = 0; i < 2; ++i) {
    recording.order(path.str(), 0, true);
    recording.work();
  }
  ASSERT_EQ(recording.answers.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(recording.answers[i].ok());
    EXPECT_EQ(recording.answers[i]->path,
              stem + "." + std::to_string(i + 1) + ".weft");
  }
  recording.order(stem + ".1.weft");
  recording.work();
  ASSERT_EQ(recording.answers.size(), 3u);
  ASSERT_FALSE(recording.answers[2].ok());
  EXPECT_EQ(recording.answers[2].error().code, ErrorCode::kIo);
  for (std::size_t i = 0; i < 2; ++i) {
    open_whole(recording.answers[i]->path);
    std::remove(recording.answers[i]->path.c_str());
  }
}

TEST(FlightRecorder, AFailedWriteIsAnswered) {
  FlightRecording recording("x.weft");
  ASSERT_TRUE(recording.add_spans());
  recording.order("/no/such/folder/x.weft");
  recording.work();
  ASSERT_EQ(recording.answers.size(), 1u);
  ASSERT_FALSE(recording.answers[0].ok());
  EXPECT_EQ(recording.answers[0].error().code, ErrorCode::kIo);
  EXPECT_NE(recording.answers[0].error().message.find("/no/such/folder"),
            std::string::npos);
  // And nothing stays pinned.
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(recording.add_spans());
}

TEST(FlightRecorder, OtherFormatsAreRefusedInWords) {
  OutputOptions options;
  options.path = "x.json";
  options.flight_recorder = true;
  std::unique_ptr<Exporter> exporter;
  Error error;
  weft_open_output(options, &exporter, &error);
  EXPECT_EQ(exporter, nullptr);
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_NE(error.message.find("x.json"), std::string::npos);
}

}  // namespace
}  // namespace weft::exporters
