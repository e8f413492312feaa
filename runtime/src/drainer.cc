// SPDX-License-Identifier: Apache-2.0
#include "drainer.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "message.h"
#include "process_clock.h"
#include "run_slice.h"
#include "runtime.h"
#include "weft/clock.h"

namespace weft {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kBusyRest = 200'000;
constexpr std::int64_t kQuietRest = 5'000'000;
constexpr std::int64_t kIdleRest = 250'000'000;
constexpr std::int64_t kAnchorPeriod = 100'000'000;
constexpr std::int64_t kIdleAnchorPeriod = 5 * kSecond;
// Stamps lie ahead of the drainer's clock by 1.5 us when another processor took
// them, and by more when the counter has gone back since. An hour costs one of
// the 19 that a record may wait.
constexpr std::int64_t kSlack = 3600 * kSecond;
constexpr std::int64_t kBackwardsTolerance = 2'000;
// A full ring is handed over in slices of 64 KiB, which stay in the first-level
// cache while several look at them, and each is free for its thread at once.
constexpr std::uint32_t kSliceSlots = 4096;
// A ring that never held more than a sixteenth of itself in this time is
// offered a smaller one.
constexpr std::int64_t kShrinkAfter = 10 * kSecond;

std::int64_t monotonic_ns() noexcept {
  return static_cast<std::int64_t>(internal::read_monotonic());
}

std::uint64_t load(const std::atomic<std::uint64_t>& figure) noexcept {
  return figure.load(std::memory_order_relaxed);  // a figure of its own
}

}  // namespace

Drainer::Drainer(Runtime& runtime)
    : runtime_(&runtime),
      catalog_(runtime.strings, runtime.sites, runtime.metadata),
      pipeline_(catalog_) {
  pipeline_.on_limit = [this](SubscriptionState& subscription,
                              std::string what) {
    if (subscription.limits.on_reached)
      runtime_->helper->post([callback = subscription.limits.on_reached,
                              text = std::move(what)] { callback(text); });
  };
}

Result<void> Drainer::start() {
  if (thread_.running()) return {};
  quit_.store(false, std::memory_order_relaxed);
  return thread_.start("weft-drain", [this] { run(); });
}

bool Drainer::stop_thread(std::chrono::milliseconds timeout) {
  quit_.store(true, std::memory_order_release);
  wake();
  return thread_.join(timeout);
}

void Drainer::wake() noexcept { runtime_->drainer_wakeup.call(); }

void Drainer::order(Command command) {
  commands_.enqueue(std::move(command));
  wake();
}

void Drainer::run() {
  schedstat_ = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  last_record_ns_ = monotonic_ns();
  while (!quit_.load(std::memory_order_acquire)) {
    if (!held_.load(std::memory_order_acquire)) {
      obey();
      take_due_snapshots();
      if (pass() != 0) last_record_ns_ = now_ns_;
      if (more_) continue;
    }
    runtime_->drainer_wakeup.rest(rest_ns(monotonic_ns()));
  }
  if (schedstat_ >= 0) close(schedstat_);
}

std::int64_t Drainer::rest_ns(std::int64_t now_ns) const noexcept {
  if (pipeline_.empty()) return -1;
  const std::int64_t quiet = now_ns - last_record_ns_;
  std::int64_t rest = quiet < kSecond        ? kBusyRest
                      : quiet < 11 * kSecond ? kQuietRest
                                             : kIdleRest;
  for (const auto& [due_ns, command] : delayed_)
    rest = std::clamp(due_ns - now_ns, std::int64_t{0}, rest);
  return rest;
}

void Drainer::obey() {
  Command command;
  while (commands_.try_dequeue(command)) {
    SubscriptionState& subscription = *command.subscription;
    switch (command.kind) {
      case Command::Kind::kAdd:
        begin(command.subscription);
        break;
      case Command::Kind::kStop:
        settle_stop(subscription, command.not_before);
        break;
      case Command::Kind::kPause:
        pause(subscription);
        break;
      case Command::Kind::kResume:
        drain_all();
        subscription.start_tick = runtime_->now();
        subscription.stop_tick = kNoStop;
        last_record_ns_ = monotonic_ns();
        take_anchor();
        break;
      case Command::Kind::kFilter:
        filter(subscription, std::move(command.filter));
        break;
      case Command::Kind::kSnapshot:
        if (command.after.count() == 0) {
          snapshot(std::move(command));
        } else {
          const std::int64_t due = monotonic_ns() + command.after.count();
          delayed_.emplace_back(due, std::move(command));
        }
        continue;
      case Command::Kind::kRemove:
        finish(command.subscription);
        break;
    }
    command.done->finish();
  }
}

