// SPDX-License-Identifier: Apache-2.0
#include "device_inbox.h"

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "weft/gpu/launch_word.h"
#include "weft/internal/launch.h"
#include "weft/span.h"

namespace weft {
namespace {

constexpr std::uint64_t kClosed = std::uint64_t{1} << 63;
// Pairs and losses are charged as well: a source that sends nothing else must
// not grow without a bound.
constexpr std::size_t kSmallBatch = sizeof(DeviceBatch) + 64;

}  // namespace

// A call of the source, from its first line to its last.
class DeviceInbox::Call {
 public:
  // acq_rel [C]: sees what came before the close it misses, and is seen by the
  // close that waits for it.
  explicit Call(DeviceInbox& inbox) noexcept
      : state_(inbox.state_),
        open_((state_.fetch_add(1, std::memory_order_acq_rel) & kClosed) == 0) {
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { state_.fetch_sub(1, std::memory_order_release); }  // [C]
  bool open() const noexcept { return open_; }

 private:
  std::atomic<std::uint64_t>& state_;
  const bool open_;
};

void DeviceInbox::close() noexcept {
  state_.fetch_or(kClosed, std::memory_order_acq_rel);              // [C]
  while ((state_.load(std::memory_order_acquire) & ~kClosed) != 0)  // [C]
    std::this_thread::yield();
}

// Relaxed: a sum under a bound; the queue hands the memory over.
bool DeviceInbox::charge(std::size_t bytes) noexcept {
  const std::size_t limit = memory_bytes_.load(std::memory_order_relaxed);
  std::size_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit || used > limit - bytes) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes,
                                        std::memory_order_relaxed));
  return true;
}

void DeviceInbox::allow(std::size_t memory_bytes) noexcept {
  std::size_t now = memory_bytes_.load(std::memory_order_relaxed);
  while (now < memory_bytes &&
         !memory_bytes_.compare_exchange_weak(now, memory_bytes,
                                              std::memory_order_relaxed)) {
  }
}

bool DeviceInbox::push(std::unique_ptr<DeviceBatch> batch) noexcept {
  try {
    return queue_.enqueue(std::move(batch));
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void DeviceInbox::activities(const DeviceActivity* batch,
                             std::size_t count) noexcept {
  if (count == 0) return;
  const Call call(*this);
  DeviceCounts::add(counts_->delivered, count);
  if (!call.open()) return DeviceCounts::add(counts_->late, count);
  const std::size_t bytes = count * sizeof(DeviceActivity);
  if (!charge(bytes)) return DeviceCounts::add(counts_->dropped, count);
  try {
    auto copied = std::make_unique<DeviceBatch>();
    copied->activities.assign(batch, batch + count);
    for (DeviceActivity& activity : copied->activities) {
      if (activity.name == StringId::kNone)
        activity.name = internal::intern(activity.text);
      activity.text = {};
    }
    if (push(std::move(copied))) return;
  } catch (const std::bad_alloc&) {
  }
  give_back(bytes);
  DeviceCounts::add(counts_->dropped, count);
}

void DeviceInbox::clock(const DeviceClockPair& pair) noexcept {
  const Call call(*this);
  if (call.open() && charge(kSmallBatch)) {
    try {
      auto batch = std::make_unique<DeviceBatch>();
      batch->clock_pairs.push_back(pair);
      if (push(std::move(batch))) return;
    } catch (const std::bad_alloc&) {
    }
    give_back(kSmallBatch);
  }
  DeviceCounts::add(counts_->clock_pairs_dropped, 1);
}

void DeviceInbox::lost(std::uint64_t count, std::string_view reason) noexcept {
  const Call call(*this);
  DeviceCounts::add(counts_->lost, count);
  // The sum is in the accounts whatever becomes of the reason.
  if (!call.open() || !charge(kSmallBatch)) return;
  try {
    auto batch = std::make_unique<DeviceBatch>();
    batch->lost = count;
    batch->lost_reason = internal::intern(reason);
    if (push(std::move(batch))) return;
  } catch (const std::bad_alloc&) {
  }
  give_back(kSmallBatch);
}

void DeviceInbox::launch(std::uint64_t correlation,
                         std::uint32_t call) noexcept {
  internal::record_launch(correlation, launch_word(family_, call));
}

void DeviceInbox::fetch(const std::function<void(DeviceBatch&)>& take) {
  std::unique_ptr<DeviceBatch> batch;
  while (queue_.try_dequeue(batch)) {
    // Of small batches nothing is kept but their sums and pairs.
    if (batch->activities.empty()) give_back(kSmallBatch);
    take(*batch);
    batch.reset();
  }
}

}  // namespace weft
