// SPDX-License-Identifier: Apache-2.0
//
// What is recorded after an interval has ended and before its sites are off.
// The clock calls the test right there, on the drainer.

#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "runtime/collection.h"
#include "runtime/manual_clock.h"
#include "runtime/session_collector.h"
#include "weft/instant.h"
#include "weft/session.h"
#include "weft/span.h"

namespace weft::test {
namespace {

// A thread that does what others ask of it, one thing at a time.
class Recorder {
 public:
  Recorder() : thread_([this] { run(); }) {}
  ~Recorder() {
    ask(nullptr);
    thread_.join();
  }
  // Returns when it has been done.
  void ask(void (*what)()) {
    std::unique_lock lock(mutex_);
    what_ = what;
    asked_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !asked_; });
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (bool more = true; more;) {
      changed_.wait(lock, [this] { return asked_; });
      more = what_ != nullptr;
      if (more) what_();
      asked_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  void (*what_)() = nullptr;
  bool asked_ = false;
  std::thread thread_;
};

Recorder* recorder = nullptr;
std::optional<Span> in_between;

// Begins a span behind the end of the interval, whose sites are still on.
void begin_in_between() {
  recorder->ask([] {
    ManualClock::advance(10);
    WEFT_SPAN_NAMED(span, "in between");
    WEFT_INSTANT("in between");
    EXPECT_TRUE(span) << "the sites were off already";
    in_between = std::move(span);
    ManualClock::advance(10);
  });
}

void end_in_between() {
  recorder->ask([] { in_between.reset(); });
}

std::uint64_t named(const CollectingExporter& all, const std::string& name) {
  std::uint64_t count = 0;
  for (const auto& [index, thread] : all.threads())
    for (const auto& record : thread.records)
      count += all.name_of(record) == name;
  return count;
}

void expect_begins_have_ends(const CollectingExporter& all) {
  for (const std::string& problem : all.problems()) ADD_FAILURE() << problem;
  for (const auto& [index, thread] : all.threads()) {
    std::int64_t open = 0;
    for (const auto& record : thread.records) {
      open += record.kind == RecordKind::kSpanBegin;
      open -= record.kind == RecordKind::kSpanEnd;
      EXPECT_GE(open, 0) << all.name_of(record) << " ends and never began";
    }
    EXPECT_EQ(open, 0);
  }
}

class K2_04_Edge : public testing::Test {
 protected:
  K2_04_Edge() { recorder = &recorder_; }

  void begin() {
    collected_ = open_session_collector();
    ASSERT_TRUE(init("collected").ok());
    step();
  }
  // A span inside, with time passing.
  void step() {
    ManualClock::advance(1000);
    {
      WEFT_SPAN("inside");
      ManualClock::advance(1000);
    }
    ManualClock::advance(1000);
  }
  void stop_with_a_begin() {
    ManualClock::after_ordered_read = begin_in_between;
    ASSERT_TRUE(stop().ok());
    ASSERT_TRUE(in_between.has_value());
    ManualClock::advance(1000);
  }

  std::shared_ptr<CollectingExporter> collected_;
  Recorder recorder_;
};

TEST_F(K2_04_Edge, ASpanBegunAfterTheStopHasNoEndInThePause) {
  begin();
  stop_with_a_begin();
  end_in_between();
  EXPECT_TRUE(start().ok());
  step();
  EXPECT_TRUE(shutdown().ok());
  EXPECT_EQ(named(*collected_, "inside"), 4u);
  expect_begins_have_ends(*collected_);
  EXPECT_EQ(named(*collected_, "in between"), 0u);
}

TEST_F(K2_04_Edge, ASpanBegunAfterTheStopHasNoEndInTheNextInterval) {
  begin();
  stop_with_a_begin();
  EXPECT_TRUE(start().ok());
  step();
  end_in_between();
  step();
  EXPECT_TRUE(shutdown().ok());
  EXPECT_EQ(named(*collected_, "inside"), 6u);
  expect_begins_have_ends(*collected_);
  EXPECT_EQ(named(*collected_, "in between"), 0u);
}

// Nor does a span that began while only somebody else was listening.
TEST_F(K2_04_Edge, ASpanBegunInThePauseHasNoEndInTheNextInterval) {
  begin();
  Collection other;
  ASSERT_TRUE(stop().ok());
  step();
  {
    WEFT_SPAN("in the pause");
    ManualClock::advance(1000);
    ASSERT_TRUE(start().ok());
    step();
  }
  step();
  ASSERT_TRUE(shutdown().ok());
  EXPECT_EQ(named(*collected_, "in the pause"), 0u);
  EXPECT_EQ(named(*collected_, "inside"), 6u);
  expect_begins_have_ends(*collected_);
  EXPECT_EQ(named(other.stop(), "in the pause"), 2u);
}

// One that began before the stop keeps its end, however often recording was
// switched meanwhile.
TEST_F(K2_04_Edge, ASpanBegunInAnEarlierIntervalKeepsItsEnd) {
  begin();
  {
    WEFT_SPAN("long");
    for (int i = 0; i < 3; ++i) {
      stop_with_a_begin();
      EXPECT_TRUE(start().ok());
      step();
      end_in_between();
    }
  }
  step();
  EXPECT_TRUE(shutdown().ok());
  EXPECT_EQ(named(*collected_, "long"), 2u);
  expect_begins_have_ends(*collected_);
  EXPECT_EQ(named(*collected_, "in between"), 0u);
}

// The same at the end of a subscription: another that goes on has all of it.
TEST_F(K2_04_Edge, ASubscriptionEndsAtItsTickAndNotWhenSitesAreOff) {
  Collection stays;
  Collection ends;
  step();
  ManualClock::after_ordered_read = begin_in_between;
  const CollectingExporter& ended = ends.stop();
  EXPECT_TRUE(in_between.has_value());
  end_in_between();
  EXPECT_EQ(named(ended, "inside"), 2u);
  const CollectingExporter& all = stays.stop();
  EXPECT_EQ(named(all, "in between"), 3u);
  expect_begins_have_ends(all);
  EXPECT_EQ(named(ended, "in between"), 0u);
}

}  // namespace
}  // namespace weft::test