bool Drainer::serves(const SubscriptionState& subscription) const noexcept {
  return std::any_of(
      pipeline_.subscriptions().begin(), pipeline_.subscriptions().end(),
      [&](const auto& served) { return served.get() == &subscription; });
}

void Drainer::snapshot(Command command) {
  SnapshotOrder& order = command.snapshot;
  if (!serves(*command.subscription)) {
    order.finish(Error{ErrorCode::kNotRunning,
                       "the session ended before its snapshot"});
    return;
  }
  drain_all();
  take_anchor();
  order.to = runtime_->now();
  const auto before = static_cast<Ticks>(
      static_cast<double>(command.before.count()) *
      runtime_->clock->tick_hz() / 1e9);
  order.from =
      command.before.count() == 0 ? 0 : order.to - std::min(order.to, before);
  command.subscription->exporter->snapshot(std::move(order));
  runtime_->helper->wake();
}

void Drainer::take_due_snapshots() {
  if (delayed_.empty()) return;
  const std::int64_t now = monotonic_ns();
  for (std::size_t i = 0; i < delayed_.size();) {
    if (delayed_[i].first > now && serves(*delayed_[i].second.subscription)) {
      ++i;
      continue;
    }
    Command command = std::move(delayed_[i].second);
    delayed_.erase(delayed_.begin() + static_cast<std::ptrdiff_t>(i));
    snapshot(std::move(command));
  }
}

void Drainer::drain_all() {
  do pass();
  while (more_);
}

// Between two passes, so that none delivers a record whose side of the stop is
// not settled. What its caller recorded before may have the present tick, where
// the counter is a slow one, or one ahead of this processor's.
void Drainer::settle_stop(SubscriptionState& subscription, Ticks not_before) {
  if (subscription.stop_tick == kNoStop)
    subscription.stop_tick = std::max(runtime_->now_ordered(), not_before) + 1;
}

// The interval is over: its records, and what was refused, go out now.
void Drainer::pause(SubscriptionState& subscription) {
  drain_all();
  for (std::uint32_t slot = 0; slot < readings_.size(); ++slot)
    if (readings_[slot].index != 0) report_tail(slot);
  take_anchor();
  subscription.exporter->settle(kFlushNow);
  runtime_->helper->wake();
}

// From here on the rings may hold what `subscription` does not want. Everything
// before was wanted, since sites record nothing else for one that is alone.
void Drainer::track(SubscriptionState& subscription) {
  if (subscription.open.tracking()) return;
  subscription.open.track();
  for (const Reading& reading : readings_)
    if (reading.index != 0)
      subscription.open.track_from(static_cast<ThreadIndex>(reading.index),
                                   reading.reader.position());
  subscription.open.track_from(
      ThreadIndex::kNone, kSidePosition | runtime_->side.front_number() *
                                              SideChannel::kCellSlots);
}

// Begins before the change keep their ends: open ones are looked up by name.
void Drainer::filter(SubscriptionState& subscription, CategoryFilter filter) {
  drain_all();
  if (!filter.passes_everything()) track(subscription);
  one_filter_ = false;
  subscription.filter = std::move(filter);
  subscription.site_passes.clear();
}

