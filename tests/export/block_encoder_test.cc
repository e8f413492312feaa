// SPDX-License-Identifier: Apache-2.0
#include "block_encoder.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "export/slot_builder.h"
#include "run_decoder.h"

namespace weft::exporters {
namespace {

using test::OpenSpan;
using test::SlotBuilder;

constexpr SiteId kSite{3};
constexpr ThreadIndex kThread{7};

struct Decoded {
  ThreadIndex thread;
  PlacedSlot placed;
};

// The blocks of a test, in memory.
class Blocks {
 public:
  explicit Blocks(std::size_t block_bytes = kMaxBlockBytes)
      : memory_(block_bytes) {
    encoder_.start(memory_.data(), memory_.size());
  }

  BlockEncoder& encoder() { return encoder_; }

  void add(const Run& run) {
    std::uint32_t done = 0;
    while (!encoder_.encode(run, &done)) finish();
  }

  void finish() {
    const std::size_t bytes = encoder_.finish(blocks_.size());
    blocks_.emplace_back(memory_.begin(),
                         memory_.begin() + static_cast<std::ptrdiff_t>(bytes));
    // What a block says must not depend on what lay in its memory.
    std::fill(memory_.begin(), memory_.end(), std::uint8_t{0xa5});
    encoder_.start(memory_.data(), memory_.size());
  }

  std::vector<std::vector<std::uint8_t>>& blocks() { return blocks_; }

  std::vector<Decoded> decode() {
    if (!encoder_.empty()) finish();
    std::vector<Decoded> all;
    runs_ = 0;
    for (const auto& block : blocks_) {
      const auto header = load<BlockHeader>(block.data());
      EXPECT_EQ(block.size(), sizeof header + header.content_bytes);
      ByteReader content(block.data() + sizeof header,
                         block.data() + block.size());
      std::uint32_t records = 0;
      std::uint32_t slots = 0;
      Ticks base = 0;
      while (!content.at_end()) {
        EXPECT_EQ(content.fixed<std::uint8_t>(),
                  static_cast<std::uint8_t>(ItemKind::kRun));
        const std::size_t length = content.varint();
        const std::uint8_t* body = content.take(length);
        if (body == nullptr) {
          ADD_FAILURE() << "an item longer than its block";
          return all;
        }
        RunDecoder run(body, length, &base);
        ++runs_;
        Decoded next{run.thread(), {}};
        while (run.next(&next.placed)) {
          all.push_back(next);
          ++slots;
          if (is_continuation(next.placed.slot)) continue;
          ++records;
          EXPECT_LE(header.first_tick, next.placed.tick);
          EXPECT_GE(header.last_tick, next.placed.tick);
        }
        EXPECT_EQ(run.malformed(), nullptr) << run.malformed();
      }
      EXPECT_EQ(header.records, records);
      EXPECT_EQ(header.slots, slots);
    }
    return all;
  }

  std::size_t runs() const { return runs_; }

