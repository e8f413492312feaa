// SPDX-License-Identifier: Apache-2.0
#include "weft/export/trace_reader.h"
#include "weft/internal/packed_text.h"

#include <gtest/gtest.h>

#include <array>
#include <algorithm>
#include <string>
#include <vector>

#include "checksum.h"
#include "export/weft_file.h"
#include "file_format.h"
#include "items.h"
#include "varint.h"

namespace weft::exporters {
namespace {

using test::Bytes;
using test::Recording;
using test::SlotBuilder;
using test::TempPath;

// One line a record: equal texts mean equal traces.
std::vector<std::string> records_of(TraceReader& reader) {
  std::vector<std::string> lines;
  DecodedRecord record;
  reader.rewind();
  while (reader.next(&record)) {
    std::string line =
        std::to_string(static_cast<std::uint32_t>(record.thread)) + " " +
        std::to_string(record.position) + " " +
        std::to_string(static_cast<unsigned>(record.kind)) + " " +
        std::to_string(record.flags) + " " + std::to_string(record.tick) + " " +
        std::string(reader.info().name_of(record)) + " " +
        std::to_string(record.target);
    for (std::uint32_t i = 0; i < record.value_count; ++i) {
      line += " " + std::to_string(record.values[i].bits);
      line += record.values[i].text;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

// Offsets of the blocks, and the end of the last.
std::vector<std::size_t> block_offsets(const Bytes& bytes) {
  std::vector<std::size_t> offsets;
  std::size_t at = sizeof(FileHeader);
  while (at + sizeof(BlockHeader) <= bytes.size()) {
    offsets.push_back(at);
    at += sizeof(BlockHeader) +
          load<BlockHeader>(bytes.data() + at).content_bytes;
  }
  offsets.push_back(at);
  return offsets;
}

// Writes the checksums of every block anew, after a test changed something.
void reseal(Bytes* bytes) {
  for (const std::size_t at : block_offsets(*bytes)) {
    if (at + sizeof(BlockHeader) > bytes->size()) break;
    auto header = load<BlockHeader>(bytes->data() + at);
    if (header.magic != kBlockMagic) break;
    header.content_hash = checksum(bytes->data() + at + sizeof header,
                                   header.content_bytes);
    header.header_hash = checksum(&header, offsetof(BlockHeader, header_hash));
    store(bytes->data() + at, header);
  }
}

TraceReader open(const Bytes& bytes) {
  auto reader = TraceReader::open_bytes(bytes.data(), bytes.size());
  EXPECT_TRUE(reader) << reader.error().message;
  return std::move(*reader);
}

TraceReader open(Bytes&& bytes) = delete;  // they must outlive the reader

TEST(TraceReader, ASmallTraceIsWholeAndConsistent) {
  const Bytes bytes = test::small_trace();
  TraceReader reader = open(bytes);
  EXPECT_EQ(test::words(check_trace(reader)), "");
  EXPECT_EQ(records_of(reader).size(), 36u);
  EXPECT_EQ(reader.info().losses.size(), 1u);
}

// Through blocks and back: texts that were packed come out as any other.
TEST(TraceReader, PackedTextIsText) {
  const TempPath path(".weft");
  const std::string inputs = "float[64,3,224,224] {int64[7] double[]} x (1,1)";
  std::array<std::uint8_t, 64> packed;
  const std::size_t size =
      internal::pack_text(inputs, packed.data(), packed.size());
  ASSERT_GT(size, 12u);
  {
    Recording recording(path.str(), 1u << 20);
    const SiteId site =
        recording.catalog().add_site(SiteKind::kInstant, "site", "category",
                                     {{"inputs", RecordKind::kText},
                                      {"next", RecordKind::kInt64}});
    SlotBuilder slots(recording.catalog().add_thread("main", 1));
    slots.instant(100, site);
    slots.packed_text(0, {reinterpret_cast<const char*>(packed.data()), size});
    slots.int64(1, -7);
    // Cut: as far as it goes, and known to be cut.
    slots.instant(110, site);
    slots.more(RecordKind::kPackedText, 0, 0x2222'2222'2222'2222, 200);
    recording.add(slots);
    recording.close();
  }
  Result<TraceReader> reader = TraceReader::open(path.str());
  ASSERT_TRUE(reader.ok());
  DecodedRecord record;
  ASSERT_TRUE(reader->next(&record));
  ASSERT_EQ(record.value_count, 2u);
  EXPECT_EQ(record.values[0].type, RecordKind::kText);
  EXPECT_EQ(record.values[0].text, inputs);
  EXPECT_EQ(record.values[0].text_length, inputs.size());
  EXPECT_EQ(record.values[1].bits, static_cast<std::uint64_t>(-7));
  ASSERT_TRUE(reader->next(&record));
  ASSERT_EQ(record.value_count, 1u);
  EXPECT_EQ(record.values[0].text, "222222222222222200000000");
  EXPECT_GT(record.values[0].text_length, record.values[0].text.size());
  EXPECT_FALSE(reader->next(&record));
}

TEST(TraceReader, RewindGivesTheSameRecordsAgain) {
  const Bytes bytes = test::small_trace();
  TraceReader reader = open(bytes);
  const auto first = records_of(reader);
  EXPECT_EQ(records_of(reader), first);
  EXPECT_EQ(reader.progress(), 1);
}

TEST(TraceReader, AFileCutAtAnyByteReadsUpToItsLastWholeBlock) {
  const Bytes whole = test::small_trace();
  TraceReader reference = open(whole);
  const auto all = records_of(reference);
  const auto offsets = block_offsets(whole);
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    const Bytes bytes(whole.begin(),
                      whole.begin() + static_cast<std::ptrdiff_t>(cut));
    auto reader = TraceReader::open_bytes(bytes.data(), bytes.size());
    if (cut < sizeof(FileHeader)) {
      EXPECT_FALSE(reader);
      continue;
    }
    ASSERT_TRUE(reader) << reader.error().message;
    std::size_t expected = 0;
    for (std::size_t i = 0; i + 1 < offsets.size() && offsets[i + 1] <= cut; ++i)
      expected += load<BlockHeader>(whole.data() + offsets[i]).records;
    const auto records = records_of(*reader);
    ASSERT_EQ(records.size(), expected) << "cut at " << cut;
    ASSERT_TRUE(std::equal(records.begin(), records.end(), all.begin()));
    // Only the index is behind the block that says "the end".
    ASSERT_EQ(reader->info().complete, cut >= offsets[offsets.size() - 2]);
  }
}

TEST(TraceReader, AChangedByteIsFoundOrChangesNothing) {
  const Bytes whole = test::small_trace();
  TraceReader reference = open(whole);
  const auto all = records_of(reference);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const unsigned mask : {0x01u, 0x80u, 0xffu}) {
      Bytes bytes = whole;
      bytes[at] ^= static_cast<std::uint8_t>(mask);
      auto reader = TraceReader::open_bytes(bytes.data(), bytes.size());
      if (!reader) continue;
      if (reader->info().problems.empty())
        ASSERT_EQ(records_of(*reader), all) << "byte " << at;
      else
        records_of(*reader);
      check_trace(*reader);
    }
  }
}

TEST(TraceReader, ADamagedBlockCostsOnlyItself) {
  Bytes bytes = test::small_trace();
  const auto offsets = block_offsets(bytes);
  TraceReader reference = open(bytes);
  const auto all = records_of(reference).size();
  for (std::size_t i = 0; i + 3 < offsets.size(); ++i) {
    for (const std::size_t inside : {std::size_t{3}, sizeof(BlockHeader) + 1}) {
      Bytes damaged = bytes;
      damaged[offsets[i] + inside] ^= 0x10;
      TraceReader reader = open(damaged);
      EXPECT_EQ(records_of(reader).size(),
                all - load<BlockHeader>(bytes.data() + offsets[i]).records);
      EXPECT_EQ(reader.info().problems.size(), 1u)
          << test::words(reader.info().problems);
      EXPECT_EQ(reader.info().problems[0].offset, offsets[i]);
      EXPECT_FALSE(check_trace(reader).empty());
    }
  }
}

TEST(TraceReader, ANewerMajorVersionIsRefusedInWords) {
  Bytes bytes = test::small_trace();
  bytes[8] = 2;
  const auto reader = TraceReader::open_bytes(bytes.data(), bytes.size());
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(reader.error().message,
            "the bytes given: has format version 2.0 (offset 8); this reads "
            "versions 1.x");
}

TEST(TraceReader, WhatIsNoWeftFileIsRefusedInWords) {
  const Bytes bytes(100, 'x');
  const auto reader = TraceReader::open_bytes(bytes.data(), bytes.size());
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, ErrorCode::kCorrupt);
  EXPECT_FALSE(TraceReader::open("/dev/null"));
  EXPECT_FALSE(TraceReader::open("/nonexistent/file.weft"));
}

// A file whose only block holds `items`.
Bytes file_with(const std::vector<std::pair<unsigned, Bytes>>& items) {
  Bytes memory(kMaxBlockBytes);
  BlockEncoder block;
  block.start(memory.data(), memory.size());
  for (const auto& [kind, body] : items) {
    std::uint8_t* to =
        block.begin_item(static_cast<ItemKind>(kind), body.size());
    std::copy(body.begin(), body.end(), to);
    block.end_item(to + body.size());
  }
  const std::size_t size = block.finish(0);
  Bytes file(sizeof(FileHeader) + size);
  store(file.data(), FileHeader{kFileMagic, kMajorVersion, kMinorVersion, 0});
  std::copy_n(memory.begin(), size, file.begin() + sizeof(FileHeader));
  return file;
}

TEST(TraceReader, ItemsOfTheFutureAreLeftOutAndCounted) {
  const Bytes reader_file = file_with({{200, {1, 2, 3}}, {201, {}}});
  TraceReader reader = open(reader_file);
  EXPECT_EQ(reader.info().unknown_items, 2u);
  EXPECT_EQ(test::words(reader.info().problems), "");
}

TEST(TraceReader, FieldsOfTheFutureAreLeftOut) {
  // An empty string with id 1, and a field this version does not know.
  const Bytes reader_file = file_with({{1, {1 << 1 | 1, 1, 1, 0xaa}}});
  TraceReader reader = open(reader_file);
  EXPECT_EQ(reader.info().strings.size(), 2u);
  EXPECT_EQ(test::words(reader.info().problems), "");
}

// Memory must follow what is there, not what is claimed.
TEST(TraceReader, ClaimsBeyondTheFileAreRefused) {
  Bytes huge_id(16);
  std::uint8_t* end = put_varint(huge_id.data(), 0xfffffff0);
  huge_id.resize(static_cast<std::size_t>(end - huge_id.data()) + 2);
  huge_id[huge_id.size() - 2] = huge_id[huge_id.size() - 1] = 1;
  const Bytes ids_file = file_with({{1, huge_id}});
  TraceReader ids = open(ids_file);
  EXPECT_EQ(ids.info().problems.size(), 1u);
  EXPECT_EQ(ids.info().strings.size(), 1u);

  Bytes huge_text(32);
  end = put_varint(huge_text.data(), 1);
  end = put_varint(end, 1ull << 60);
  end = put_varint(end, 1ull << 60);
  const Bytes texts_file = file_with({{1, huge_text}});
  TraceReader texts = open(texts_file);
  EXPECT_EQ(texts.info().problems.size(), 1u);

  Bytes huge_run(32);
  end = put_varint(huge_run.data(), 1ull << 31);  // slots
  const Bytes runs_file = file_with({{7, huge_run}});
  TraceReader runs = open(runs_file);
  EXPECT_TRUE(records_of(runs).empty());
  EXPECT_EQ(runs.info().problems.size(), 1u);

  Bytes overflow(32);
  end = put_varint(overflow.data(), 2);               // slots
  end = put_varint(end, 1);                           // thread
  end = put_varint(end, (~std::uint64_t{0} - 1));     // position 2^63 - 1
  const Bytes positions_file = file_with({{7, overflow}});
  TraceReader positions = open(positions_file);
  EXPECT_TRUE(records_of(positions).empty());
  EXPECT_EQ(positions.info().problems.size(), 1u);
}

TEST(TraceReader, EndsKnowTheirBeginsInAnyOrder) {
  const TempPath path(".weft");
  Recording recording(path.str());
  const SiteId site = recording.catalog().add_site(SiteKind::kSpan, "s");
  SlotBuilder slots(recording.catalog().add_thread("t", 1),
                    (1ull << 32) - 2);
  const auto a = slots.begin(1, site);
  const auto b = slots.begin(2, site);
  const auto c = slots.begin(3, site);
  slots.end(4, b);
  slots.late_argument(5, a, StringId{1}, 7);
  slots.end(6, a);
  slots.end(7, c);
  slots.end(8, a);  // once more: not open any longer
  slots.end(9, test::OpenSpan{77, site});
  recording.add(slots);
  recording.close();
  auto reader = TraceReader::open(path.str());
  ASSERT_TRUE(reader);
  DecodedRecord record;
  std::vector<std::uint64_t> targets;
  while (reader->next(&record)) {
    if (record.kind != RecordKind::kSpanBegin) targets.push_back(record.target);
  }
  EXPECT_EQ(targets, (std::vector<std::uint64_t>{
                         b.position, a.position, a.position, c.position,
                         kUnknownPosition, kUnknownPosition}));
}

TEST(TraceReader, ARecordWithoutTheValueItNeedsIsLeftOut) {
  const TempPath path(".weft");
  Recording recording(path.str());
  const SiteId site = recording.catalog().add_site(SiteKind::kCounter, "c");
  SlotBuilder slots(recording.catalog().add_thread("t", 1));
  slots.head(RecordKind::kCounter, 1, static_cast<std::uint32_t>(site));
  slots.head(RecordKind::kFlowOut, 2, static_cast<std::uint32_t>(site));
  slots.counter(3, site, 1.0);
  recording.add(slots);
  recording.close();
  auto reader = TraceReader::open(path.str());
  ASSERT_TRUE(reader);
  EXPECT_EQ(records_of(*reader).size(), 1u);
  EXPECT_NE(test::words(check_trace(*reader)).find("lack their value"),
            std::string::npos);
}

TEST(CheckTrace, AGapWithoutALossIsAProblem) {
  for (const bool told : {false, true}) {
    const TempPath path(".weft");
    Recording recording(path.str());
    const SiteId site = recording.catalog().add_site(SiteKind::kInstant, "i");
    SlotBuilder slots(recording.catalog().add_thread("t", 1));
    slots.instant(1, site);
    recording.add(slots);
    slots.jump(10);
    if (told) {
      recording.lose(
          {ThreadIndex{1}, slots.position(), 10, DropReason::kSlowSink});
    }
    slots.instant(2, site);
    recording.add(slots);
    recording.close();
    auto reader = TraceReader::open(path.str());
    ASSERT_TRUE(reader);
    const std::string problems = test::words(check_trace(*reader));
    if (told) {
      EXPECT_EQ(problems, "");
    } else {
      EXPECT_NE(problems.find("thread 1: positions 1 to 10 are missing, and no "
                              "loss says why"),
                std::string::npos)
          << problems;
    }
  }
}

TEST(CheckTrace, ThreadsSitesAndStringsMustBeDefined) {
  const TempPath path(".weft");
  Recording recording(path.str());
  SlotBuilder slots(ThreadIndex{9});
  slots.instant(1, SiteId{70}, StringId{80});
  recording.add(slots);
  recording.close();
  auto reader = TraceReader::open(path.str());
  ASSERT_TRUE(reader);
  const std::string problems = test::words(check_trace(*reader));
  for (const char* what : {"thread 9 is never defined",
                           "site 70 is never defined",
                           "string 80 is never defined"})
    EXPECT_NE(problems.find(what), std::string::npos) << problems;
}

TEST(CheckTrace, TimeOfAThreadMustNotGoBack) {
  const TempPath path(".weft");
  Recording recording(path.str());
  const SiteId site = recording.catalog().add_site(SiteKind::kInstant, "i");
  SlotBuilder slots(recording.catalog().add_thread("t", 1));
  slots.instant(50, site);
  slots.instant(40, site);
  recording.add(slots);
  recording.close();
  auto reader = TraceReader::open(path.str());
  ASSERT_TRUE(reader);
  EXPECT_NE(test::words(check_trace(*reader))
                .find("thread 1 goes back from tick 50 to 40"),
            std::string::npos);
}

TEST(CheckTrace, AccountsMustAddUp) {
  const TempPath path(".weft");
  Recording recording(path.str());
  recording.end().delivered = 3;
  recording.end().dropped[1] = 2;
  recording.close();
  auto reader = TraceReader::open(path.str());
  ASSERT_TRUE(reader);
  const std::string problems = test::words(check_trace(*reader));
  EXPECT_NE(problems.find("the end tells of 3 records; 0 are here"),
            std::string::npos);
  EXPECT_NE(problems.find("the end tells of 2 drops for reason 1, the losses of 0"),
            std::string::npos);
}

// Marks are weft's own: a trace that tells of its losses is not inconsistent.
TEST(CheckTrace, LossMarksAreNoRecords) {
  const TempPath path(".weft");
  Recording recording(path.str());
  SlotBuilder slots(recording.catalog().add_thread("main", 1));
  slots.loss(10, DropReason::kRingFull, 7);
  ASSERT_TRUE(recording.add(slots));
  recording.end().delivered = 0;
  recording.end().dropped[static_cast<std::size_t>(DropReason::kRingFull)] = 7;
  recording.close();
  auto reader = TraceReader::open(path.str());
  ASSERT_TRUE(reader);
  EXPECT_EQ(test::words(check_trace(*reader)), "");
}

TEST(CheckTrace, AMissingBlockIsAProblem) {
  Bytes bytes = test::small_trace();
  const auto offsets = block_offsets(bytes);
  bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(offsets[1]),
              bytes.begin() + static_cast<std::ptrdiff_t>(offsets[2]));
  TraceReader reader = open(bytes);
  EXPECT_NE(test::words(check_trace(reader)).find("blocks 1 to 1 are missing"),
            std::string::npos);
}

TEST(CheckTrace, ALyingBlockHeaderIsAProblem) {
  Bytes bytes = test::small_trace();
  bytes[sizeof(FileHeader) + offsetof(BlockHeader, records)] ^= 1;
  reseal(&bytes);
  TraceReader reader = open(bytes);
  EXPECT_NE(test::words(check_trace(reader)).find("the block claims"),
            std::string::npos);
}

// What a crash leaves must become a file that every tool takes, with nothing
// lost but the block that was being written.
TEST(K4_03, ACutFileIsRepairedAtAnyByte) {
  const Bytes whole = test::small_trace();
  const auto offsets = block_offsets(whole);
  TraceReader reference = open(whole);
  const auto all = records_of(reference);
  for (std::size_t cut = sizeof(FileHeader); cut <= whole.size(); cut += 7) {
    const TempPath from(".weft");
    const TempPath to(".weft");
    test::write_file(from.str(),
                     Bytes(whole.begin(),
                           whole.begin() + static_cast<std::ptrdiff_t>(cut)));
    const auto records = repair_trace(from.str(), to.str());
    if (cut < offsets[1]) {
      EXPECT_FALSE(records);
      continue;
    }
    ASSERT_TRUE(records) << records.error().message;
    auto reader = TraceReader::open(to.str());
    ASSERT_TRUE(reader);
    EXPECT_TRUE(reader->info().complete);
    ASSERT_EQ(test::words(check_trace(*reader)), "") << "cut at " << cut;
    const auto repaired = records_of(*reader);
    EXPECT_EQ(repaired.size(), *records);
    EXPECT_TRUE(std::equal(repaired.begin(), repaired.end(), all.begin()));
  }
}

TEST(K4_03, ADamagedFileIsRepairedAndTellsWhatItLacks) {
  Bytes bytes = test::small_trace();
  const auto offsets = block_offsets(bytes);
  bytes[offsets[1] + sizeof(BlockHeader) + 5] ^= 1;
  const auto lost = load<BlockHeader>(bytes.data() + offsets[1]).records;
  const TempPath from(".weft");
  const TempPath to(".weft");
  test::write_file(from.str(), bytes);
  const auto records = repair_trace(from.str(), to.str());
  ASSERT_TRUE(records) << records.error().message;
  auto reader = TraceReader::open(to.str());
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->info().lost_blocks, 1u);
  EXPECT_EQ(reader->info().lost_records, lost);
  EXPECT_EQ(reader->info().end.reason, "stop");
  EXPECT_EQ(test::words(check_trace(*reader)), "");
}