void Drainer::begin(const std::shared_ptr<SubscriptionState>& subscription) {
  SubscriptionState& s = *subscription;
  drain_all();  // what lies in the rings belongs to the others
  bool extra = s.filter.names_extra();
  for (const auto& other : pipeline_.subscriptions()) {
    extra = extra || other->filter.names_extra();
    if ((!other->filter.passes_everything() || s.filter.names_extra()) &&
        !(other->filter == s.filter))
      track(*other);
  }
  // Nobody else records, and spans that are open from earlier pass as well: the
  // sites alone make the selection, and whole runs are handed over.
  if (!had_subscription_) only_filter_ = s.filter;
  one_filter_ = one_filter_ && only_filter_ == s.filter;
  had_subscription_ = true;
  const bool alone = pipeline_.empty() && one_filter_;
  // What others want and this one does not can only be an extra category, if
  // this one's filter is empty.
  const bool tracked = !alone && (!s.filter.passes_everything() || extra);
  for (std::size_t i = 0; i < kDropReasons; ++i)
    s.dropped_before[i] = load(runtime_->unplaced[i]);
  // Losses that a later loss record will tell of belong to this subscription.
  std::uint64_t told = load(refused_by_ended_);
  for (std::uint32_t slot = 0; slot < readings_.size(); ++slot) {
    const Reading& reading = readings_[slot];
    if (reading.index == 0) continue;
    const ThreadRegistry::Place& place = runtime_->threads.place(slot);
    told += std::max(load(place.noted), load(place.reported));
    announce(slot);
    if (!s.filter.passes_everything() || tracked)
      s.open.see_from(static_cast<ThreadIndex>(reading.index),
                      reading.reader.position());
  }
  if (tracked) s.open.track();
  s.dropped_before[static_cast<std::size_t>(DropReason::kRingFull)] += told;
  read_run_delay();
  s.run_delay_before_ns = run_delay_ns();
  s.begin_ns = monotonic_ns();
  if (s.limits.policy == LimitPolicy::kKeepNewest)
    s.newest = std::make_unique<NewestRecords>(
        s.limits, runtime_->clock->tick_hz() / 1e9);
  s.start_tick = s.info.start_tick = runtime_->now();
  s.exporter->begin(s.process, s.info);
  pipeline_.add(subscription);
  last_anchor_ns_ = 0;
  last_record_ns_ = s.begin_ns;
  pass();
}

void Drainer::finish(const std::shared_ptr<SubscriptionState>& subscription) {
  SubscriptionState& s = *subscription;
  drain_all();
  // What was refused since its last loss record is reported here, once.
  for (std::uint32_t slot = 0; slot < readings_.size(); ++slot)
    if (readings_[slot].index != 0) report_tail(slot);
  take_anchor();
  read_run_delay();
  pipeline_.define();  // the ends of threads that the last pass found ended
  catalog_.forget_news();
  s.end.stop_tick = s.stop_tick;
  pipeline_.release_newest(s);
  s.end.delivered = load(s.delivered);
  for (std::size_t i = 0; i < kDropReasons; ++i)
    s.end.dropped[i] =
        load(s.dropped[i]) + load(runtime_->unplaced[i]) - s.dropped_before[i];
  s.end.dropped[static_cast<std::size_t>(DropReason::kRingFull)] += refused();
  s.end.run_delay_ns = run_delay_ns() - s.run_delay_before_ns;
  s.end.reason = s.limit_reached ? "limit: " + s.limit : s.end_reason;
  s.exporter->end(s.end);
  last_stop_ = std::max(last_stop_, s.end.stop_tick);
  pipeline_.remove(s);
  runtime_->helper->finish(subscription);
}

std::uint64_t Drainer::pass() {
  more_ = false;
  passes_.store(load(passes_) + 1, std::memory_order_relaxed);
  look();
  now_ns_ = monotonic_ns();
  // Read after the positions: older than this is every record they cover.
  const auto slack = static_cast<Ticks>(
      runtime_->clock->tick_hz() / 1e9 * static_cast<double>(kSlack));
  const Ticks now = runtime_->now();
  // Ticks have no order across a counter that fell, or across two clocks:
  // whatever comes is later than what anybody waits for.
  if (now < last_now_ && !pipeline_.empty()) {
    pipeline_.forget_starts();
    ring_fell_ = ring_fell_ || !break_known_;
  }
  break_known_ = false;
  reference_ = std::max(now, last_now_) + slack;
  last_now_ = now;
  pipeline_.define();
  catalog_.forget_news();
  const std::uint64_t slots = deliver();
  if (!pipeline_.empty()) {
    const bool idle = now_ns_ - last_record_ns_ > kSecond;
    if (ring_fell_ || now_ns_ - last_anchor_ns_ >=
                          (idle && slots == 0 ? kIdleAnchorPeriod
                                              : kAnchorPeriod))
      take_anchor();
    pipeline_.settle(now_ns_);
    if (pipeline_.work_pending()) runtime_->helper->wake();
  }
  return slots;
}

