// SPDX-License-Identifier: Apache-2.0
//
// Waiting for locks is seen, and nothing else of them.

#include "weft/traced_mutex.h"

#include <gtest/gtest.h>

#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/collection.h"

namespace weft::test {
namespace {

// Free or taken as the test says; counts what is asked of it.
class ScriptedMutex {
 public:
  static inline bool is_free = true;
  static inline int locks = 0;
  static inline int unlocks = 0;

  bool try_lock() { return is_free; }
  void lock() { ++locks; }
  void unlock() { ++unlocks; }
  bool try_lock_shared() { return is_free; }
  void lock_shared() { ++locks; }
  void unlock_shared() { ++unlocks; }
};

std::vector<std::string> spans_of(const CollectingExporter& all) {
  std::vector<std::string> names;
  for (const auto& [index, thread] : all.threads())
    for (const auto& record : thread.records)
      if (record.kind == RecordKind::kSpanBegin)
        names.push_back(all.name_of(record));
  return names;
}

class TracedMutex : public testing::Test {
 protected:
  void SetUp() override {
    ScriptedMutex::is_free = true;
    ScriptedMutex::locks = 0;
    ScriptedMutex::unlocks = 0;
  }
};

TEST_F(TracedMutex, AFreeLockLeavesNothing) {
  Collection collection;
  BasicTracedSharedMutex<ScriptedMutex> mutex("cache");
  { const std::scoped_lock lock(mutex); }
  { const std::shared_lock lock(mutex); }
  EXPECT_TRUE(spans_of(collection.stop()).empty());
  EXPECT_EQ(ScriptedMutex::locks, 0);
  EXPECT_EQ(ScriptedMutex::unlocks, 2);
}

TEST_F(TracedMutex, WhoWaitsHasASpanThatNamesTheLock) {
  Collection collection;
  BasicTracedSharedMutex<ScriptedMutex> mutex("cache");
  ScriptedMutex::is_free = false;
  { const std::scoped_lock lock(mutex); }
  { const std::shared_lock lock(mutex); }
  EXPECT_FALSE(mutex.try_lock());
  const CollectingExporter& all = collection.stop();
  EXPECT_EQ(spans_of(all),
            (std::vector<std::string>{"lock_wait", "lock_wait"}));
  EXPECT_EQ(ScriptedMutex::locks, 2);
  EXPECT_EQ(ScriptedMutex::unlocks, 2);
  const auto& begin = all.threads().begin()->second.records.at(0);
  const SiteInfo& site = all.sites().at(begin.low());
  EXPECT_EQ(all.text(site.category), "lock");
  EXPECT_EQ(all.text(site.arguments[0].key), "lock");
  ASSERT_FALSE(begin.values.empty());
  EXPECT_EQ(payload_of(begin.values[0]), mutex.name().size());
}

TEST_F(TracedMutex, ExcludesAsTheOneInside) {
  traced_mutex mutex("count");
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 5000; ++n) {
        const std::scoped_lock lock(mutex);
        ++count;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 20'000);
}

TEST_F(TracedMutex, AConditionIsWaitedForInASpan) {
  Collection collection;
  traced_mutex mutex("queue");
  traced_condition_variable ready("queue_ready");
  bool is_ready = false;
  std::thread other([&] {
    const std::scoped_lock lock(mutex);
    is_ready = true;
    ready.notify_all();
  });
  {
    std::unique_lock lock(mutex);
    ready.wait(lock, [&] { return is_ready; });
  }
  other.join();
  std::unique_lock lock(mutex);
  // Nothing to wait for.
  ready.wait(lock, [&] { return is_ready; });
  EXPECT_TRUE(ready.wait_for(lock, std::chrono::hours(1), [] { return true; }));
  std::size_t waits = 0;
  for (const std::string& name : spans_of(collection.stop()))
    waits += name == "condition_wait";
  // None if the other thread came first.
  EXPECT_LE(waits, 1u);
}

TEST_F(TracedMutex, AWaitThatTimesOutIsSeen) {
  Collection collection;
  traced_mutex mutex("queue");
  traced_condition_variable ready("queue_ready");
  std::unique_lock lock(mutex);
  EXPECT_FALSE(
      ready.wait_for(lock, std::chrono::milliseconds(1), [] { return false; }));
  EXPECT_FALSE(ready.wait_until(lock, std::chrono::steady_clock::now(),
                                [] { return false; }));
  EXPECT_EQ(spans_of(collection.stop()),
            (std::vector<std::string>{"condition_wait", "condition_wait"}));
}

}  // namespace
}  // namespace weft::test