 private:
  std::vector<std::uint8_t> memory_;
  BlockEncoder encoder_;
  std::vector<std::vector<std::uint8_t>> blocks_;
  std::size_t runs_ = 0;
};

void expect_same(const std::vector<Decoded>& decoded, const Run& run,
                 std::size_t from = 0) {
  const std::size_t total = run.first_count + run.second_count;
  ASSERT_GE(decoded.size(), from + total);
  for (std::size_t i = 0; i < total; ++i) {
    const Slot& wanted = i < run.first_count ? run.first[i]
                                             : run.second[i - run.first_count];
    const Decoded& got = decoded[from + i];
    ASSERT_EQ(got.thread, run.thread) << "slot " << i;
    ASSERT_EQ(got.placed.position, run.position + i) << "slot " << i;
    ASSERT_EQ(got.placed.slot.word0, wanted.word0) << "slot " << i;
    ASSERT_EQ(got.placed.slot.word1, wanted.word1) << "slot " << i;
    if (!is_continuation(wanted)) {
      ASSERT_EQ(got.placed.tick,
                unwrap_tick(payload_of(wanted), run.reference))
          << "slot " << i;
    }
  }
}

void expect_round_trip(const SlotBuilder& slots) {
  for (const std::size_t wrap : {slots.slots().size(), std::size_t{1}}) {
    Blocks blocks;
    const Run run = slots.run(0, wrap);
    blocks.add(run);
    const auto decoded = blocks.decode();
    ASSERT_EQ(decoded.size(), slots.slots().size());
    expect_same(decoded, run);
  }
}

TEST(BlockEncoder, EveryKindOfRecordComesBackBitForBit) {
  SlotBuilder slots(kThread, 1000);
  const OpenSpan outer = slots.begin(5000, kSite);
  slots.int64(0, -42);
  slots.uint64(1, ~std::uint64_t{0});
  slots.real(2, 2.5);
  slots.boolean(3, true);
  slots.string_id(4, StringId{9});
  slots.text(5, "a text that needs more than one slot");
  slots.text(6, "", 0);
  slots.text(7, "cut", 1 << 20);
  slots.instant(5001, kSite, StringId{77});
  slots.counter(5002, SiteId{200}, -0.0);
  slots.flow_out(5003, kSite, 1ull << 63, kFlagGlobal);
  slots.flow_in(5004, kSite, 5);
  slots.async_end(5006, kSite, slots.async_begin(5005, kSite));
  slots.late_argument(5007, outer, StringId{4}, 12);
  slots.failure(5008, outer, StringId{5});
  slots.context(5009, {});
  slots.context(5010, {1, 2});
  slots.step(5011, kSite, 3);
  slots.launch(5012, 100, 200);
  slots.launch(5013, 100, 1ull << 40);
  slots.loss(5014, DropReason::kRingFull, 99);
  slots.clock_change(5015);
  slots.end(5016, outer);
  expect_round_trip(slots);
}

TEST(BlockEncoder, KindsOfTheFutureComeBackBitForBit) {
  SlotBuilder slots(kThread);
  for (unsigned kind = 0; kind < 256; ++kind) {
    const auto number = static_cast<RecordKind>(kind);
    if (kind < kContinuationBit) {
      slots.head(number, 100 + kind, 0xfedcba9876543210, 0xff);
    } else {
      slots.more(number, 200, 0xfedcba9876543210, 0xabcdefabcdef);
      slots.more(number, 0, 0, 0);
    }
  }
  expect_round_trip(slots);
}

TEST(BlockEncoder, TicksThatGoBackwardsAreKept) {
  SlotBuilder slots(kThread);
  const OpenSpan span = slots.begin(1000, kSite);
  slots.end(990, span);
  const OpenSpan leaf = slots.begin(985, kSite);
  slots.end(2000, leaf);
  slots.instant(0, kSite);
  slots.instant(Ticks{1} << 47, kSite);
  slots.instant(1, kSite);
  expect_round_trip(slots);
}

// Worked out by hand from FORMAT.md, so that neither side can drift with the
// other: files of today must be read for ever.
TEST(BlockEncoder, OneSpanIsTheBytesThatTheFormatSays) {
  SlotBuilder slots(kThread, 1000);
  slots.end(5010, slots.begin(5000, kSite));
  Blocks blocks;
  blocks.add(slots.run());
  blocks.finish();
  const std::vector<std::uint8_t> content(
      blocks.blocks()[0].begin() + sizeof(BlockHeader),
      blocks.blocks()[0].end());
  EXPECT_EQ(content, (std::vector<std::uint8_t>{
                         7, 11 << 1 | 1,  // a run of 11 bytes
                         2 << 1 | 1,      // slots
                         7 << 1 | 1,      // thread
                         0x42, 0x1f,      // position 1000, rotated: 2000
                         1,               // none skipped
                         0x42, 0x9c,      // tick 5000, zigzag: 10000
                         0,               // flags
                         2 << 1 | 1,      // leaf, 0 ticks later
                         3 << 1 | 1,      // site
                         10 << 1 | 1}));  // duration
}

// Where a field of 47, 48, 53 or 62 bits would overflow.
TEST(K1_02, AllKindsKeepOrderAndExactDifferenceAroundPowersOfTwo) {
  for (const unsigned bits : {47u, 48u, 53u, 62u, 63u}) {
    SlotBuilder slots(kThread);
    Ticks tick = (Ticks{1} << bits) - 5;
    for (int i = 0; i < 10; ++i) {
      const OpenSpan span = slots.begin(tick++, kSite);
      slots.instant(tick++, kSite);
      slots.counter(tick++, kSite, 1);
      slots.flow_out(tick++, kSite, 1);
      slots.step(tick++, kSite, 1);
      slots.end(tick++, span);
    }
    Blocks blocks;
    blocks.add(slots.run());
    const auto decoded = blocks.decode();
    expect_same(decoded, slots.run());
    Ticks expected = (Ticks{1} << bits) - 5;
    for (const Decoded& slot : decoded) {
      if (!is_continuation(slot.placed.slot)) {
        EXPECT_EQ(slot.placed.tick, expected++);
      }
    }
  }
}

TEST(BlockEncoder, EndsFindTheirBeginsAtAnyDepthAndInAnyOrder) {
  SlotBuilder slots(kThread, (1ull << 32) - 100);  // positions cross 2^32
  std::vector<OpenSpan> open;
  Ticks tick = 1;
  for (int i = 0; i < 200; ++i) open.push_back(slots.begin(tick++, kSite));
  while (open.size() > 100) {
    slots.end(tick++, open.back());
    open.pop_back();
  }
  slots.end(tick++, open[10]);          // out of order
  slots.end(tick++, OpenSpan{5, kSite});  // its begin is not here
  slots.end(tick++, OpenSpan{0, SiteId::kNone});
  while (!open.empty()) {
    slots.end(tick++, open.back());
    open.pop_back();
  }
  expect_round_trip(slots);
}

TEST(BlockEncoder, ConsecutiveRunsOfOneThreadAreOneRun) {
  Blocks blocks;
  SlotBuilder slots(kThread);
  std::vector<Slot> all;
  Ticks tick = 1;
  for (int pass = 0; pass < 10; ++pass) {
    const OpenSpan span = slots.begin(tick++, kSite);
    slots.end(tick++, span);
    blocks.add(slots.run());
    slots.drained();
  }
  EXPECT_EQ(blocks.decode().size(), 20u);
  EXPECT_EQ(blocks.runs(), 1u);
}

TEST(BlockEncoder, FilteredSlotsLeaveTheirPositionsOut) {
  Blocks blocks;
  SlotBuilder slots(kThread);
  slots.instant(1, kSite);
  blocks.add(slots.run());
  slots.jump(40);
  slots.instant(2, kSite);
  blocks.add(slots.run(40));
  const auto decoded = blocks.decode();
  ASSERT_EQ(decoded.size(), 2u);
  EXPECT_EQ(decoded[1].placed.position, 41u);
  EXPECT_EQ(blocks.runs(), 1u);
}

TEST(BlockEncoder, RecordsAreNeverSplitBetweenBlocks) {
  SlotBuilder slots(kThread);
  Ticks tick = 1;
  for (int i = 0; i < 400; ++i) {
    slots.instant(tick += 1ull << 40, SiteId{1u << 31}, StringId{1u << 31});
    for (unsigned v = 0; v < kMaxRecordSlots - 1; ++v)
      slots.more(static_cast<RecordKind>(0xff), 200, ~0ull, kTickMask);
  }
  Blocks blocks(BlockEncoder::kMinBlockBytes);
  blocks.add(slots.run(0, 777));
  const auto decoded = blocks.decode();
  ASSERT_EQ(decoded.size(), slots.slots().size());
  expect_same(decoded, slots.run());
  EXPECT_GT(blocks.blocks().size(), 50u);
  for (const auto& block : blocks.blocks()) {
    EXPECT_EQ(load<BlockHeader>(block.data()).slots % kMaxRecordSlots, 0u);
  }
}

TEST(BlockEncoder, RewindForgetsExactlyWhatCameAfterTheMark) {
  Blocks blocks;
  SlotBuilder kept(kThread);
  kept.end(20, kept.begin(10, kSite));
  blocks.add(kept.run());
  const auto mark = blocks.encoder().mark();

  SlotBuilder dropped(ThreadIndex{8});
  dropped.end(2, dropped.begin(1, kSite));
  std::uint32_t done = 0;
  ASSERT_TRUE(blocks.encoder().encode(dropped.run(), &done));
  blocks.encoder().finish(5);
  blocks.encoder().rewind(mark);

  kept.drained();
  kept.instant(30, kSite);
  blocks.add(kept.run());
  const auto decoded = blocks.decode();
  ASSERT_EQ(decoded.size(), 3u);
  EXPECT_EQ(decoded[2].placed.tick, 30u);
}

// Streams of random slots: mostly well formed, with every kind of oddity.
class RandomSlots {
 public:
  explicit RandomSlots(std::uint64_t seed) : random_(seed) {}