void Drainer::look() {
  side_ready_ = runtime_->side.ready();
  runtime_->threads.meet_arrivals([this](std::uint32_t slot) {
    if (readings_.size() <= slot) readings_.resize(slot + 1);
    const ThreadRegistry::Place& place = runtime_->threads.place(slot);
    readings_[slot].index = place.index;
    readings_[slot].reader.attach(&runtime_->threads.control(slot),
                                  place.first_segment, 0);
    taken_.push_back(slot);
  });
  for (const std::uint32_t slot : taken_) look_at(slot);
}

void Drainer::look_at(std::uint32_t slot) {
  ThreadRegistry::Place& place = runtime_->threads.place(slot);
  Reading& reading = readings_[slot];
  const auto phase = static_cast<ThreadRegistry::Phase>(
      place.phase.load(std::memory_order_acquire));  // [P]
  reading.ended = phase == ThreadRegistry::Phase::kEnded;
  // Acquire: the name belongs to the revision.
  if (place.revision.load(std::memory_order_acquire) != reading.revision)
    announce(slot);
  reading.seen = reading.reader.peek();
}

void Drainer::announce(std::uint32_t slot) {
  const ThreadRegistry::Place& place = runtime_->threads.place(slot);
  Reading& reading = readings_[slot];
  reading.revision = place.revision.load(std::memory_order_relaxed);
  ThreadInfo info;
  info.index = static_cast<ThreadIndex>(reading.index);
  info.tid = place.tid;
  info.tid_is_unique = tids_.insert(place.tid, reading.index);
  info.name = static_cast<StringId>(place.name.load(std::memory_order_relaxed));
  info.start_tick = place.start_tick;
  info.exit_tick = reading.ended ? place.end_tick : 0;
  info.revision = reading.revision;
  catalog_.announce(info);
}

std::uint64_t Drainer::deliver() {
  std::uint64_t slots = deliver_side();
  bool any_left = false;
  for (const std::uint32_t slot : taken_) {
    slots += deliver_from(slot);
    any_left = any_left || readings_[slot].index == 0;
  }
  if (any_left)
    std::erase_if(taken_, [this](std::uint32_t slot) {
      return readings_[slot].index == 0;
    });
  return slots;
}

std::uint64_t Drainer::deliver_from(std::uint32_t slot) {
  Reading& reading = readings_[slot];
  const std::uint32_t count = reading.seen.size();
  if (count != 0) {
    Run run;
    run.thread = static_cast<ThreadIndex>(reading.index);
    run.position = reading.reader.position();
    run.first = reading.seen.first;
    run.first_count = reading.seen.first_count;
    run.second = reading.seen.second;
    run.second_count = reading.seen.second_count;
    run.reference = reference_;
    const Ticks tick = unwrap_tick(payload_of(run.first[0]), reference_);
    if (reading.unordered != 0)
      --reading.unordered;
    else if (tick + static_cast<Ticks>(kBackwardsTolerance) < reading.last_tick)
      ring_fell_ = true;
    reading.last_tick = tick;
    if (pipeline_.empty() && tick < last_stop_)
      runtime_->drop(DropReason::kLatePublish, count_records(run));
    for (std::uint32_t begin = 0; begin < count;) {
      const std::uint32_t end = slice_end(run, begin, kSliceSlots);
      pipeline_.deliver(slice_of(run, begin, end));
      reading.reader.release(end - begin);
      begin = end;
    }
    reading.most = std::max(reading.most, count);
    offer_smaller(slot, reading);
  }
  std::uint64_t offset = 0;
  std::uint64_t capacity = 0;
  if (reading.reader.at_link(&offset, &capacity)) {
    const ringbuf::Segment old =
        reading.reader.follow(runtime_->stock.at(offset, capacity));
    runtime_->stock.give(old);
    runtime_->helper->want_stock();
    more_ = true;
  } else if (reading.ended) {
    if (reading.reader.peek().size() == 0) {
      end_thread(slot);
    } else {
      more_ = true;
    }
  }
  return count;
}

// A thread that was busy once does not keep its large ring for ever.
void Drainer::offer_smaller(std::uint32_t slot, Reading& reading) {
  if (now_ns_ - reading.most_since_ns < kShrinkAfter) return;
  const std::uint64_t capacity = reading.reader.segment().capacity;
  const Rung rung = runtime_->stock.rung_of(capacity);
  if (reading.most_since_ns != 0 && rung != Rung::kSmall &&
      reading.most < capacity / 16) {
    const auto smaller = static_cast<std::uint32_t>(rung) - 1;
    // Relaxed: a suggestion, see ThreadRegistry::Place.
    runtime_->threads.place(slot).offer.store(smaller + 1,
                                              std::memory_order_relaxed);
  }
  reading.most = 0;
  reading.most_since_ns = now_ns_;
}

