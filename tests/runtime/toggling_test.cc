// SPDX-License-Identifier: Apache-2.0
//
// Recording is switched on and off, and categories change, while spans are
// open. A span's begin decides whether it is recorded; its end follows.

#include <gtest/gtest.h>

#include <atomic>

#include "runtime/collection.h"
#include "runtime/scale.h"
#include "runtime/session_collector.h"
#include "weft/instant.h"
#include "weft/session.h"
#include "weft/span.h"
#include "weft/status.h"

namespace weft::test {
namespace {

void nested_spans() {
  WEFT_SPAN_CAT("net", "request");
  {
    WEFT_SPAN_CAT("db", "query");
    WEFT_SPAN_CAT("net", "send", {"bytes", 17});
  }
  WEFT_SPAN_CAT("db", "commit");
}

// While four threads run nested spans, `toggle` is called `times`. The threads
// may get ahead by a few rounds a toggle only, which bounds the whole. Now and
// then the toggling waits for a round, so that on a busy machine, too, some are
// run in every state.
void toggle_under_load(unsigned times,
                       const std::function<void(unsigned)>& toggle) {
  constexpr int kRoundsPerToggle = 20;
  constexpr unsigned kTogglesPerWait = 15;  // odd: waits in either state
  std::atomic<int> rounds{kRoundsPerToggle};
  std::atomic<std::uint64_t> rounds_run{0};
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (!done.load(std::memory_order_relaxed)) {
        if (rounds.fetch_sub(1, std::memory_order_relaxed) > 0) {
          nested_spans();
          rounds_run.fetch_add(1, std::memory_order_relaxed);
        } else {
          rounds.fetch_add(1, std::memory_order_relaxed);
          std::this_thread::yield();
        }
      }
    });
  for (unsigned i = 0; i < times && !testing::Test::HasFailure(); ++i) {
    toggle(i);
    // Of these, four at most began before the toggle. Read before more are
    // allowed, which may all have been run when this thread goes on.
    const std::uint64_t enough = rounds_run + 5;
    rounds.fetch_add(kRoundsPerToggle, std::memory_order_relaxed);
    if (i % kTogglesPerWait == 0)
      while (rounds_run < enough) std::this_thread::yield();
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

void expect_all_nested(const CollectingExporter& all) {
  EXPECT_GT(all.heads(), 0u);
  for (const std::string& problem : all.problems()) ADD_FAILURE() << problem;
  for (const auto& [index, thread] : all.threads()) expect_nested(all, thread);
}

TEST(K2_04, EndsFollowBeginsWhileTheSessionIsToggled) {
  const auto collected = open_session_collector();
  ASSERT_TRUE(init("collected").ok());
  toggle_under_load(scaled(10'000), [](unsigned) {
    ASSERT_TRUE(stop().ok());
    ASSERT_TRUE(start().ok());
  });
  ASSERT_TRUE(shutdown().ok());
  expect_all_nested(*collected);
}

TEST(K2_04, EndsFollowBeginsWhileACategoryIsToggled) {
  const auto collected = open_session_collector();
  ASSERT_TRUE(init("collected").ok());
  toggle_under_load(scaled(10'000), [](unsigned i) {
    ASSERT_TRUE(set_categories(i % 2 == 0 ? "net" : "").ok());
  });
  ASSERT_TRUE(shutdown().ok());
  expect_all_nested(*collected);
}

TEST(K2_04, ASpanKeepsItsEndWhenItsCategoryIsSwitchedOff) {
  const auto collected = open_session_collector();
  ASSERT_TRUE(init("collected").ok());
  {
    WEFT_SPAN_CAT("db", "open");
    ASSERT_TRUE(set_categories("net").ok());
    WEFT_SPAN_CAT("db", "not begun");
  }
  {
    WEFT_SPAN_CAT("db", "not begun either");
    ASSERT_TRUE(set_categories("").ok());
  }
  ASSERT_TRUE(shutdown().ok());
  EXPECT_EQ(collected->count(RecordKind::kSpanBegin), 1u);
  EXPECT_EQ(collected->count(RecordKind::kSpanEnd), 1u);
  expect_all_nested(*collected);
}

TEST(K2_04, ASpanKeepsItsEndWhenTheSessionStops) {
  const auto collected = open_session_collector();
  ASSERT_TRUE(init("collected").ok());
  {
    WEFT_SPAN("open at the stop");
    ASSERT_TRUE(stop().ok());
    { WEFT_SPAN("not begun"); }
  }
  ASSERT_TRUE(start().ok());
  { WEFT_SPAN("after the start"); }
  ASSERT_TRUE(shutdown().ok());
  EXPECT_EQ(collected->count(RecordKind::kSpanBegin), 2u);
  EXPECT_EQ(collected->count(RecordKind::kSpanEnd), 2u);
  expect_all_nested(*collected);
}

}  // namespace
}  // namespace weft::test