TEST(K4_03, AFileIsNotRepairedIntoItself) {
  const TempPath path(".weft");
  const Bytes bytes = test::small_trace();
  test::write_file(path.str(), bytes);
  const auto result = repair_trace(path.str(), path.str());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(test::read_file(path.str()), bytes);
}

// Ticks beyond what doubles or 48 bits hold, through the whole file.
TEST(K1_02, TicksInTheFileAreExact) {
  for (const unsigned bits : {47u, 53u, 62u}) {
    const TempPath path(".weft");
    Recording recording(path.str());
    const SiteId site = recording.catalog().add_site(SiteKind::kSpan, "s");
    SlotBuilder slots(recording.catalog().add_thread("t", 1));
    Ticks tick = (Ticks{1} << bits) - 4;
    for (int i = 0; i < 4; ++i) {
      slots.instant(tick++, site);
      slots.end(tick + 1, slots.begin(tick, site));
      tick += 2;
      recording.add(slots);
    }
    recording.close();
    auto reader = TraceReader::open(path.str());
    ASSERT_TRUE(reader);
    EXPECT_EQ(test::words(check_trace(*reader)), "");
    DecodedRecord record;
    Ticks expected = (Ticks{1} << bits) - 4;
    while (reader->next(&record)) EXPECT_EQ(record.tick, expected++);
    EXPECT_EQ(expected, tick);
  }
}

}  // namespace
}  // namespace weft::exporters
