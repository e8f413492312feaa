// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_RUNTIME_H_
#define WEFT_SRC_RUNTIME_H_

// Everything that a process records into: the tables, the rings, and the two
// threads that empty them.
//
// One object a process, made at the first need and never destroyed, since
// records come from everywhere until the very end. A forked child does not see
// its parent's: instance() is null there until the child makes its own.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "clock_anchors.h"
#include "clock_source.h"
#include "drainer.h"
#include "helper.h"
#include "init_config.h"
#include "metadata_list.h"
#include "segment_stock.h"
#include "side_channel.h"
#include "site_registry.h"
#include "string_table.h"
#include "thread_registry.h"
#include "wakeup.h"
#include "weft/record.h"
#include "weft/result.h"

namespace weft {

class Runtime {
 public:
  // Null when nothing was set up in this process.
  static Runtime* instance() noexcept;
  // The tables, made if need be; records need prepare() as well. Null when
  // memory cannot be had.
  static Runtime* create() noexcept;
  // Forgets the parent's in a forked child. Async-signal-safe.
  static void forget_after_fork() noexcept;

  Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // Rings, the clock and the two threads, as `config` says. Rings are reserved
  // once: what a later call wants differently is ignored.
  // Errors: kOutOfMemory, kThreadFailed. Control calls only.
  Result<void> prepare(const FinalConfig& config);
  // Ends the two threads. False: one hangs in a write and is left behind.
  bool retire(std::chrono::milliseconds timeout);

  StringTable strings;
  SiteTable sites{strings};
  SegmentStock stock;
  ThreadRegistry threads{stock, strings};
  SideChannel side;
  MetadataList metadata;
  std::atomic<std::uint64_t> refused_metadata{0};

  // Records that reached no ring, by reason. Counted in the slow path only.
  std::array<std::atomic<std::uint64_t>, kDropReasons> unplaced{};

  // The clock that stamps records. Ticks of slow paths come from now().
  std::atomic<bool> slow_clock{false};
  Ticks now() const noexcept;
  Ticks now_ordered() const noexcept;
  std::uint8_t clock_flag() const noexcept {
    return slow_clock.load(std::memory_order_relaxed) ? kFlagMonotonic : 0;
  }

  std::unique_ptr<ClockSource> clock;
  std::unique_ptr<AnchorTaker> anchors;

  // Calls the drainer; here, so that a thread that registers finds it always.
  Wakeup drainer_wakeup;
  // Made by the first prepare(), kept: the drainer knows how far it has read.
  std::unique_ptr<Drainer> drainer;
  std::unique_ptr<Helper> helper;

  // Rings and clock are there. Release by prepare(), acquire by recorders.
  std::atomic<bool> ready{false};
  // Somebody is subscribed. A hint for calls that have no site.
  std::atomic<bool> recording{false};

  void drop(DropReason reason, std::uint64_t records = 1) noexcept {
    // Relaxed: counts of their own.
    unplaced[static_cast<std::size_t>(reason)].fetch_add(
        records, std::memory_order_relaxed);
  }

  // The counter proved bad: stamps come from CLOCK_MONOTONIC from now on.
  void use_slow_clock();

 private:
  bool reserve_tables() noexcept;
  Result<void> reserve_rings(const FinalConfig& config);

  bool running_ = false;  // the two threads are
  // Helpers whose threads hang in a write and may still look at them.
  std::vector<std::unique_ptr<Helper>> left_behind_;
  ringbuf::RingMemory alive_memory_;
  std::uint32_t* alive_ = nullptr;  // 0 in a forked child
};

}  // namespace weft

#endif  // WEFT_SRC_RUNTIME_H_
