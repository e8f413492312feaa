// SPDX-License-Identifier: Apache-2.0
#include "pipeline.h"

#include <algorithm>
#include <array>

#include "run_slice.h"

namespace weft {
namespace {

// By kind: 1 for what is a record of the program, 0 for continuations and marks.
constexpr auto kIsRecord = [] {
  std::array<std::uint8_t, 256> counts{};
  for (std::size_t kind = 0; kind < kContinuationBit; ++kind)
    counts[kind] = is_mark(static_cast<RecordKind>(kind)) ? 0 : 1;
  return counts;
}();

std::uint64_t count_records(const Slot* slots, std::uint32_t count) noexcept {
  // This loop runs over every slot: no branch, and a lookup instead of three
  // comparisons.
  std::uint64_t records = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    // The lines come out of another core's cache: this loop, the first to look
    // at them, takes a third less time with a kilobyte of them on the way.
    __builtin_prefetch(slots + i + 64);
    records += kIsRecord[slots[i].word0 & 0xff];
  }
  return records;
}

// Only the drainer adds, so a relaxed load and store will do.
void add_to(std::atomic<std::uint64_t>& count, std::uint64_t more) noexcept {
  count.store(count.load(std::memory_order_relaxed) + more,
              std::memory_order_relaxed);
}

bool is_begin(RecordKind kind) noexcept {
  return kind == RecordKind::kSpanBegin || kind == RecordKind::kAsyncBegin;
}

std::atomic<std::uint64_t>& dropped_by(SubscriptionState& subscription,
                                       DropReason reason) noexcept {
  return subscription.dropped[static_cast<std::size_t>(reason)];
}

}  // namespace

std::uint64_t count_records(const Run& run) noexcept {
  return count_records(run.first, run.first_count) +
         count_records(run.second, run.second_count);
}

void Pipeline::add(std::shared_ptr<SubscriptionState> subscription) {
  subscriptions_.push_back(std::move(subscription));
}

void Pipeline::remove(const SubscriptionState& subscription) {
  std::erase_if(subscriptions_,
                [&](const auto& other) { return other.get() == &subscription; });
}

void Pipeline::define() {
  for (const auto& subscription : subscriptions_)
    subscription->exporter->define(*catalog_);
}

void Pipeline::deliver(const Run& run) {
  for (const auto& subscription : subscriptions_)
    deliver_to(*subscription, run);
}

void Pipeline::deliver_to(SubscriptionState& subscription, const Run& run) {
  const Ticks first = unwrap_tick(payload_of(slot_at(run, 0)), run.reference);
  const bool no_edge = first >= subscription.start_tick &&
                       subscription.stop_tick == kNoStop;
  if (no_edge && !subscription.open.tracking() &&
      subscription.limits.records == 0 && !subscription.limit_reached &&
      subscription.skipped.empty() && subscription.hidden.empty()) {
    hand_over(subscription, run);
  } else {
    deliver_selected(subscription, run, no_edge);
  }
}

void Pipeline::hand_over(SubscriptionState& subscription, const Run& slice) {
  const std::uint64_t records = count_records(slice);
  if (subscription.newest != nullptr) {
    const std::uint64_t old = subscription.newest->add(slice, records);
    add_to(subscription.delivered, records - old);
    add_to(dropped_by(subscription, DropReason::kLimit), old);
    if (old != 0) reach_limit(subscription, "the newest records are kept");
    return;
  }
  if (subscription.exporter->consume(slice)) {
    add_to(subscription.delivered, records);
    return;
  }
  add_to(dropped_by(subscription, DropReason::kSlowSink), records);
  subscription.exporter->lose(
      {slice.thread, slice.position, records, DropReason::kSlowSink});
}

void Pipeline::release_newest(SubscriptionState& subscription) {
  if (subscription.newest == nullptr) return;
  const std::uint64_t refused =
      subscription.newest->release_to(*subscription.exporter);
  add_to(subscription.delivered, 0 - refused);
  add_to(dropped_by(subscription, DropReason::kSlowSink), refused);
  subscription.newest = nullptr;
}

inline bool Pipeline::site_passes(SubscriptionState& subscription,
                                  std::uint32_t site) {
  const std::vector<std::uint8_t>& known = subscription.site_passes;
  return site < known.size() && known[site] != 0
             ? known[site] == 1
             : look_up_site(subscription, site);
}

