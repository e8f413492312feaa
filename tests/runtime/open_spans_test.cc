// SPDX-License-Identifier: Apache-2.0
#include "open_spans.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

constexpr ThreadIndex kOne{1};
constexpr ThreadIndex kTwo{2};

TEST(OpenSpans, AnEndIsShownOnceIfItsBeginWas) {
  OpenSpans open;
  open.begin(kOne, 10);
  open.begin(kOne, 11);
  EXPECT_TRUE(open.shown(kOne, 12, 11));
  EXPECT_FALSE(open.shown(kTwo, 12, 11));
  EXPECT_TRUE(open.end(kOne, 12, 11));
  EXPECT_FALSE(open.end(kOne, 13, 11));
  EXPECT_TRUE(open.end(kOne, 13, 10));
}

// Records carry the low half of a position only.
TEST(OpenSpans, PositionsAreCompleted) {
  const std::uint64_t begin = (std::uint64_t{7} << 32) - 1;
  OpenSpans open;
  open.begin(kOne, begin);
  EXPECT_TRUE(open.end(kOne, begin + 2, static_cast<std::uint32_t>(begin)));
}

TEST(OpenSpans, BeginsBeforeTheFirstFilterCountAsShown) {
  OpenSpans open;
  open.track_from(kOne, 100);
  open.track_from(ThreadIndex::kNone, kSidePosition | 16);
  EXPECT_TRUE(open.end(kOne, 120, 99));
  EXPECT_FALSE(open.end(kOne, 120, 100));
  EXPECT_FALSE(open.end(kTwo, 120, 99));
  EXPECT_TRUE(open.end(kTwo, kSidePosition | 24, 8));
  EXPECT_FALSE(open.end(kTwo, kSidePosition | 24, 16));
  EXPECT_EQ(open.end(async_id(kOne, 99)), OpenSpans::Begin::kShown);
  EXPECT_EQ(open.end(async_id(kOne, 100)), OpenSpans::Begin::kUnknown);
}

TEST(OpenSpans, AsyncSpansAreKnownByTheirId) {
  OpenSpans open;
  open.begin_async(kOne, 5, true);
  open.begin_async(kOne, 6, false);
  EXPECT_EQ(open.end(async_id(kOne, 5)), OpenSpans::Begin::kShown);
  EXPECT_EQ(open.end(async_id(kOne, 5)), OpenSpans::Begin::kUnknown);
  EXPECT_EQ(open.end(async_id(kOne, 6)), OpenSpans::Begin::kHidden);
}

// The drainer looks at one thread after another: what began on the first may be
// seen to end on the second before it was seen to begin.
TEST(OpenSpans, ABeginAfterItsEndLeavesNothingOpen) {
  OpenSpans open;
  EXPECT_EQ(open.end(async_id(kOne, 5)), OpenSpans::Begin::kUnknown);
  open.begin_async(kOne, 5, true);
  EXPECT_EQ(open.end(async_id(kOne, 5)), OpenSpans::Begin::kUnknown);
  EXPECT_EQ(open.end(async_id(kOne, 6)), OpenSpans::Begin::kUnknown);
  open.begin(kOne, 6);
  EXPECT_FALSE(open.shown(kOne, 7, 6));
  open.begin(kOne, 7);
  EXPECT_TRUE(open.shown(kOne, 8, 7));
}

TEST(OpenSpans, ASpanThatEndsElsewhereOutlivesItsThread) {
  OpenSpans open;
  open.begin(kOne, 5);
  open.forget(kOne);
  EXPECT_EQ(open.end(async_id(kOne, 5)), OpenSpans::Begin::kShown);
}

TEST(OpenSpans, BeginsBeforeTheSubscriptionAreUnseen) {
  OpenSpans open;
  open.see_from(kOne, 50);
  EXPECT_TRUE(open.unseen(kOne, 60, 49));
  EXPECT_FALSE(open.unseen(kOne, 60, 50));
  EXPECT_FALSE(open.unseen(kTwo, 60, 49));
}

}  // namespace
}  // namespace weft
