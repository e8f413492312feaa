// SPDX-License-Identifier: Apache-2.0
#include "site_registry.h"

#include <algorithm>
#include <new>

#include "immortal.h"
#include "weft/call_record.h"

namespace weft {

using internal::SiteData;

namespace {

// Whether two sites say the same of their records. Instances of a template do,
// unless the types of their arguments differ.
bool same_place(const SiteInfo& a, const SiteInfo& b) noexcept {
  const auto same = [](const SiteArgument& x, const SiteArgument& y) {
    return x.key == y.key && x.type == y.type;
  };
  return a.kind == b.kind && a.name == b.name && a.category == b.category &&
         a.file == b.file && a.line == b.line &&
         std::equal(a.arguments.begin(), a.arguments.begin() + a.argument_count,
                    b.arguments.begin(), b.arguments.begin() + b.argument_count,
                    same);
}

}  // namespace

bool SiteSwitch::wants(std::string_view category) const noexcept {
  if (!on) return false;
  for (const CategoryFilter& filter : filters)
    if (filter.passes(category)) return true;
  return false;
}

SiteList& SiteList::instance() noexcept {
  static Immortal<SiteList> list;
  return *list;
}

std::uint8_t SiteList::state_for(const SiteData& site) const noexcept {
  const SiteSwitch* now = switch_.load(std::memory_order_seq_cst);
  if (now == nullptr) return internal::kSiteOff;
  const std::uint8_t observed =
      now->calls_observed && site.role == internal::SiteRole::kCall
          ? internal::kSiteObserved
          : 0;
  if (!now->wants(site.category)) return observed | internal::kSiteOff;
  // A site without an id has to pass by the slow path once, to get it.
  // Relaxed: the id is this thread's own, or publish() sets the state anew.
  const bool has_id = site.number.load(std::memory_order_relaxed) != 0;
  return observed | (has_id && !now->slow_clock ? internal::kSiteFast
                                                : internal::kSiteSlow);
}

std::uint8_t SiteList::add(SiteData& site) noexcept {
  // Who moves it away from "unregistered" owns the push.
  std::uint8_t expected = internal::kSiteUnregistered;
  if (!site.state.compare_exchange_strong(expected, internal::kSiteRegistering,
                                          std::memory_order_relaxed))
    // While another thread pushes it, the switch alone says what is wanted: a
    // record that both threads make at once must not get lost.
    return expected == internal::kSiteRegistering ? state_for(site) : expected;
  SiteData* head = head_.load(std::memory_order_relaxed);
  do {
    site.next = head;
    // seq_cst: half of the Dekker pair in the header.
  } while (!head_.compare_exchange_weak(head, &site,
                                        std::memory_order_seq_cst));
  std::uint8_t state = state_for(site);
  for (;;) {
    site.state.store(state, std::memory_order_relaxed);  // a switch
    const std::uint8_t again = state_for(site);
    if (again == state) return state;
    state = again;
  }
}

void SiteList::turn(std::unique_ptr<const SiteSwitch> wanted) {
  const std::scoped_lock lock(mutex_);
  turn_locked(std::move(wanted));
}

void SiteList::turn_to_slow_clock() {
  const std::scoped_lock lock(mutex_);
  const SiteSwitch* now = switch_.load(std::memory_order_relaxed);
  auto slow = std::make_unique<SiteSwitch>(now == nullptr ? SiteSwitch()
                                                          : *now);
  slow->slow_clock = true;
  turn_locked(std::move(slow));
}

void SiteList::turn_locked(std::unique_ptr<const SiteSwitch> wanted) {
  const auto known = std::find_if(
      switches_.begin(), switches_.end(),
      [&](const auto& earlier) { return *earlier == *wanted; });
  const SiteSwitch* now =
      known != switches_.end() ? known->get() : wanted.get();
  if (known == switches_.end()) switches_.push_back(std::move(wanted));
  // seq_cst: the other half of the Dekker pair.
  switch_.store(now, std::memory_order_seq_cst);
  for (SiteData* site = head_.load(std::memory_order_seq_cst); site != nullptr;
       site = site->next)
    site->state.store(state_for(*site), std::memory_order_relaxed);
}

void SiteList::turn_off_after_fork() noexcept {
  switch_.store(nullptr, std::memory_order_seq_cst);
  for (SiteData* site = head_.load(std::memory_order_seq_cst); site != nullptr;
       site = site->next) {
    site->state.store(internal::kSiteOff, std::memory_order_relaxed);
    // Ids belong to the parent's tables; a child that records makes its own.
    site->number.store(0, std::memory_order_relaxed);
  }
  // A mutex that a lost thread held is replaced, not unlocked.
  new (&mutex_) std::mutex();
}

void SiteList::unlink(internal::ModuleAnchorData& module) noexcept {
  const std::scoped_lock lock(mutex_);
  // Pushes only ever change the head, so inner links are ours under the mutex.
  for (;;) {
    SiteData* head = head_.load(std::memory_order_acquire);
    if (head == nullptr || head->module != &module) break;
    head_.compare_exchange_strong(head, head->next, std::memory_order_acq_rel);
  }
  for (SiteData* site = head_.load(std::memory_order_acquire);
       site != nullptr;) {
    SiteData* next = site->next;
    if (next != nullptr && next->module == &module) {
      site->next = next->next;
    } else {
      site = next;
    }
  }
}

bool SiteTable::reserve() noexcept {
  if (!memory_.reserve(kMaxSites * sizeof(Entry),
                       ringbuf::RingMemory::Use::kShared))
    return false;
  entries_ = reinterpret_cast<Entry*>(memory_.at(0));
  return true;
}

SiteInfo SiteTable::describe(const SiteData& site, const Argument* arguments,
                             std::size_t count) noexcept {
  SiteInfo info;
  info.kind = site.kind;
  info.name = strings_->intern(site.name);
  const std::string_view category = site.category;
  info.category = strings_->intern(category.empty() ? "default" : category);
  info.file = strings_->intern(site.file);
  info.line = site.line;
  if (site.role == internal::SiteRole::kCall) {
    static_assert(kCallArguments <= kMaxArguments);
    for (const CallArgumentKey& argument : kCallArgumentKeys)
      info.arguments[info.argument_count++] = {strings_->intern(argument.key),
                                               argument.type};
    return info;
  }
  for (std::size_t i = 0; i < count && i < kMaxArguments; ++i) {
    if (!arguments[i].present()) continue;
    SiteArgument& argument = info.arguments[info.argument_count++];
    argument.key = strings_->intern(arguments[i].key());
    argument.type = arguments[i].type();
  }
  return info;
}

std::uint32_t SiteTable::find_or_add(SiteInfo info) noexcept {
  const std::uint32_t hash =
      (static_cast<std::uint32_t>(info.name) * 31 + info.line) * 0x9e3779b1u;
  std::atomic<std::uint32_t>& bucket = buckets_[hash >> (32 - kBucketBits)];
  std::uint32_t first = bucket.load(std::memory_order_acquire);  // [U]
  for (std::uint32_t id = first; id != 0; id = entries_[id].next)
    if (same_place(entries_[id].info, info)) return id;

  // Relaxed: the number alone; the entry goes with [T] and [U].
  std::uint32_t id = next_.load(std::memory_order_relaxed);
  do {
    if (id == kMaxSites) {
      refused_.fetch_add(1, std::memory_order_relaxed);
      return 0;
    }
  } while (
      !next_.compare_exchange_weak(id, id + 1, std::memory_order_relaxed));
  info.number = static_cast<SiteId>(id);
  Entry& entry = entries_[id];
  entry.info = info;
  entry.ready.store(1, std::memory_order_release);  // [T]
  do {
    entry.next = first;
  } while (!bucket.compare_exchange_weak(first, id,
                                         std::memory_order_release,  // [U]
                                         std::memory_order_acquire));
  return id;
}

bool SiteTable::publish(SiteData& site, const Argument* arguments,
                        std::size_t count) noexcept {
  if (site.number.load(std::memory_order_acquire) != 0) return true;
  const std::uint32_t id = find_or_add(describe(site, arguments, count));
  if (id == 0) return false;
  // Two threads may get here at once: one id wins, the other names nothing.
  std::uint32_t none = 0;
  site.number.compare_exchange_strong(none, id, std::memory_order_release);
  // From slow to fast, unless the switch was turned meanwhile: then the state
  // is what turn() made of it, and the next record comes by here again.
  std::uint8_t slow = internal::kSiteSlow;
  const std::uint8_t wanted = SiteList::instance().state_for(site);
  if (wanted == internal::kSiteFast)
    site.state.compare_exchange_strong(slow, wanted, std::memory_order_release);
  return true;
}

bool SiteTable::info(SiteId id, SiteInfo* info) const noexcept {
  const auto number = static_cast<std::uint32_t>(id);
  if (number == 0 || number >= end()) return false;
  const Entry& entry = entries_[number];
  if (entry.ready.load(std::memory_order_acquire) == 0) return false;  // [T]
  *info = entry.info;
  return true;
}

namespace internal {

std::uint8_t settle_site(SiteData& site) noexcept {
  // Relaxed: a switch.
  const std::uint8_t now = site.state.load(std::memory_order_relaxed);
  if (now != kSiteUnregistered && now != kSiteRegistering) return now;
  return SiteList::instance().add(site);
}

void unlink_module(ModuleAnchorData& module) noexcept {
  SiteList::instance().unlink(module);
}

}  // namespace internal

}  // namespace weft