  std::uint64_t number() { return random_(); }
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  // Small numbers often, any number sometimes.
  std::uint64_t skewed() { return random_() >> below(64); }

  Ticks next_tick() {
    if (below(20) == 0) return tick_ -= std::min(tick_, skewed() >> 20);
    return tick_ += skewed() >> (16 + below(32));
  }

  void record(SlotBuilder* slots) {
    const auto site = static_cast<SiteId>(
        below(20) == 0 ? skewed() : below(300));
    switch (below(12)) {
      case 0: case 1: case 2: case 3:
        open_.push_back(slots->begin(next_tick(), site));
        break;
      case 4: case 5: case 6: case 7:
        if (open_.empty()) break;
        slots->end(next_tick(), open_.back());
        open_.pop_back();
        break;
      case 8: {
        const OpenSpan leaf = slots->begin(next_tick(), site);
        slots->end(next_tick(), leaf);
        break;
      }
      case 9:
        slots->head(static_cast<RecordKind>(below(128)), next_tick(), number(),
                    static_cast<std::uint8_t>(number()));
        break;
      case 10:
        slots->end(next_tick(), OpenSpan{skewed(), site},
                   static_cast<std::uint8_t>(below(8)));
        break;
      default:
        open_.push_back(slots->begin(
            next_tick(), site, static_cast<StringId>(skewed()), kFlagClipped));
        break;
    }
    if (below(3) == 0 && slots->slots().size() > 0) {
      for (auto n = below(8); n > 0; --n) continuation(slots);
    }
  }

