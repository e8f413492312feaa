// SPDX-License-Identifier: Apache-2.0
//
// Nothing is lost silently: calls = records delivered + records counted as
// dropped, exactly, whatever the drainer can keep up with.

#include <gtest/gtest.h>

#include <atomic>

#include "runtime/collection.h"
#include "runtime/scale.h"
#include "weft/instant.h"
#include "weft/session.h"
#include "weft/span.h"
#include "weft/status.h"

namespace weft::test {
namespace {

// Makes at least `count` calls, flat out; returns how many.
std::uint64_t record_flat_out(std::uint64_t count) {
  std::uint64_t calls = 0;
  while (calls < count) {
    WEFT_SPAN("outer");
    {
      WEFT_SPAN("inner", {"calls", calls});
      WEFT_INSTANT("instant", {"text", "long enough to take several slots"});
    }
    calls += 5;
  }
  return calls;
}

class Accounts : public testing::TestWithParam<unsigned> {};

TEST_P(Accounts, CallsAreDeliveredOrCounted) {
  const unsigned threads = GetParam();
  Collection collection(Collection::Keep::kCounts);
  std::atomic<std::uint64_t> calls{0};
  run_threads(threads, [&](unsigned) {
    calls += record_flat_out(scaled(2'000'000) / threads);
  });
  const CollectingExporter& all = collection.stop();
  EXPECT_EQ(calls, all.heads() + all.dropped());
  // Each loss of a ring is told where it happened: a mark in its stream, or at
  // the end of it.
  EXPECT_EQ(all.marked() + all.told(DropReason::kRingFull),
            all.result().dropped[static_cast<int>(DropReason::kRingFull)]);
}

INSTANTIATE_TEST_SUITE_P(Threads, Accounts, testing::Values(1u, 4u, 500u),
                         testing::PrintToStringParamName());

// What ended before belongs to an earlier account, what follows to a later one.
TEST(Accounts, OfTwoSessionsInARowAreApart) {
  for (int round = 0; round < 3; ++round) {
    Collection collection(Collection::Keep::kCounts);
    const std::uint64_t calls = record_flat_out(scaled(400'000));
    const CollectingExporter& all = collection.stop();
    EXPECT_EQ(calls, all.heads() + all.dropped()) << "round " << round;
  }
}

TEST(Accounts, OfTheSessionAreInItsStatus) {
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(init(InitOptions()).ok());
    const std::uint64_t calls = record_flat_out(scaled(400'000));
    ASSERT_TRUE(stop().ok());
    const RuntimeStatus now = status();
    EXPECT_EQ(calls, now.delivered + now.total_dropped()) << "round " << round;
    ASSERT_TRUE(shutdown().ok());
  }
}

TEST(Accounts, OfAnExporterThatRefusesAreCounted) {
  Collection collection(Collection::Keep::kCounts);
  collection.exporter().refuse(true);
  std::uint64_t calls = record_flat_out(scaled(100'000));
  // The drainer has surely met the refusal once it made another pass.
  const std::uint64_t passes = status().drain_passes;
  while (status().drain_passes < passes + 2) std::this_thread::yield();
  collection.exporter().refuse(false);
  calls += record_flat_out(scaled(100'000));
  const CollectingExporter& all = collection.stop();
  EXPECT_GT(all.told(DropReason::kSlowSink), 0u);
  EXPECT_GT(all.heads(), 0u);
  EXPECT_EQ(calls, all.heads() + all.dropped());
}

}  // namespace
}  // namespace weft::test