inline bool Pipeline::passes(SubscriptionState& subscription, const Run& run,
                             std::uint32_t at, const Slot& head) {
  OpenSpans& open = subscription.open;
  if (!open.tracking()) return true;
  const std::uint64_t position = run.position + at;
  switch (kind_of(head)) {
    case RecordKind::kSpanBegin: {
      if (!site_passes(subscription, low_of(head))) return false;
      open.begin(run.thread, position);
      return true;
    }
    case RecordKind::kSpanEnd:
      return open.end(run.thread, position, high_of(head)) ||
             (open.unseen(run.thread, position, high_of(head)) &&
              site_passes(subscription, low_of(head)));
    case RecordKind::kArgument:
    case RecordKind::kFailure:
      // Of another thread's span: its begin may still be on its way.
      return (flags_of(head) & kFlagForeign) != 0 ||
             open.shown(run.thread, position, high_of(head));
    case RecordKind::kAsyncBegin: {
      const bool shown = site_passes(subscription, low_of(head));
      open.begin_async(run.thread, position, shown);
      return shown;
    }
    case RecordKind::kAsyncEnd: {
      const OpenSpans::Begin begin = open.end(slot_at(run, at + 1).word1);
      if (begin != OpenSpans::Begin::kUnknown)
        return begin == OpenSpans::Begin::kShown;
      // It began before the subscription, or its begin is still on its way.
      return site_passes(subscription, low_of(head));
    }
    case RecordKind::kInstant:
    case RecordKind::kCounter:
    case RecordKind::kFlowOut:
    case RecordKind::kFlowIn:
    case RecordKind::kStep:
      return site_passes(subscription, low_of(head));
    default:
      return true;
  }
}

// Record by record: at the edges of the interval, with a filter, or a limit.
void Pipeline::deliver_selected(SubscriptionState& subscription,
                                const Run& run, bool no_edge) {
  const std::uint32_t count = size_of(run);
  const bool side = (run.position & kSidePosition) != 0;
  const auto thread = static_cast<std::uint32_t>(run.thread);
  const bool all_inside = no_edge && subscription.hidden.empty();
  std::uint64_t skipped = 0;
  if (const auto before = subscription.skipped.find(thread);
      !side && before != subscription.skipped.end()) {
    skipped = before->second;
    subscription.skipped.erase(before);
  }
  std::uint64_t room = ~std::uint64_t{0};
  if (subscription.newest != nullptr) {
    // Makes room for itself.
  } else if (subscription.limit_reached) {
    room = 0;
  } else if (subscription.limits.records != 0) {
    room = subscription.limits.records -
           subscription.delivered.load(std::memory_order_relaxed);
  }
  std::uint64_t over_limit = 0;
  std::uint32_t begin = 0;  // of the slice being gathered
  bool open = false;
  const auto close = [&](std::uint32_t end) {
    if (!open) return;
    Run slice = slice_of(run, begin, end);
    slice.skipped = skipped;
    skipped = 0;
    hand_over(subscription, slice);
    open = false;
  };
  for (std::uint32_t at = 0; at < count;) {
    const Slot& head = slot_at(run, at);
    std::uint32_t next = at + 1;
    while (next < count && is_continuation(slot_at(run, next))) ++next;
    bool wanted = all_inside ? passes(subscription, run, at, head)
                             : wants(subscription, run, at, head);
    if (wanted && room == 0) {
      over_limit += is_mark(kind_of(head)) ? 0 : 1;
      wanted = false;
    }
    if (wanted) {
      if (!is_mark(kind_of(head))) --room;
      if (!open) begin = at;
      open = true;
    } else {
      close(at);
      skipped += next - at;
    }
    at = next;
  }
  close(count);
  if (skipped != 0 && !side) subscription.skipped[thread] += skipped;
  if (over_limit != 0) {
    add_to(dropped_by(subscription, DropReason::kLimit), over_limit);
    reach_limit(subscription, std::to_string(subscription.limits.records) +
                                  " records");
  }
}

