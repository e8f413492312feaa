// SPDX-License-Identifier: Apache-2.0
#include "newest_records.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "runtime/collection.h"
#include "weft/weft.h"

namespace weft::test {
namespace {

SubscriptionOptions newest(std::uint64_t records) {
  SubscriptionOptions options;
  options.limits.records = records;
  options.limits.policy = LimitPolicy::kKeepNewest;
  return options;
}

// The values of a thread's instants, in order.
std::vector<std::uint64_t> values_of(const CollectingExporter& collected) {
  std::vector<std::uint64_t> values;
  for (const auto& [index, thread] : collected.threads())
    for (const auto& record : thread.records)
      values.push_back(record.values.at(0).word1);
  return values;
}

// A session that stops taking records when it is full is blind to what happened
// just before somebody looked.
TEST(K2_05, TheNewestRecordsAreKeptAndTheOthersCounted) {
  std::atomic<int> calls{0};
  SubscriptionOptions options = newest(1000);
  options.limits.on_reached = [&](std::string_view) { ++calls; };
  Collection collection(std::move(options));
  ASSERT_TRUE(thread_init().ok());
  for (std::uint64_t i = 0; i < 5000; ++i) WEFT_INSTANT("kept", {"i", i});
  const CollectingExporter& collected = collection.stop();

  const std::vector<std::uint64_t> values = values_of(collected);
  ASSERT_EQ(values.size(), 1000u);
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(values[i], 4000 + i);
  EXPECT_EQ(collected.result().delivered, 1000u);
  EXPECT_EQ(collected.dropped(), 4000u);
  EXPECT_EQ(
      collected.result().dropped[static_cast<std::size_t>(DropReason::kLimit)],
      4000u);
  EXPECT_LE(calls, 1);  // posted to the helper, at most once
}

TEST(K2_05, FewerThanTheLimitAreAllKept) {
  Collection collection(newest(1000));
  for (std::uint64_t i = 0; i < 10; ++i) WEFT_INSTANT("few", {"i", i});
  EXPECT_EQ(values_of(collection.stop()).size(), 10u);
}

// The unit itself, on runs made by hand: one instant of one slot each.
class Newest : public testing::Test {
 protected:
  weft::Run run(std::uint64_t position, const std::vector<Ticks>& ticks) {
    slots_.clear();
    for (const Ticks tick : ticks)
      slots_.push_back({head_word(RecordKind::kInstant, 0, tick), 1});
    weft::Run made;
    made.thread = ThreadIndex{1};
    made.position = position;
    made.first = slots_.data();
    made.first_count = static_cast<std::uint32_t>(slots_.size());
    made.reference = 1'000'000;
    return made;
  }

  std::vector<Slot> slots_;
};

TEST_F(Newest, AnAgeLimitDropsWhatIsOlder) {
  Limits limits;
  limits.duration = std::chrono::nanoseconds(100);
  NewestRecords kept(limits, 1.0);
  EXPECT_EQ(kept.add(run(0, {1000, 1050, 1090}), 3), 0u);
  EXPECT_EQ(kept.add(run(3, {1160}), 1), 2u);  // 1000 and 1050 are too old
  CollectingExporter out;
  EXPECT_EQ(kept.release_to(out), 0u);
  EXPECT_EQ(out.heads(), 2u);
}

TEST_F(Newest, ABytesLimitCountsSlots) {
  Limits limits;
  limits.bytes = 4 * sizeof(Slot);
  NewestRecords kept(limits, 1.0);
  EXPECT_EQ(kept.add(run(0, {1, 2, 3}), 3), 0u);
  EXPECT_EQ(kept.add(run(3, {4, 5, 6}), 3), 2u);
}

TEST_F(Newest, ARefusingExporterIsCounted) {
  NewestRecords kept(Limits(), 1.0);
  kept.add(run(0, {1, 2, 3}), 3);
  CollectingExporter out;
  out.refuse(true);
  EXPECT_EQ(kept.release_to(out), 3u);
  EXPECT_EQ(out.told(DropReason::kSlowSink), 3u);
}

}  // namespace
}  // namespace weft::test
