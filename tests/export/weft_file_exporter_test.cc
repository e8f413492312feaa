// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "export/weft_file.h"

namespace weft::exporters {
namespace {

using test::Recording;
using test::SlotBuilder;
using test::TempPath;

// Slots enough for several blocks.
void add_many_spans(SlotBuilder* slots, SiteId site, Ticks from, int count) {
  for (int i = 0; i < count; ++i) {
    const auto span = slots->begin(from += 3000, site);
    slots->end(from += 3000, span);
  }
}

TEST(WeftFileExporter, WhatWasConsumedIsInTheFile) {
  const TempPath path(".weft");
  Recording recording(path.str());
  auto& catalog = recording.catalog();
  const SiteId site = catalog.add_site(SiteKind::kSpan, "work", "cat",
                                       {{"n", RecordKind::kInt64}});
  SlotBuilder slots(catalog.add_thread("main", 7));
  catalog.add_metadata("k", "v");
  recording.exporter().anchor(test::anchor_at(1, 100));
  const auto span = slots.begin(10, site);
  slots.int64(0, -5);
  slots.text(1, "text of 22 bytes, cut.", 99);
  slots.end(20, span);
  ASSERT_TRUE(recording.add(slots));
  EXPECT_EQ(recording.close("limit").error, "");

  auto reader = TraceReader::open(path.str());
  ASSERT_TRUE(reader) << reader.error().message;
  const TraceInfo& info = reader->info();
  EXPECT_EQ(test::words(info.problems), "");
  EXPECT_TRUE(info.complete);
  EXPECT_EQ(info.process.pid, 42u);
  EXPECT_EQ(info.process.executable, "/bin/program");
  EXPECT_EQ(info.subscription.name, "default");
  EXPECT_EQ(info.end.delivered, 2u);
  EXPECT_EQ(info.end.reason, "limit");
  ASSERT_EQ(info.threads.size(), 1u);
  EXPECT_EQ(info.threads[0].tid, 7u);
  EXPECT_EQ(info.text(info.threads[0].name), "main");
  ASSERT_EQ(info.metadata.size(), 1u);
  EXPECT_EQ(info.metadata[0].second, "v");
  ASSERT_EQ(info.anchors.size(), 1u);
  EXPECT_EQ(info.anchors[0].ns[2], 100);

  DecodedRecord record;
  ASSERT_TRUE(reader->next(&record));
  EXPECT_EQ(info.name_of(record), "work");
  EXPECT_EQ(record.tick, 10u);
  ASSERT_EQ(record.value_count, 2u);
  EXPECT_EQ(static_cast<std::int64_t>(record.values[0].bits), -5);
  EXPECT_EQ(record.values[1].text, "text of 22 bytes, cut.");
  EXPECT_EQ(record.values[1].text_length, 99u);
  ASSERT_TRUE(reader->next(&record));
  EXPECT_EQ(record.kind, RecordKind::kSpanEnd);
  EXPECT_EQ(record.target, 0u);
  EXPECT_FALSE(reader->next(&record));
  EXPECT_EQ(test::words(check_trace(*reader)), "");
}

TEST(WeftFileExporter, ARunMayTakeManyBlocks) {
  const TempPath path(".weft");
  Recording recording(path.str());
  const SiteId site = recording.catalog().add_site(SiteKind::kSpan, "s");
  SlotBuilder slots(recording.catalog().add_thread("main", 1));
  add_many_spans(&slots, site, 100, 200'000);
  ASSERT_TRUE(recording.add(slots));
  recording.close();
  auto reader = TraceReader::open(path.str());
  ASSERT_TRUE(reader);
  EXPECT_GT(reader->info().blocks, 4u);
  EXPECT_EQ(reader->info().records, 400'000u);
  EXPECT_EQ(test::words(check_trace(*reader)), "");
}

// Half a run in the file and the run refused would count its records twice.
TEST(WeftFileExporter, ARunThatDoesNotFitIsRefusedAsAWhole) {
  const TempPath path(".weft");
  Recording recording(path.str(), 1u << 20);
  const SiteId site = recording.catalog().add_site(SiteKind::kSpan, "s");
  SlotBuilder slots(recording.catalog().add_thread("main", 1));
  add_many_spans(&slots, site, 100, 10);
  ASSERT_TRUE(recording.add(slots));
  add_many_spans(&slots, site, 1'000'000, 300'000);
  ASSERT_FALSE(recording.add(slots));
  add_many_spans(&slots, site, 10'000'000'000, 10);
  ASSERT_TRUE(recording.add(slots));
  recording.close();

  auto reader = TraceReader::open(path.str());
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->info().records, 40u);
  EXPECT_EQ(reader->info().end.dropped[4], 600'000u);
  EXPECT_EQ(test::words(check_trace(*reader)), "");
}

TEST(WeftFileExporter, AnEmptyPoolRefusesAndTellsEveryLoss) {
  const TempPath path(".weft");
  Recording recording(path.str(), 1u << 20);
  auto& catalog = recording.catalog();
  const SiteId site = catalog.add_site(SiteKind::kSpan, "s");
  std::vector<SlotBuilder> threads;
  for (std::uint32_t i = 0; i < 8; ++i)
    threads.emplace_back(catalog.add_thread("t", i + 1));
  Ticks tick = 1;
  int refused = 0;
  for (int pass = 0; pass < 300; ++pass) {
    for (SlotBuilder& slots : threads) {
      add_many_spans(&slots, site, tick, 500);
      refused += recording.add(slots) ? 0 : 1;
    }
    tick += 10'000'000;
    // The helper comes late: long stretches without a free block.
    if (pass % 100 == 99) recording.work();
    recording.exporter().anchor(
        test::anchor_at(tick, static_cast<std::int64_t>(tick)));
  }
  EXPECT_GT(refused, 100);
  recording.close();
  auto reader = TraceReader::open(path.str());
  ASSERT_TRUE(reader);
  EXPECT_EQ(test::words(check_trace(*reader)), "");
  EXPECT_GT(reader->info().records, 0u);
  EXPECT_EQ(reader->info().records + reader->info().end.dropped[4],
            300u * 8 * 1000);
}

TEST(WeftFileExporter, MoreLosingThreadsThanDebtsKeepTheirCount) {
  const TempPath path(".weft");
  Recording recording(path.str(), 1u << 20);
  const SiteId site = recording.catalog().add_site(SiteKind::kSpan, "s");
  SlotBuilder slots(recording.catalog().add_thread("main", 1));
  add_many_spans(&slots, site, 100, 1000);
  while (recording.add(slots))
    add_many_spans(&slots, site, 100 + slots.position() * 3000, 1000);
  for (std::uint32_t thread = 2; thread < 40'000; ++thread)
    recording.lose({ThreadIndex{thread}, 5, 1, DropReason::kNoRing});
  recording.close();
  auto reader = TraceReader::open(path.str());
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->info().end.dropped[2], 39'998u);
  EXPECT_EQ(test::words(check_trace(*reader)), "");
}

TEST(WeftFileExporter, NamesThatCannotBeReadYetAreToldLater) {
  const TempPath path(".weft");
  Recording recording(path.str());
  auto& catalog = recording.catalog();
  const StringId late = catalog.add_string("late");
  catalog.hide_string(late);
  catalog.add_string("after");
  recording.exporter().define(catalog);
  catalog.hide_string(StringId::kNone);
  recording.exporter().define(catalog);
  recording.close();
  auto reader = TraceReader::open(path.str());
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->info().text(late), "late");
  EXPECT_EQ(reader->info().strings.size(), 3u);
}

TEST(WeftFileExporter, AThreadThatBeginsWhileThereIsNoRoomIsToldLater) {
  const TempPath path(".weft");
  Recording recording(path.str(), 1u << 20);
  auto& catalog = recording.catalog();
  const SiteId site = catalog.add_site(SiteKind::kSpan, "s");
  SlotBuilder first(catalog.add_thread("first", 1));
  do add_many_spans(&first, site, 100 + first.position() * 3000, 1000);
  while (recording.add(first));
  recording.exporter().settle(kFlushNow);  // the last block, too
  SlotBuilder late(catalog.add_thread("late", 2));
  add_many_spans(&late, site, 100, 10);
  ASSERT_FALSE(recording.add(late));
  recording.work();
  add_many_spans(&late, site, 1'000'000, 10);
  ASSERT_TRUE(recording.add(late));
  recording.close();
  auto reader = TraceReader::open(path.str());
  ASSERT_TRUE(reader);
  ASSERT_EQ(reader->info().threads.size(), 2u);
  EXPECT_EQ(reader->info().text(reader->info().threads[1].name), "late");
  EXPECT_EQ(test::words(check_trace(*reader)), "");
}

// What a failing disk took with it, names of threads among it, is told again:
// of those that run and those that have ended.
TEST(WeftFileExporter, DefinitionsInLostBlocksAreToldAgain) {
  const TempPath path(".weft");
  Recording recording(path.str());
  auto& catalog = recording.catalog();
  const SiteId site = catalog.add_site(SiteKind::kSpan, "s");
  SlotBuilder running(catalog.add_thread("running", 1));
  const ThreadIndex ended = catalog.add_thread("ended", 2);
  signal(SIGXFSZ, SIG_IGN);
  const rlimit no_room{10, RLIM_INFINITY};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &no_room), 0);
  add_many_spans(&running, site, 100, 10);
  ASSERT_TRUE(recording.add(running));
  ThreadInfo exit;
  exit.index = ended;
  exit.tid = 2;
  exit.name = catalog.add_string("ended");
  exit.exit_tick = 500;
  catalog.set_thread(exit);
  recording.exporter().define(catalog);
  catalog.forget_news();
  recording.flush();
  const rlimit room{RLIM_INFINITY, RLIM_INFINITY};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &room), 0);
  EXPECT_NE(recording.exporter().status().error, "");
  for (int pass = 0; pass < 3; ++pass) {
    add_many_spans(&running, site, 1'000'000 + running.position() * 3000, 10);
    ASSERT_TRUE(recording.add(running));
    recording.flush();
  }
  recording.close();
  auto reader = TraceReader::open(path.str());
  ASSERT_TRUE(reader);
  const TraceInfo& info = reader->info();
  ASSERT_EQ(info.threads.size(), 2u);
  EXPECT_EQ(info.text(info.threads[0].name), "running");
  EXPECT_EQ(info.text(info.threads[1].name), "ended");
  EXPECT_EQ(info.threads[1].exit_tick, 500u);
}

TEST(WeftFileExporter, ABlockReachesTheFileWithinTheFlushPromise) {
  const TempPath path(".weft");
  Recording recording(path.str());
  const SiteId site = recording.catalog().add_site(SiteKind::kSpan, "s");
  SlotBuilder slots(recording.catalog().add_thread("main", 1));
  constexpr std::int64_t kStart = 1'000'000'000'000;
  recording.exporter().settle(kStart);  // writes what is known of the process
  recording.work();
  const auto before = recording.exporter().status().bytes_written;

  add_many_spans(&slots, site, 100, 1);
  ASSERT_TRUE(recording.add(slots));
  recording.exporter().settle(kStart + 249'000'000);
  recording.work();
  EXPECT_EQ(recording.exporter().status().bytes_written, before);
  recording.exporter().settle(kStart + 250'000'000);
  EXPECT_GT(recording.exporter().status().bytes_pending, 0u);
  EXPECT_TRUE(recording.exporter().has_work());
  recording.work();
  EXPECT_GT(recording.exporter().status().bytes_written, before);
  EXPECT_EQ(recording.exporter().status().bytes_pending, 0u);
  EXPECT_FALSE(recording.exporter().has_work());
}

// A full disk must cost records, never the host or the accounts.
TEST(WeftFileExporter, AFullDiskIsToldOnceAndItsLossesAreExact) {
  Recording recording("/dev/full");
  const SiteId site = recording.catalog().add_site(SiteKind::kSpan, "s");
  SlotBuilder slots(recording.catalog().add_thread("main", 1));
  std::uint64_t accepted = 0;
  for (int pass = 0; pass < 100; ++pass) {
    add_many_spans(&slots, site, 100 + slots.position() * 3000, 2000);
    ASSERT_TRUE(recording.add(slots));
    accepted += 4000;
    recording.work();
  }
  const ExporterStatus status = recording.close();
  EXPECT_EQ(status.error, "/dev/full: No space left on device");
  EXPECT_EQ(status.records_lost, accepted);
  EXPECT_EQ(status.bytes_written, 0u);
  EXPECT_EQ(status.bytes_pending, 0u);
}

TEST(WeftFileExporter, AnExistingFileIsKeptUnlessOverwriteIsAllowed) {
  const TempPath path(".weft");
  test::write_file(path.str(), {1, 2, 3});
  OutputOptions options;
  options.path = path.str();
  options.overwrite = false;
  std::unique_ptr<Exporter> exporter;
  Error error;
  weft_open_output(options, &exporter, &error);
  EXPECT_EQ(exporter, nullptr);
  EXPECT_EQ(error.code, ErrorCode::kIo);
  EXPECT_EQ(error.message, path.str() + ": cannot be opened: File exists");
  EXPECT_EQ(test::read_file(path.str()).size(), 3u);
}

TEST(WeftFileExporter, APoolTooSmallIsRefusedWithItsLimit) {
  const TempPath path(".weft");
  OutputOptions options;
  options.path = path.str();
  options.block_pool_bytes = 1000;
  std::unique_ptr<Exporter> exporter;
  Error error;
  weft_open_output(options, &exporter, &error);
  EXPECT_EQ(exporter, nullptr);
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_NE(error.message.find("1000"), std::string::npos);
}

// A sink that nobody reads: recording goes on within its memory, drops are
// counted, and what comes after the reader is there gets through.
TEST(K5_03, AFifoWithoutAReaderBlocksNobody) {
  const TempPath path(".weft");
  ASSERT_EQ(mkfifo(path.str().c_str(), 0600), 0);
  Recording recording(path.str(), 1u << 20);
  const SiteId site = recording.catalog().add_site(SiteKind::kSpan, "s");
  SlotBuilder slots(recording.catalog().add_thread("main", 1));
  int refused = 0;
  for (int pass = 0; pass < 200; ++pass) {
    add_many_spans(&slots, site, 100 + slots.position() * 3000, 2000);
    refused += recording.add(slots) ? 0 : 1;
    recording.work();
  }
  EXPECT_GT(refused, 10);

  test::Bytes bytes;
  const int file = open(path.str().c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(file, 0);
  fcntl(file, F_SETFL, 0);
  recording.work();  // opens it; before that, reading would find its end
  std::thread reader_thread([&] {
    std::uint8_t buffer[4096];
    for (ssize_t got; (got = read(file, buffer, sizeof buffer)) > 0;)
      bytes.insert(bytes.end(), buffer, buffer + got);
  });
  while (recording.exporter().status().bytes_pending != 0) recording.work();
  add_many_spans(&slots, site, 100 + slots.position() * 3000, 10);
  const bool taken = recording.add(slots);
  const ExporterStatus status = recording.close();
  reader_thread.join();
  close(file);

  EXPECT_TRUE(taken);
  EXPECT_EQ(status.error, "");
  EXPECT_EQ(status.records_lost, 0u);
  auto reader = TraceReader::open_bytes(bytes.data(), bytes.size());
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(test::words(check_trace(*reader)), "");
}

TEST(K5_03, AFifoThatNobodyEverReadsCountsItsRecordsAsLost) {
  const TempPath path(".weft");
  ASSERT_EQ(mkfifo(path.str().c_str(), 0600), 0);
  Recording recording(path.str(), 1u << 20);
  const SiteId site = recording.catalog().add_site(SiteKind::kSpan, "s");
  SlotBuilder slots(recording.catalog().add_thread("main", 1));
  add_many_spans(&slots, site, 100, 10);
  ASSERT_TRUE(recording.add(slots));
  const ExporterStatus status = recording.close();
  EXPECT_EQ(status.error, path.str() + ": nobody reads it");
  EXPECT_EQ(status.records_lost, 20u);
  EXPECT_EQ(status.bytes_pending, 0u);
}

// SIGPIPE would end the host.
TEST(K5_03, AReaderThatGoesAwayIsAnErrorAndNoSignal) {
  const TempPath path(".weft");
  ASSERT_EQ(mkfifo(path.str().c_str(), 0600), 0);
  const int file = open(path.str().c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(file, 0);
  Recording recording(path.str(), 1u << 20);
  recording.flush();
  close(file);
  const SiteId site = recording.catalog().add_site(SiteKind::kSpan, "s");
  SlotBuilder slots(recording.catalog().add_thread("main", 1));
  add_many_spans(&slots, site, 100, 10);
  ASSERT_TRUE(recording.add(slots));
  const ExporterStatus status = recording.close();
  EXPECT_EQ(status.error, path.str() + ": Broken pipe");
  EXPECT_EQ(status.records_lost, 20u);
}

TEST(WeftFileExporter, DrainerAndHelperWorkAtTheSameTime) {
  const TempPath path(".weft");
  Recording recording(path.str(), 1u << 20);
  const SiteId site = recording.catalog().add_site(SiteKind::kSpan, "s");
  SlotBuilder slots(recording.catalog().add_thread("main", 1));
  std::atomic<bool> stop{false};
  std::thread helper([&] {
    while (!stop.load()) {
      if (!recording.exporter().work()) std::this_thread::yield();
      recording.exporter().status();
    }
  });
  for (int pass = 0; pass < 300; ++pass) {
    add_many_spans(&slots, site, 100 + slots.position() * 3000, 500);
    recording.add(slots);
    recording.exporter().settle(pass * 1'000'000);
  }
  stop.store(true);
  helper.join();
  recording.close();
  auto reader = TraceReader::open(path.str());
  ASSERT_TRUE(reader);
  EXPECT_EQ(test::words(check_trace(*reader)), "");
}

}  // namespace
}  // namespace weft::exporters
