// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <sstream>

#include "event_builder.h"
#include "weft/profile/forward_backward_links.h"
#include "weft/profile/replay_tree.h"

namespace weft {
namespace {

using reference::replay_tree;
using reference::ReplayEvent;
using reference::ReplayNode;
using testing_support::range;

using Links = std::vector<ForwardBackwardLink>;
using Parents = std::vector<std::size_t>;
constexpr std::size_t kRoot = kNoEvent;

FunctionEvent numbered(FunctionEvent event, std::int64_t sequence_nr,
                       std::int64_t fwd_thread = 0) {
  event.sequence_nr = sequence_nr;
  event.fwd_thread = fwd_thread;
  return event;
}

TEST(ForwardBackwardLinks, TV_L1_TheInnerBackwardRangeGetsTheArrow) {
  const std::vector<FunctionEvent> events = {
      numbered(range("add", 0, 5, 1), 7), numbered(range("sum", 6, 9, 1), 8),
      numbered(range("evaluate: SumBackward0", 19, 26, 2), 8, 1),
      numbered(range("SumBackward0", 20, 25, 2), 8, 1),
      numbered(range("AddBackward0", 30, 33, 2), 7, 1)};
  EXPECT_EQ(forward_backward_links(events), (Links{{1, 3}, {0, 4}}));
}

TEST(ForwardBackwardLinks, TV_L2_TheForwardRangeThatBeganLastWins) {
  const std::vector<FunctionEvent> events = {
      numbered(range("view", 0, 1, 1), 7), numbered(range("mul", 2, 4, 1), 7),
      numbered(range("MulBackward0", 9, 10, 2), 7, 1)};
  EXPECT_EQ(forward_backward_links(events), (Links{{1, 2}}));
}

TEST(ForwardBackwardLinks, TV_L3_NoForwardRangeNoArrow) {
  EXPECT_EQ(
      forward_backward_links({numbered(range("MulBackward0", 9, 10, 2), 7, 1)}),
      Links());
}

// The reference packs both into 64 bits, where these two would be one.
TEST(ForwardBackwardLinks, LargeNumbersAreNotMixedUp) {
  const std::int64_t large = std::int64_t{1} << 48;
  const std::vector<FunctionEvent> events = {
      numbered(range("a", 0, 5, 1), large + 7),
      numbered(range("ABackward", 9, 10, 2), 7, 1)};
  EXPECT_EQ(forward_backward_links(events), Links());
}

TEST(ForwardBackwardLinks, AreArrowsInTheTrace) {
  std::ostringstream out;
  EventList({numbered(range("mul", 2, 4, 1), 7),
             numbered(range("MulBackward0", 9, 10, 2), 7, 1)})
      .write_chrome_trace(out);
  EXPECT_NE(out.str().find(R"("ph":"s","cat":"fwdbwd")"), std::string::npos);
  EXPECT_NE(out.str().find(R"("ph":"f","bp":"e","cat":"fwdbwd")"),
            std::string::npos);
}

Parents parents_of(const std::vector<ReplayEvent>& events) {
  Parents parents;
  for (const ReplayNode& node : replay_tree(events)) {
    parents.push_back(node.parent);
  }
  return parents;
}

TEST(ReplayTree, TV_2_6_TouchingRangesNest) {
  EXPECT_EQ(parents_of({{1, 0, 10}, {1, 10, 20}}), (Parents{kRoot, 0}));
  EXPECT_EQ(parents_of({{1, 0, 10}, {1, 1, 3}, {1, 3, 4}, {1, 5, 6}}),
            (Parents{kRoot, 0, 1, 0}));
}

TEST(ReplayTree, TV_2_6_LengthDoesNotDecideBetweenEqualStarts) {
  EXPECT_EQ(parents_of({{1, 0, 3}, {1, 0, 10}}), (Parents{kRoot, 0}));
}

TEST(ReplayTree, TV_2_6_OverlapNestsAndClosesWithItsParent) {
  EXPECT_EQ(parents_of({{1, 0, 10}, {1, 5, 15}, {1, 12, 14}}),
            (Parents{kRoot, 0, kRoot}));
}

TEST(ReplayTree, TV_2_6_PointsAreLeaves) {
  EXPECT_EQ(parents_of({{1, 0, 10}, {1, 5, 5}, {1, 5, 5}}),
            (Parents{kRoot, 0, 0}));
}

TEST(ReplayTree, TV_2_6_OpenRangeBorrowsTheEndOfWhatHoldsIt) {
  const auto nodes = replay_tree(
      {{1, 0, 100}, {1, 10, std::nullopt}, {1, 20, 30}, {1, 40, 50}});
  EXPECT_EQ(nodes[1].parent, 0u);
  EXPECT_EQ(nodes[2].parent, 1u);
  EXPECT_EQ(nodes[3].parent, 1u);
  EXPECT_TRUE(nodes[1].finished);
  EXPECT_EQ(nodes[1].end_ns, 100);
}

TEST(ReplayTree, TV_2_6_OpenRootNeverFinishes) {
  const auto nodes = replay_tree({{1, 10, std::nullopt}, {1, 20, 30}});
  EXPECT_FALSE(nodes[0].finished);
  EXPECT_TRUE(nodes[1].finished);
}

TEST(ReplayTree, TV_2_6_ForwardThreadLendsItsOpenRange) {
  EXPECT_EQ(
      parents_of({{1, 0, 100}, {2, 10, 20, 1}, {2, 12, 18, 1}, {2, 30, 40}}),
      (Parents{kRoot, 0, 1, 0}));
}

}  // namespace
}  // namespace weft
