// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_DRAINER_H_
#define WEFT_SRC_DRAINER_H_

// The one thread that empties rings. It never blocks and writes no file.
//
// A pass:
//
//   1  look     every thread's place: who is new, up to where has each ring published
//   2  define   exporters learn names, sites and threads; whatever the records
//               seen in 1 refer to was published before them
//   3  deliver  those records, per thread in order; the ring is freed behind
//   4  settle   anchors, exporters' flush promises, the helper
//
// Between passes it rests: passes far apart are what keeps the writing threads
// at full speed (a reader close behind a writer slows it down by half).
//
//   records in the last second   200 us
//   in the last 11 s             5 ms
//   none for longer              250 ms: on a virtual machine a wake-up that
//                                does nothing is charged 50 to 120 us of CPU,
//                                one of a drainer up to twice that
//   nobody subscribed            until called
//
// What a burst meets after a long silence: a ring of 8 or 128 KiB, and a larger
// one at once when that is full. Taking it calls the drainer, as registering a
// thread does; records never do (ADR 0003). A ring that is as large as rings get
// (4 MiB, 260,000 slots, which is 3 ms of spans at full rate) holds what comes
// until the rest is over; beyond that, records are refused and counted.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "concurrent_commands.h"
#include "pipeline.h"
#include "runtime_catalog.h"
#include "service_thread.h"
#include "thread_registry.h"
#include "tid_set.h"
#include "weft/record.h"
#include "weft/result.h"
#include "weft/ringbuf/spsc_ring.h"

namespace weft {

class Runtime;

class Drainer {
 public:
  explicit Drainer(Runtime& runtime);

  // Thread-safe but for each other: control calls hold a mutex.
  Result<void> start();
  bool stop_thread(std::chrono::milliseconds timeout);

  // Thread-safe, async-signal-safe.
  void wake() noexcept;

  // Thread-safe. Done after the drainer has obeyed: `command.done` tells. A
  // removed subscription's exporter has then got everything, and the helper
  // completes its output.
  void order(Command command);

  // Thread-safe figures.
  std::uint64_t passes() const noexcept {
    return passes_.load(std::memory_order_relaxed);
  }
  std::uint64_t run_delay_ns() const noexcept {
    return run_delay_ns_.load(std::memory_order_relaxed);
  }
  std::uint64_t clock_corrections() const noexcept {
    return clock_corrections_.load(std::memory_order_relaxed);
  }
  // Records refused by rings, since the beginning.
  std::uint64_t refused() const noexcept;

  // For tests: while held, no pass begins.
  void hold(bool held) noexcept { held_.store(held, std::memory_order_release); }

 private:
  // What the drainer knows of a place.
  struct Reading {
    std::uint32_t index = 0;  // the thread it belongs to; 0: nobody
    std::uint32_t revision = 0;
    bool ended = false;       // seen before the ring was looked at
    ringbuf::RingReader reader;
    ringbuf::RingReader::Slots seen;
    Ticks last_tick = 0;
    std::uint8_t unordered = 0;     // runs whose ticks have no order to it
    std::uint32_t most = 0;         // slots found at once, of late
    std::int64_t most_since_ns = 0;
  };

  void run();
  void obey();
  void begin(const std::shared_ptr<SubscriptionState>& subscription);
  void settle_stop(SubscriptionState& subscription, Ticks not_before);
  void pause(SubscriptionState& subscription);
  void track(SubscriptionState& subscription);
  void filter(SubscriptionState& subscription, CategoryFilter filter);
  void finish(const std::shared_ptr<SubscriptionState>& subscription);
  void snapshot(Command command);
  void take_due_snapshots();
  bool serves(const SubscriptionState& subscription) const noexcept;
  void drain_all();
  // Returns the number of slots that were delivered.
  std::uint64_t pass();
  void look();
  void look_at(std::uint32_t slot);
  void announce(std::uint32_t slot);
  std::uint64_t deliver();
  std::uint64_t deliver_from(std::uint32_t slot);
  std::uint64_t deliver_side();
  void end_thread(std::uint32_t slot);
  void report_tail(std::uint32_t slot);
  void offer_smaller(std::uint32_t slot, Reading& reading);
  void take_anchor();
  void pass_over_break(std::uint32_t epoch);
  void read_run_delay();
  std::int64_t rest_ns(std::int64_t now_ns) const noexcept;

  Runtime* runtime_;
  RuntimeCatalog catalog_;
  Pipeline pipeline_;
  CommandQueue commands_;
  ServiceThread thread_;
  std::atomic<bool> quit_{false};
  std::atomic<bool> held_{false};

  std::vector<Reading> readings_;     // by slot
  std::vector<std::uint32_t> taken_;  // the slots of those that have somebody
  TidSet tids_;
  // Snapshots that wait for what comes after, with when they are due.
  std::vector<std::pair<std::int64_t, Command>> delayed_;
  std::uint32_t side_ready_ = 0;
  Ticks reference_ = 0;
  Ticks last_now_ = 0;         // when the pass before looked
  bool break_known_ = false;   // of the clock, since then
  std::uint32_t epoch_ = 0;    // of the last anchor
  std::int64_t now_ns_ = 0;
  std::int64_t last_record_ns_ = 0;
  std::int64_t last_anchor_ns_ = 0;
  bool more_ = false;       // a pass left something: do another at once
  bool ring_fell_ = false;  // a thread's stamps went backwards
  Ticks last_stop_ = 0;     // of the last subscription that ended
  bool had_subscription_ = false;
  bool one_filter_ = true;  // all subscriptions so far had only_filter_
  CategoryFilter only_filter_;
  int schedstat_ = -1;

  std::atomic<std::uint64_t> passes_{0};
  std::atomic<std::uint64_t> run_delay_ns_{0};
  std::atomic<std::uint64_t> clock_corrections_{0};
  std::atomic<std::uint64_t> refused_by_ended_{0};
};

}  // namespace weft

#endif  // WEFT_SRC_DRAINER_H_