 private:
  void continuation(SlotBuilder* slots) {
    const auto index = static_cast<std::uint8_t>(below(9));
    switch (below(5)) {
      case 0:
        slots->more(static_cast<RecordKind>(128 + below(128)), index, number(),
                    number() >> 16);
        break;
      case 1:
        slots->text(index, std::string(below(60), 'x'));
        break;
      default:
        slots->more(static_cast<RecordKind>(0x81 + below(5)), index, skewed());
        break;
    }
  }

  std::mt19937_64 random_;
  Ticks tick_ = 1ull << 50;
  std::vector<OpenSpan> open_;
};

TEST(BlockEncoder, RandomStreamsComeBackBitForBit) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    RandomSlots random(seed);
    const std::size_t bytes =
        BlockEncoder::kMinBlockBytes + random.below(20'000);
    Blocks blocks(bytes);
    std::vector<SlotBuilder> threads;
    for (std::uint32_t t = 1; t <= 3; ++t)
      threads.emplace_back(ThreadIndex{t},
                           random.skewed() >> 2 |
                               (t == 3 ? kSidePosition : 0));
    std::vector<Decoded> expected;
    Ticks reference = 0;
    for (int pass = 0; pass < 40; ++pass) {
      SlotBuilder& slots = threads[random.below(threads.size())];
      for (auto n = random.below(60); n > 0; --n) random.record(&slots);
      if (slots.slots().empty() || is_continuation(slots.slots()[0])) continue;
      weft::Run run = slots.run(0, random.below(slots.slots().size() + 1));
      reference = run.reference = std::max(reference, run.reference);
      blocks.add(run);
      for (std::size_t i = 0; i < slots.slots().size(); ++i) {
        const Slot& slot = slots.slots()[i];
        expected.push_back(
            {run.thread,
             {slot, run.position + i,
              is_continuation(slot)
                  ? 0
                  : unwrap_tick(payload_of(slot), run.reference)}});
      }
      slots.jump(random.below(10) == 0 ? random.below(1000) : 0);
    }
    const auto decoded = blocks.decode();
    ASSERT_EQ(decoded.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const PlacedSlot& want = expected[i].placed;
      const PlacedSlot& got = decoded[i].placed;
      ASSERT_EQ(decoded[i].thread, expected[i].thread) << i;
      ASSERT_EQ(got.position, want.position) << i;
      ASSERT_EQ(got.slot.word0, want.slot.word0) << i;
      ASSERT_EQ(got.slot.word1, want.slot.word1) << i;
      if (!is_continuation(want.slot)) {
        ASSERT_EQ(got.tick, want.tick) << i;
      }
    }
  }
}

TEST(BlockEncoder, ASpanTakesAtMostEightBytesAndAnIntegerFourMore) {
  RandomSlots random(1);
  SlotBuilder plain(kThread);
  SlotBuilder with_argument(kThread);
  Ticks tick = 1ull << 45;
  constexpr std::uint64_t kSpans = 10'000;
  for (std::uint64_t i = 0; i < kSpans; ++i) {
    // 20 ns to 100 us at 2 GHz, evenly in the logarithm.
    const Ticks length = 40 + (random.below(200'000) >> random.below(12));
    const auto site = static_cast<SiteId>(1 + random.below(100));
    for (SlotBuilder* slots : {&plain, &with_argument}) {
      const OpenSpan span = slots->begin(tick, site);
      if (slots == &with_argument)
        slots->int64(0, static_cast<std::int64_t>(random.below(1'000'000) >>
                                                  random.below(20)));
      slots->end(tick + length, span);
    }
    tick += length + 40 + (random.below(200'000) >> random.below(12));
  }
  const auto bytes_of = [](const SlotBuilder& slots) {
    Blocks blocks;
    blocks.add(slots.run());
    blocks.finish();
    std::size_t bytes = 0;
    for (const auto& block : blocks.blocks()) bytes += block.size();
    return bytes;
  };
  const std::size_t bare = bytes_of(plain);
  EXPECT_LE(bare, 8 * kSpans);
  EXPECT_LE(bytes_of(with_argument), bare + 4 * kSpans);
}

}  // namespace
}  // namespace weft::exporters
