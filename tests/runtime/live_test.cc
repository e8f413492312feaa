// SPDX-License-Identifier: Apache-2.0
//
// Latencies of a running program: the histogram, what is counted, budgets.

#include "weft/live.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "export/fake_catalog.h"
#include "export/slot_builder.h"
#include "latency_histogram.h"
#include "live_figures.h"
#include "runtime/scale.h"
#include "weft/session.h"
#include "weft/span.h"

namespace weft {
namespace {

using std::chrono::milliseconds;

class Histogram : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(pages_.reserve(1u << 20)); }

  // Every quantile that is shown, against the exact one, within 1 %.
  void expect_quantiles(std::vector<std::uint64_t> values) {
    for (const std::uint64_t value : values) histogram_.add(value, pages_);
    std::sort(values.begin(), values.end());
    for (const double share : {0.5, 0.9, 0.99, 0.999}) {
      const auto rank = static_cast<std::size_t>(
          std::ceil(share * static_cast<double>(values.size())));
      const auto exact = static_cast<double>(values[rank - 1]);
      EXPECT_NEAR(static_cast<double>(histogram_.quantile(share, pages_)), exact,
                  exact / 100)
          << share;
    }
    EXPECT_EQ(histogram_.least(), values.front());
    EXPECT_EQ(histogram_.greatest(), values.back());
    EXPECT_EQ(histogram_.count(), values.size());
  }

  CounterPages pages_;
  LatencyHistogram histogram_;
};

TEST_F(Histogram, IsWithinOnePercentOfALogNormalLaw) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> law(10, 1.5);
  std::vector<std::uint64_t> values(test::scaled(1'000'000));
  for (std::uint64_t& value : values)
    value = static_cast<std::uint64_t>(law(random));
  expect_quantiles(std::move(values));
}