bool Pipeline::wants(SubscriptionState& subscription, const Run& run,
                     std::uint32_t at, const Slot& head) {
  const Ticks tick = unwrap_tick(payload_of(head), run.reference);
  const Ticks stop = subscription.stop_tick;
  if (tick >= subscription.start_tick && tick < stop)
    return !ends_hidden(subscription, run, at, head) &&
           passes(subscription, run, at, head);
  // What begins outside of an interval has no end in any.
  if (is_begin(kind_of(head)))
    subscription.hidden.insert(async_id(run.thread, run.position + at));
  // Between two intervals: what ends here and began in an earlier one.
  return (kind_of(head) == RecordKind::kSpanEnd ||
          kind_of(head) == RecordKind::kAsyncEnd) &&
         tick >= stop && !ends_hidden(subscription, run, at, head) &&
         passes(subscription, run, at, head);
}

// Whether a record ends, or adds to, a span whose begin was left out.
bool Pipeline::ends_hidden(SubscriptionState& subscription, const Run& run,
                           std::uint32_t at, const Slot& head) {
  std::unordered_set<std::uint64_t>& hidden = subscription.hidden;
  if (hidden.empty()) return false;
  const auto id_of_begin = [&] {
    const std::uint64_t position = run.position + at;
    return async_id(run.thread,
                    position - static_cast<std::uint32_t>(
                                   static_cast<std::uint32_t>(position) -
                                   high_of(head)));
  };
  switch (kind_of(head)) {
    case RecordKind::kSpanEnd: return hidden.erase(id_of_begin()) != 0;
    case RecordKind::kAsyncEnd:
      return hidden.erase(slot_at(run, at + 1).word1) != 0;
    case RecordKind::kArgument:
    case RecordKind::kFailure:
      return (flags_of(head) & kFlagForeign) == 0 &&
             hidden.contains(id_of_begin());
    default: return false;
  }
}

bool Pipeline::look_up_site(SubscriptionState& subscription,
                            std::uint32_t site) {
  std::vector<std::uint8_t>& known = subscription.site_passes;
  if (site >= known.size()) known.resize(site + 1, 0);
  if (known[site] == 0) {
    SiteInfo info;
    std::string_view category;
    const bool found = catalog_->site(static_cast<SiteId>(site), &info) &&
                       catalog_->string(info.category, &category);
    known[site] = found && subscription.filter.passes(category) ? 1 : 2;
  }
  return known[site] == 1;
}

void Pipeline::reach_limit(SubscriptionState& subscription, std::string what) {
  if (subscription.limit_reached) return;
  subscription.limit_reached = true;
  subscription.limit = what;
  if (on_limit) on_limit(subscription, std::move(what));
}

void Pipeline::lose(const Loss& loss) {
  for (const auto& subscription : subscriptions_)
    subscription->exporter->lose(loss);
}

void Pipeline::forget(ThreadIndex thread) {
  for (const auto& subscription : subscriptions_) {
    subscription->open.forget(thread);
    subscription->skipped.erase(static_cast<std::uint32_t>(thread));
  }
}

void Pipeline::anchor(const ClockAnchor& anchor) {
  for (const auto& subscription : subscriptions_)
    subscription->exporter->anchor(anchor);
}

void Pipeline::forget_starts() {
  for (const auto& subscription : subscriptions_) subscription->start_tick = 0;
}

void Pipeline::settle(std::int64_t now_ns) {
  for (const auto& subscription : subscriptions_) {
    subscription->exporter->settle(now_ns);
    const Limits& limits = subscription->limits;
    if (subscription->limit_reached || subscription->newest != nullptr)
      continue;
    if (limits.bytes != 0) {
      const ExporterStatus status = subscription->exporter->status();
      if (status.bytes_written + status.bytes_pending >= limits.bytes)
        reach_limit(*subscription, std::to_string(limits.bytes) + " bytes");
    }
    if (limits.duration.count() != 0 &&
        now_ns - subscription->begin_ns >= limits.duration.count())
      reach_limit(*subscription,
                  std::to_string(limits.duration.count()) + " ns");
  }
}

bool Pipeline::work_pending() const {
  return std::any_of(
      subscriptions_.begin(), subscriptions_.end(),
      [](const auto& subscription) { return subscription->exporter->has_work(); });
}

}  // namespace weft
