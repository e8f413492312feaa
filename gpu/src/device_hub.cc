// SPDX-License-Identifier: Apache-2.0
#include "device_hub.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "weft/internal/definitions.h"

namespace weft {
namespace {

constexpr std::size_t kMostFailures = 16;
constexpr std::size_t kMostReasons = 64;
constexpr std::size_t kMostClockPairs = std::size_t{1} << 16;

DeviceAccounts operator-(DeviceAccounts a, const DeviceAccounts& b) {
  a.delivered -= b.delivered;
  a.kept -= b.kept;
  a.dropped -= b.dropped;
  a.late -= b.late;
  a.unknown_kind -= b.unknown_kind;
  a.unknown_device -= b.unknown_device;
  a.reversed -= b.reversed;
  a.clock_pairs_dropped -= b.clock_pairs_dropped;
  a.lost -= b.lost;
  a.failures -= b.failures;
  return a;
}

bool is_known(ActivityKind kind) {
  return kind >= ActivityKind::kKernel && kind <= ActivityKind::kOverhead;
}

}  // namespace

// The right to call the source and to touch what belongs to it.
class DeviceHub::Turn {
 public:
  explicit Turn(DeviceHub& hub) : hub_(hub) {
    std::unique_lock lock(hub.mutex_);
    const std::thread::id me = std::this_thread::get_id();
    if (hub.in_turn_ == me) return;
    // A turn that was taken before a fork is over in the child.
    const pid_t process = getpid();
    hub.turn_over_.wait(lock, [&] {
      return hub.in_turn_ == std::thread::id() || hub.turn_of_ != process;
    });
    hub.in_turn_ = me;
    hub.turn_of_ = process;
    taken_ = true;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (!taken_) return;
    const std::scoped_lock lock(hub_.mutex_);
    hub_.in_turn_ = {};
    hub_.turn_over_.notify_one();
  }
  // False inside a call of the source, which would wait for itself.
  bool taken() const noexcept { return taken_; }

 private:
  DeviceHub& hub_;
  bool taken_ = false;
};

DeviceHub::DeviceHub(RegisteredDevice device)
    : device_(std::move(device)), counts_(std::make_shared<DeviceCounts>()) {}

bool DeviceHub::call(const char* what, const std::function<void()>& function) {
  std::string why;
  try {
    function();
    return true;
  } catch (const std::exception& thrown) {
    why = thrown.what();
  } catch (...) {
    why = "an exception of unknown type";
  }
  ++checked_.failures;
  if (failures_.size() == kMostFailures) failures_.erase(failures_.begin());
  failures_.push_back(std::string(what) + " of device source \"" +
                      device_.name + "\" threw: " + why);
  return false;
}

DeviceAbilities DeviceHub::probe() {
  const Turn turn(*this);
  DeviceAbilities abilities;
  if (!turn.taken()) {
    abilities.reason = "asked by the source itself";
    return abilities;
  }
  if (!call("probe()", [&] { abilities = device_.source->probe(); })) {
    abilities = {};
    abilities.reason = failures_.back();
  }
  if (abilities.devices == 0) {
    abilities.activities = abilities.event_pairs = false;
    if (abilities.reason.empty()) abilities.reason = "it has no devices";
  }
  return abilities;
}

// In a forked child the parent's run goes on in the parent, not here.
void DeviceHub::forget_parent() {
  if (process_ == getpid()) return;
  process_ = getpid();
  inbox_ = nullptr;
  open_.clear();
  trim();
}

Result<std::uint64_t> DeviceHub::open(const DeviceConfig& config) {
  const DeviceAbilities abilities = probe();
  const std::string who = "device source \"" + device_.name + "\"";
  const Turn turn(*this);
  if (!turn.taken())
    return Error{ErrorCode::kBusy,
                 who + " cannot be opened by itself while it is called"};
  if (!abilities.activities)
    return Error{ErrorCode::kUnavailable,
                 who + " has no activities: " + abilities.reason};
  forget_parent();
  // What lies in the queue came before this interval.
  fetch();
  Interval interval;
  interval.activities = first_activity_ + activities_.size();
  interval.clock_pairs = first_clock_pair_ + clock_pairs_.size();
  interval.failures = checked_.failures;
  interval.lost = lost_;
  interval.accounts = sum();
  if (inbox_ == nullptr) {
    auto inbox = std::make_shared<DeviceInbox>(device_.family,
                                               config.memory_bytes, counts_);
    Result<void> started;
    if (!call("start()",
              [&] { started = device_.source->start(config, inbox); }))
      started = Error{ErrorCode::kUnavailable, failures_.back()};
    if (!started.ok()) {
      inbox->close();
      return started.error();
    }
    inbox_ = std::move(inbox);
    abilities_ = abilities;
  } else {
    inbox_->allow(config.memory_bytes);
    // The clock of the run began before this interval did.
    interval.clock_pairs = first_clock_pair_;
  }
  interval.abilities = abilities_;
  const std::uint64_t ticket = next_ticket_++;
  open_.emplace(ticket, std::move(interval));
  return ticket;
}

DeviceRecords DeviceHub::close(std::uint64_t ticket) {
  DeviceRecords records;
  const Turn turn(*this);
  if (!turn.taken()) return records;
  const auto found = open_.find(ticket);
  if (found == open_.end() || process_ != getpid()) return records;
  call("flush()", [&] { device_.source->flush(); });
  if (open_.size() == 1) {
    call("stop()", [&] { device_.source->stop(); });
    inbox_->close();
  }
  fetch();
  const Interval& interval = found->second;
  records.abilities = interval.abilities;
  const auto from = [](auto& log, std::uint64_t first, std::uint64_t place) {
    return log.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(
                             place - first, log.size()));
  };
  records.activities.assign(
      from(activities_, first_activity_, interval.activities),
      activities_.end());
  records.clock_pairs.assign(
      from(clock_pairs_, first_clock_pair_,
           std::max(interval.clock_pairs, first_clock_pair_)),
      clock_pairs_.end());
  for (const auto& [reason, count] : lost_) {
    const auto before = interval.lost.find(reason);
    const std::uint64_t old =
        before == interval.lost.end() ? 0 : before->second;
    if (count > old) records.lost[reason] = count - old;
  }
  const std::uint64_t failed = checked_.failures - interval.failures;
  records.failures.assign(
      failures_.end() - static_cast<std::ptrdiff_t>(
                            std::min<std::uint64_t>(failed, failures_.size())),
      failures_.end());
  records.accounts = sum() - interval.accounts;
  open_.erase(found);
  trim();
  if (open_.empty()) inbox_ = nullptr;
  return records;
}

