// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_SITE_REGISTRY_H_
#define WEFT_SRC_SITE_REGISTRY_H_

// Which sites exist, which are on, and what their ids mean.
//
//   list    sites that have run at least once; linked through the sites
//           themselves, which lie in programs and plugins. Walked when the
//           switch changes, left by a plugin's sites when it is unloaded.
//   table   sites that have recorded; by id, copied, never forgotten. A site
//           that says what an earlier one said gets the id of that one, so a
//           plugin that is loaded again and again takes nothing more.
//
// A site registers without a lock, since that may happen in a signal handler.
// It pushes itself onto the list and then reads the switch; who turns the switch
// first changes it and then walks the list. Both are sequentially consistent,
// so at least one of the two sees the other (a Dekker pair), and a site cannot
// keep a state that is no longer meant. Walking and unlinking take a mutex.
//
// The list belongs to the process: it exists before the first init and is not
// forgotten by a fork.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "category_filter.h"
#include "string_table.h"
#include "weft/argument.h"
#include "weft/catalog.h"
#include "weft/ringbuf/ring_memory.h"
#include "weft/site.h"

namespace weft {

// What all subscriptions together want. Immutable once published.
struct SiteSwitch {
  bool on = false;
  bool slow_clock = false;              // sites stay on the slow path
  bool calls_observed = false;
  std::vector<CategoryFilter> filters;  // wanted by any of them

  bool wants(std::string_view category) const noexcept;
  friend bool operator==(const SiteSwitch&, const SiteSwitch&) = default;
};

// The sites of the process.
class SiteList {
 public:
  static SiteList& instance() noexcept;

  // Makes the site known, if nobody did yet; returns its state.
  std::uint8_t add(internal::SiteData& site) noexcept;
  void unlink(internal::ModuleAnchorData& module) noexcept;
  // Sets the state of every site. Cold. A switch is kept for ever, since a
  // registering thread may still read it, and used again when it comes again:
  // memory grows with different switches, not with changes.
  void turn(std::unique_ptr<const SiteSwitch> wanted);
  // The switch as it is, but with all sites on the slow path.
  void turn_to_slow_clock();
  // Switches everything off without taking the mutex: for a forked child, whose
  // copy of the mutex may be held by a thread that does not exist there.
  void turn_off_after_fork() noexcept;

  // The state that a site has now, from the switch.
  std::uint8_t state_for(const internal::SiteData& site) const noexcept;

 private:
  std::atomic<internal::SiteData*> head_{nullptr};
  std::atomic<const SiteSwitch*> switch_{nullptr};
  void turn_locked(std::unique_ptr<const SiteSwitch> wanted);

  std::mutex mutex_;  // walking, unlinking, turning
  std::vector<std::unique_ptr<const SiteSwitch>> switches_;
};

// What the ids of one runtime mean.
class SiteTable {
 public:
  static constexpr std::uint32_t kMaxSites = 1 << 16;

  explicit SiteTable(StringTable& strings) : strings_(&strings) {}
  bool reserve() noexcept;

  // Copies the site's texts and gives it an id, once; then switches it to the
  // fast path if that is its state. False when the table is full: such a site
  // is switched off for good and counted. Thread-safe, async-signal-safe.
  bool publish(internal::SiteData& site, const Argument* arguments,
               std::size_t count) noexcept;

  std::uint32_t end() const noexcept {
    return next_.load(std::memory_order_relaxed);  // entries are checked by [T]
  }
  bool info(SiteId id, SiteInfo* info) const noexcept;
  std::uint64_t refused() const noexcept {
    return refused_.load(std::memory_order_relaxed);  // a count of its own
  }

 private:
  static constexpr int kBucketBits = 12;

  struct Entry {
    SiteInfo info;
    std::uint32_t next;  // id of the next in its bucket; 0: none
    // [T] release when `info` is complete, acquire by readers.
    std::atomic<std::uint32_t> ready;
  };

  SiteInfo describe(const internal::SiteData& site, const Argument* arguments,
                    std::size_t count) noexcept;
  // The id of what equals `info`, found or made; 0 when the table is full. Two
  // threads at once may make one each.
  std::uint32_t find_or_add(SiteInfo info) noexcept;

  StringTable* strings_;
  ringbuf::RingMemory memory_;
  Entry* entries_ = nullptr;
  // First id of each bucket. [U] release when it and those behind it are
  // complete, acquire by who walks them.
  std::array<std::atomic<std::uint32_t>, 1 << kBucketBits> buckets_{};
  std::atomic<std::uint32_t> next_{1};
  std::atomic<std::uint64_t> refused_{0};
};

}  // namespace weft

#endif  // WEFT_SRC_SITE_REGISTRY_H_