TEST_F(Histogram, IsWithinOnePercentOfAUniformLawAndOfOneValue) {
  std::vector<std::uint64_t> values;
  for (std::uint64_t i = 0; i < 100'000; ++i) values.push_back(5000 + i * 37);
  expect_quantiles(std::move(values));
}

TEST_F(Histogram, HoldsSmallValuesOneByOneAndTheGreatest) {
  for (std::uint64_t value = 0; value < 64; ++value)
    histogram_.add(value, pages_);
  EXPECT_EQ(histogram_.quantile(0.5, pages_), 31u);
  EXPECT_EQ(histogram_.quantile(1, pages_), 63u);
  histogram_.add(~std::uint64_t{0} >> 1, pages_);
  EXPECT_EQ(histogram_.greatest(), ~std::uint64_t{0} >> 1);
}

TEST_F(Histogram, IsEmptyAtFirst) {
  EXPECT_EQ(histogram_.quantile(0.5, pages_), 0u);
  EXPECT_EQ(histogram_.least(), 0u);
  EXPECT_EQ(histogram_.greatest(), 0u);
}

// A program that runs for years.
TEST_F(Histogram, KeepsItsQuantilesWhenCountersAreFull) {
  for (int i = 0; i < 1000; ++i) {
    histogram_.add(1000, pages_, 30'000'000);
    histogram_.add(50'000, pages_, 10'000'000);
  }
  EXPECT_EQ(histogram_.count(), 40'000'000'000u);
  EXPECT_NEAR(static_cast<double>(histogram_.quantile(0.5, pages_)), 1000, 10);
  EXPECT_NEAR(static_cast<double>(histogram_.quantile(0.9, pages_)), 50'000, 500);
}

TEST_F(Histogram, CountsExactlyWithoutPagesToSpare) {
  CounterPages few;
  ASSERT_TRUE(few.reserve(2 * sizeof(CounterPages::Page)));
  histogram_.add(100, few);
  histogram_.add(1'000'000, few);
  EXPECT_EQ(histogram_.count(), 2u);
  EXPECT_EQ(histogram_.sum(), 1'000'100u);
  EXPECT_EQ(histogram_.unplaced(), 1u);
  EXPECT_EQ(histogram_.quantile(0.5, few), 100u);
}

// Ticks are ns here: without an init, the line is that of CLOCK_MONOTONIC.
class Figures : public testing::Test {
 protected:
  void SetUp() override {
    live_ = LiveFigures::create(budgets_, [this](const std::string& what) {
      excesses_.push_back(what);
      return accept_;
    });
    ASSERT_NE(live_, nullptr);
  }
  void deliver(test::SlotBuilder& slots) {
    live_->define(catalog_);
    catalog_.forget_news();
    ASSERT_TRUE(live_->consume(slots.run()));
    slots.drained();
    live_->settle(now_ns_ += 1'000'000);
  }

  test::FakeCatalog catalog_;
  SpanBudgets budgets_;
  std::vector<std::string> excesses_;
  bool accept_ = true;
  std::int64_t now_ns_ = 1;
  std::shared_ptr<LiveFigures> live_;
  const SiteId outer_ = catalog_.add_site(SiteKind::kSpan, "outer");
  const SiteId inner_ = catalog_.add_site(SiteKind::kSpan, "inner");
};

TEST_F(Figures, SpansOfOneNameAreOneWhereverTheyAre) {
  const SiteId again = catalog_.add_site(SiteKind::kSpan, "inner");
  test::SlotBuilder one(catalog_.add_thread("one", 1));
  test::SlotBuilder two(catalog_.add_thread("two", 2));
  const auto parent = one.begin(1000, outer_);
  one.end(1030, one.begin(1010, inner_));
  two.end(1500, two.begin(1400, again));
  two.end(1700, two.begin(1600, inner_, catalog_.add_string("dynamic")));
  deliver(one);  // its outer span ends in a later run
  deliver(two);
  one.end(2000, parent);
  deliver(one);

  const auto inner = live_->latency("inner");
  ASSERT_TRUE(inner);
  EXPECT_EQ(inner->count, 2u);
  EXPECT_EQ(inner->total_ns, 120);
  EXPECT_EQ(inner->least_ns, 20);
  EXPECT_EQ(inner->greatest_ns, 100);
  EXPECT_EQ(inner->p50_ns, 20);
  const auto outer = live_->latency("outer");
  ASSERT_TRUE(outer);
  EXPECT_EQ(outer->total_ns, 1000);
  const auto dynamic = live_->latency("dynamic");
  ASSERT_TRUE(dynamic);
  EXPECT_EQ(dynamic->total_ns, 100);
  EXPECT_FALSE(live_->latency("no such span"));
  EXPECT_EQ(live_->latencies().size(), 3u);
}

TEST_F(Figures, LostBeginsAndEndsSpoilNoOther) {
  test::SlotBuilder slots(catalog_.add_thread("t", 1));
  const auto parent = slots.begin(100, outer_);
  slots.begin(110, inner_);             // its end is lost
  slots.end(150, {12345, inner_});      // its begin is lost
  slots.end(200, parent);
  slots.end(320, slots.begin(300, inner_));
  deliver(slots);
  EXPECT_EQ(live_->latency("outer")->total_ns, 100);
  EXPECT_EQ(live_->latency("inner")->count, 1u);
  EXPECT_EQ(live_->latency("inner")->total_ns, 20);
}

TEST_F(Figures, NamesBeyondTheBoundAreCountedTogether) {
  test::SlotBuilder slots(catalog_.add_thread("t", 1));
  Ticks tick = 1000;
  const std::size_t names = LiveFigures::kMaxNames + 50;
  for (std::size_t i = 0; i < names; ++i) {
    const auto span = slots.begin(
        tick += 10, outer_, catalog_.add_string("n" + std::to_string(i)));
    slots.end(tick += 10, span);
  }
  deliver(slots);
  const std::vector<Latency> all = live_->latencies();
  EXPECT_EQ(all.size(), LiveFigures::kMaxNames);
  std::uint64_t count = 0;
  for (const Latency& latency : all) count += latency.count;
  EXPECT_EQ(count, names);
  EXPECT_EQ(live_->latency("(other names)")->count, 51u);
}

TEST_F(Figures, ThreadsThatEndedAreForgotten) {
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const ThreadIndex index = catalog_.add_thread("t", i + 1);
    test::SlotBuilder slots(index);
    slots.begin(100, outer_);  // left open
    deliver(slots);
    ThreadInfo exit;
    exit.index = index;
    exit.exit_tick = 200;
    catalog_.set_thread(exit);
    deliver(slots);
    live_->settle(now_ns_ += 1'000'000);
  }
  EXPECT_LE(live_->known_threads(), 1u);
}

TEST_F(Figures, ABudgetIsToldOnceASecond) {
  ASSERT_TRUE(budgets_.set("inner", 50'000));
  test::SlotBuilder slots(catalog_.add_thread("t", 1));
  const auto span_of = [&](Ticks ticks) {
    const auto span = slots.begin(slots.position() * 1'000'000, inner_);
    slots.end(slots.position() * 1'000'000 - 1'000'000 + ticks, span);
    deliver(slots);
    live_->work();
  };
  span_of(50'000);
  EXPECT_TRUE(excesses_.empty());
  span_of(60'000);
  span_of(70'000);
  ASSERT_EQ(excesses_.size(), 1u);
  EXPECT_EQ(excesses_[0], "inner took 60 us, 50 us allowed");
  EXPECT_EQ(live_->over_budget(), 2u);
  live_->settle(now_ns_ += 1'000'000'000);
  accept_ = false;  // nobody can take it now: it is offered again
  span_of(80'000);
  EXPECT_TRUE(live_->has_work());
  accept_ = true;
  EXPECT_TRUE(live_->work());
  EXPECT_EQ(excesses_.back(), "inner took 80 us, 50 us allowed");
  ASSERT_TRUE(budgets_.set("inner", 0));
  live_->settle(now_ns_ += 1'000'000'000);
  span_of(90'000);
  EXPECT_EQ(live_->over_budget(), 3u);
}

TEST_F(Figures, BudgetsAreBoundedAndFoundByNamesThatAreKnownAlready) {
  test::SlotBuilder slots(catalog_.add_thread("t", 1));
  slots.end(200, slots.begin(100, outer_));
  deliver(slots);
  ASSERT_TRUE(budgets_.set("outer", 50));
  deliver(slots);
  slots.end(400, slots.begin(300, outer_));
  deliver(slots);
  EXPECT_EQ(live_->over_budget(), 1u);
  for (std::size_t i = 1; i < SpanBudgets::kMaxBudgets; ++i)
    EXPECT_TRUE(budgets_.set("n" + std::to_string(i), 1));
  EXPECT_FALSE(budgets_.set("one more", 1));
  EXPECT_TRUE(budgets_.set("outer", 2));
}

// The session around it.

TEST(Live, FiguresOfTheSessionAreThereWhileItRuns) {
  InitOptions options;
  options.live = true;
  EXPECT_FALSE(latency("measured"));
  ASSERT_TRUE(init(options).ok());
  for (int i = 0; i < 1000; ++i) {
    WEFT_SPAN("measured");
  }
  // The drainer looks every 200 us while spans come.
  while (!latency("measured") || latency("measured")->count < 1000)
    std::this_thread::yield();
  const auto measured = latency("measured");
  EXPECT_GT(measured->total_ns, 0);
  EXPECT_LE(measured->least_ns, measured->p50_ns);
  EXPECT_LE(measured->p50_ns, measured->greatest_ns);
  const std::string page = metrics_text();
  EXPECT_NE(page.find("weft_span_seconds_count{name=\"measured\"} 1000\n"),
            std::string::npos)
      << page;
  EXPECT_NE(page.find("weft_records_dropped_total 0\n"), std::string::npos);
  ASSERT_TRUE(shutdown().ok());
  EXPECT_FALSE(latency("measured"));
}

TEST(Live, APausedSessionRecordsNothing) {
  InitOptions options;
  options.live = true;
  ASSERT_TRUE(init(options).ok());
  ASSERT_TRUE(stop().ok());
  bool recorded = false;
  {
    WEFT_SPAN_NAMED(span, "paused");
    recorded = static_cast<bool>(span);
  }
  EXPECT_FALSE(recorded);
  ASSERT_TRUE(shutdown().ok());
}

TEST(Live, BudgetsOutOfBoundsAreRefusedInWords) {
  const Result<void> negative =
      set_span_budget("request", std::chrono::nanoseconds(-5));
  ASSERT_FALSE(negative.ok());
  EXPECT_EQ(negative.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(negative.error().message.find("-5"), std::string::npos);
  EXPECT_FALSE(set_span_budget("request", std::chrono::hours(2)).ok());
}

}  // namespace
}  // namespace weft
