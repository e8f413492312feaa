// SPDX-License-Identifier: Apache-2.0
//
// All threads together have 256 KiB of rings, so that most records are dropped.

#include <gtest/gtest.h>

#include <atomic>

#include "runtime.h"
#include "runtime/collection.h"
#include "runtime/scale.h"
#include "weft/async_span.h"
#include "weft/instant.h"
#include "weft/session.h"
#include "weft/span.h"
#include "weft/status.h"

namespace weft::test {
namespace {

std::uint64_t record_flat_out(std::uint64_t count) {
  std::uint64_t calls = 0;
  while (calls < count) {
    WEFT_SPAN("outer");
    {
      WEFT_SPAN("middle", {"calls", calls});
      WEFT_SPAN("inner");
      WEFT_INSTANT("instant", {"text", "long enough to take several slots"});
    }
    calls += 7;
  }
  return calls;
}

class TinyRings : public testing::TestWithParam<unsigned> {};

// 500 threads: most of them find no ring at all.
TEST_P(TinyRings, CallsAreDeliveredOrCounted) {
  const unsigned threads = GetParam();
  Collection collection(Collection::Keep::kCounts);
  std::atomic<std::uint64_t> calls{0};
  std::atomic<unsigned> arrived{0};
  run_threads(threads, [&](unsigned) {
    calls += record_flat_out(scaled(2'000'000) / threads);
    ++arrived;  // all live at once
    while (arrived != threads) std::this_thread::yield();
  });
  const CollectingExporter& all = collection.stop();
  EXPECT_EQ(calls, all.heads() + all.dropped());
  EXPECT_EQ(all.marked() + all.told(DropReason::kRingFull),
            all.result().dropped[static_cast<int>(DropReason::kRingFull)]);
  const auto no_ring =
      all.result().dropped[static_cast<int>(DropReason::kNoRing)];
  EXPECT_EQ(no_ring != 0, threads > 32) << no_ring;
  EXPECT_LE(status().ring_bytes_used, 256u << 10);
}

INSTANTIATE_TEST_SUITE_P(Threads, TinyRings, testing::Values(1u, 4u, 500u),
                         testing::PrintToStringParamName());

TEST(K2_04, EndsFollowBeginsWhenMostRecordsAreDropped) {
  Collection collection;
  run_threads(4, [](unsigned) { record_flat_out(scaled(400'000)); });
  // Whether the drainer kept up was luck; now it surely does not.
  Runtime::instance()->drainer->hold(true);
  run_threads(4, [](unsigned) { record_flat_out(scaled(400'000)); });
  Runtime::instance()->drainer->hold(false);
  const CollectingExporter& all = collection.stop();
  EXPECT_GT(all.dropped(), 0u);
  for (const auto& [index, thread] : all.threads()) {
    expect_nested(all, thread);
    // Each accepted begin had its end's place promised.
    std::int64_t open = 0;
    for (const auto& record : thread.records) {
      open += record.kind == RecordKind::kSpanBegin;
      open -= record.kind == RecordKind::kSpanEnd;
    }
    EXPECT_EQ(open, 0);
  }
}

// A thread that found no ring gets one when another thread has left.
TEST(TinyRings, ServeNewThreadsWhenOldOnesLeave) {
  for (int round = 0; round < 20; ++round) {
    Collection collection;
    run_threads(16, [](unsigned) { WEFT_INSTANT("one"); });
    const CollectingExporter& all = collection.stop();
    EXPECT_EQ(all.heads(), 16u) << "round " << round;
  }
}

}  // namespace
}  // namespace weft::test
