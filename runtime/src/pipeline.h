// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_PIPELINE_H_
#define WEFT_SRC_PIPELINE_H_

// Who gets which records.
//
//   run of one thread --> for each subscription: [start, stop), categories,
//                         limit --> its exporter, in slices without a copy
//
// A record belongs to a subscription when its tick lies in [start, stop) and
// its category passes. The end of a span follows its begin, whatever became of
// the filter or the interval in between: both are there or neither is, but for
// what is open when the subscription begins or ends. What an exporter refuses is
// counted and reported to it, at the place where it is missing.

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "category_filter.h"
#include "newest_records.h"
#include "open_spans.h"
#include "weft/exporter.h"
#include "weft/session.h"

namespace weft {

inline constexpr Ticks kNoStop = ~Ticks{0};

// Something asked of the drainer or the helper is done, for who waits for it.
class Completion {
 public:
  void finish() {
    const std::scoped_lock lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }
  bool wait_for(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, timeout, [this] { return done_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
};

// One subscription: what was asked for, and its accounts.
struct SubscriptionState {
  std::uint64_t id = 0;
  SubscriptionInfo info;
  CategoryFilter filter;
  Limits limits;
  std::shared_ptr<Exporter> exporter;

  ProcessInfo process;

  std::string end_reason;  // set by who stops it, before the last pass
  CategoryFilter switch_filter;  // as sites are switched; control calls only

  Completion written;  // the exporter's output is complete

  // Accounts. Drainer only, but for who reads figures: relaxed, each its own.
  std::atomic<std::uint64_t> delivered{0};
  std::array<std::atomic<std::uint64_t>, kDropReasons> dropped{};

  // Drainer only.
  Ticks start_tick = 0;  // of the present interval; info has the first one's
  Ticks stop_tick = kNoStop;  // the first beyond it, once it is to end
  SubscriptionEnd end;
  // Of the process's counts, what is not this one's. Never changes once the
  // drainer has begun the subscription.
  std::array<std::uint64_t, kDropReasons> dropped_before{};
  std::uint64_t run_delay_before_ns = 0;
  std::int64_t begin_ns = 0;  // CLOCK_MONOTONIC
  std::unique_ptr<NewestRecords> newest;  // with LimitPolicy::kKeepNewest
  bool limit_reached = false;
  std::string limit;  // in words, once it is reached
  // Open spans whose begins were seen outside of its intervals, by async_id.
  std::unordered_set<std::uint64_t> hidden;
  // Slots not handed over since the last slice, by thread: `skipped` of runs.
  std::unordered_map<std::uint32_t, std::uint64_t> skipped;
  OpenSpans open;
  std::vector<std::uint8_t> site_passes;  // by SiteId: 0 unknown, 1 yes, 2 no
};

// Drainer only.
class Pipeline {
 public:
  explicit Pipeline(const Catalog& catalog) : catalog_(&catalog) {}

  void add(std::shared_ptr<SubscriptionState> subscription);
  void remove(const SubscriptionState& subscription);
  bool empty() const noexcept { return subscriptions_.empty(); }
  const std::vector<std::shared_ptr<SubscriptionState>>& subscriptions()
      const noexcept {
    return subscriptions_;
  }

  void define();
  void deliver(const Run& run);
  void lose(const Loss& loss);
  // The thread has ended and everything of it was delivered.
  void forget(ThreadIndex thread);
  void anchor(const ClockAnchor& anchor);
  // The order of ticks has ended; what comes is later than every start so far.
  void forget_starts();
  // At the end of a subscription that keeps the newest records.
  void release_newest(SubscriptionState& subscription);
  void settle(std::int64_t now_ns);
  // True when an exporter has something for the helper.
  bool work_pending() const;

  // Called, with the limit in words, when a subscription reaches it.
  std::function<void(SubscriptionState&, std::string)> on_limit;

 private:
  void deliver_to(SubscriptionState& subscription, const Run& run);
  void deliver_selected(SubscriptionState& subscription, const Run& run,
                        bool no_edge);
  void hand_over(SubscriptionState& subscription, const Run& slice);
  bool wants(SubscriptionState& subscription, const Run& run,
             std::uint32_t at, const Slot& head);
  bool ends_hidden(SubscriptionState& subscription, const Run& run,
                   std::uint32_t at, const Slot& head);
  bool passes(SubscriptionState& subscription, const Run& run,
              std::uint32_t at, const Slot& head);
  bool site_passes(SubscriptionState& subscription, std::uint32_t site);
  bool look_up_site(SubscriptionState& subscription, std::uint32_t site);
  void reach_limit(SubscriptionState& subscription, std::string what);

  const Catalog* catalog_;
  std::vector<std::shared_ptr<SubscriptionState>> subscriptions_;
};

// Records in a run that count as calls: heads, without the marks that weft
// itself adds.
std::uint64_t count_records(const Run& run) noexcept;

}  // namespace weft

#endif  // WEFT_SRC_PIPELINE_H_