void DeviceHub::fetch() {
  if (inbox_ == nullptr) return;
  inbox_->fetch([&](DeviceBatch& batch) {
    const std::size_t before = activities_.size();
    for (const DeviceActivity& activity : batch.activities) check(activity);
    const std::size_t left_out =
        batch.activities.size() - (activities_.size() - before);
    inbox_->give_back(left_out * sizeof(DeviceActivity));
    for (const DeviceClockPair& pair : batch.clock_pairs) {
      if ((pair.device >= abilities_.devices && pair.device != kAllDevices) ||
          pair.ticks_after < pair.ticks_before) {
        ++checked_.clock_pairs_dropped;
        continue;
      }
      // The newest matter most: with the first ones they span the run.
      if (clock_pairs_.size() == kMostClockPairs) {
        clock_pairs_.erase(clock_pairs_.begin() + kMostClockPairs / 2);
        ++checked_.clock_pairs_dropped;
      }
      clock_pairs_.push_back(pair);
    }
    if (batch.lost != 0) {
      std::string reason(internal::text_of(batch.lost_reason));
      if (lost_.size() >= kMostReasons && lost_.count(reason) == 0)
        reason = "other reasons";
      lost_[reason] += batch.lost;
    }
  });
}

void DeviceHub::check(DeviceActivity activity) {
  if (!is_known(activity.kind)) {
    ++checked_.unknown_kind;
    return;
  }
  if (activity.device >= abilities_.devices) {
    ++checked_.unknown_device;
    return;
  }
  if (activity.end < activity.start) {
    ++checked_.reversed;
    activity.end = activity.start;
  }
  ++checked_.kept;
  activities_.push_back(activity);
}

DeviceAccounts DeviceHub::sum() {
  const auto read = [](const std::atomic<std::uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);
  };
  DeviceAccounts all = checked_;
  all.delivered = read(counts_->delivered);
  all.dropped = read(counts_->dropped);
  all.late = read(counts_->late);
  all.lost = read(counts_->lost);
  all.clock_pairs_dropped += read(counts_->clock_pairs_dropped);
  return all;
}

DeviceAccounts DeviceHub::accounts() {
  const Turn turn(*this);
  if (!turn.taken()) return {};
  fetch();
  return sum();
}

// Forgets what no open interval still has to get.
void DeviceHub::trim() {
  std::uint64_t needed = first_activity_ + activities_.size();
  for (const auto& [ticket, interval] : open_)
    needed = std::min(needed, interval.activities);
  const std::uint64_t gone = needed - first_activity_;
  activities_.erase(activities_.begin(),
                    activities_.begin() + static_cast<std::ptrdiff_t>(gone));
  first_activity_ = needed;
  if (inbox_ != nullptr) inbox_->give_back(gone * sizeof(DeviceActivity));
  // Pairs are those of the whole run: who comes later needs them too.
  if (!open_.empty()) return;
  first_clock_pair_ += clock_pairs_.size();
  clock_pairs_.clear();
}

}  // namespace weft