std::uint64_t Drainer::deliver_side() {
  for (std::uint32_t i = 0; i < side_ready_; ++i) {
    const SideChannel::Cell* cell = runtime_->side.front();
    Run run;
    run.thread = static_cast<ThreadIndex>(cell->owner);
    run.position = kSidePosition |
                   runtime_->side.front_number() * SideChannel::kCellSlots;
    run.first = cell->slots.data();
    run.first_count = cell->count;
    run.reference = reference_;
    pipeline_.deliver(run);
    runtime_->side.pop();
  }
  return side_ready_;
}

void Drainer::end_thread(std::uint32_t slot) {
  Reading& reading = readings_[slot];
  report_tail(slot);
  refused_by_ended_.fetch_add(load(runtime_->threads.control(slot).refused),
                              std::memory_order_relaxed);
  announce(slot);  // with its end
  pipeline_.forget(static_cast<ThreadIndex>(reading.index));
  runtime_->stock.give(reading.reader.segment());
  reading = {};
  runtime_->threads.free_place(slot);
}

// Refused records after the last loss record of a thread.
void Drainer::report_tail(std::uint32_t slot) {
  ThreadRegistry::Place& place = runtime_->threads.place(slot);
  const std::uint64_t refused = load(runtime_->threads.control(slot).refused);
  const std::uint64_t told = std::max(load(place.noted), load(place.reported));
  if (refused <= told) return;
  const Reading& reading = readings_[slot];
  pipeline_.lose({static_cast<ThreadIndex>(reading.index),
                  reading.reader.position(), refused - told,
                  DropReason::kRingFull});
  place.reported.store(refused, std::memory_order_relaxed);
}

std::uint64_t Drainer::refused() const noexcept {
  std::uint64_t sum = load(refused_by_ended_);
  for (std::uint32_t slot = 0; slot < runtime_->threads.places(); ++slot)
    if (runtime_->threads.place(slot).phase.load(std::memory_order_acquire) !=
        static_cast<std::uint32_t>(ThreadRegistry::Phase::kFree))
      sum += load(runtime_->threads.control(slot).refused);
  return sum;
}

void Drainer::take_anchor() {
  const ClockAnchor anchor = runtime_->anchors->take(ring_fell_);
  if (anchor.epoch != epoch_) pass_over_break(anchor.epoch);
  ring_fell_ = false;
  last_anchor_ns_ = now_ns_;
  pipeline_.anchor(anchor);
  offer_to_frozen_line(anchor);
  if (runtime_->anchors->fallback_due()) {
    const ClockAnchor first = runtime_->anchors->fall_back();
    pass_over_break(first.epoch);
    pipeline_.anchor(first);
    publish_process_clock(*runtime_->clock, first);
    runtime_->use_slow_clock();
    runtime_->helper->post([reason = runtime_->clock->reason()] {
      say_once("records are stamped by CLOCK_MONOTONIC from now on: " + reason);
    });
  }
  const ClockBreaks& breaks = runtime_->anchors->breaks();
  clock_corrections_.store(
      breaks.suspends + breaks.backwards + breaks.jumps + breaks.rate_changes,
      std::memory_order_relaxed);
  read_run_delay();
}

// A break that is known must not be met again as a fault, by the next pass or by
// each thread that records for the first time since.
void Drainer::pass_over_break(std::uint32_t epoch) {
  epoch_ = epoch;
  break_known_ = true;
  // The next run may have been on its way, the one after it has come since.
  for (Reading& reading : readings_) reading.unordered = 2;
}

void Drainer::read_run_delay() {
  char text[128];
  const ssize_t size =
      schedstat_ < 0 ? -1 : pread(schedstat_, text, sizeof text, 0);
  if (size <= 0) return;
  // "time on a CPU, time waiting for one, slices"
  const char* end = text + size;
  const char* second = std::find<const char*>(text, end, ' ');
  std::uint64_t delay = 0;
  if (second != end && std::from_chars(second + 1, end, delay).ec == std::errc())
    run_delay_ns_.store(delay, std::memory_order_relaxed);
}

}  // namespace weft
