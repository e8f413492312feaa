// SPDX-License-Identifier: Apache-2.0
#include "device_event_pairs.h"

#include <concurrentqueue/concurrentqueue.h>

#include <atomic>
#include <optional>
#include <utility>

namespace weft::profile {
namespace {

struct Pair {
  std::uint64_t handle = 0;
  std::uint64_t from = 0;
  std::uint64_t to = 0;  // 0: none; `from` is only given back
};

// In the queue, and then in the table of times.
constexpr std::size_t kPairBytes = 96;

std::optional<std::int64_t> measure(DeviceSource& source, const Pair& pair) {
  try {
    return source.elapsed_ns(pair.from, pair.to);
  } catch (...) {
    return std::nullopt;  // counted as not measured
  }
}

}  // namespace

// What callbacks write. Counters are relaxed: sums that order nothing; the
// queue hands the pairs over.
class DeviceEventPairs::Log {
 public:
  Log(std::shared_ptr<DeviceSource> source, std::size_t most)
      : source_(std::move(source)), most_(most) {}
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  // What calls that were open to the last have left.
  ~Log() {
    take([&](const Pair& pair) { (void)measure(*source_, {0, pair.from, 0}); });
  }

  DeviceSource& source() noexcept { return *source_; }

  // 0: no pair is made.
  std::uint64_t begin() noexcept {
    if (made_.fetch_add(1, std::memory_order_relaxed) >= most_) {
      made_.fetch_sub(1, std::memory_order_relaxed);
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return 0;
    }
    const std::uint64_t mark = source_->mark();
    if (mark == 0) unmeasured_.fetch_add(1, std::memory_order_relaxed);
    return mark;
  }
  void end(const Pair& pair) { queue_.enqueue(pair); }
  template <class Take>
  void take(const Take& take) {
    Pair pair;
    while (queue_.try_dequeue(pair)) take(pair);
  }

  std::uint64_t made() const noexcept {
    return made_.load(std::memory_order_relaxed);
  }
  std::uint64_t dropped() const noexcept {
    return dropped_.load(std::memory_order_relaxed);
  }
  std::uint64_t unmeasured() const noexcept {
    return unmeasured_.load(std::memory_order_relaxed);
  }

 private:
  const std::shared_ptr<DeviceSource> source_;
  const std::size_t most_;
  std::atomic<std::uint64_t> made_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> unmeasured_{0};
  moodycamel::ConcurrentQueue<Pair> queue_;
};

// Of a call that is open. A call whose end runs no callback gives its event
// back.
class DeviceEventPairs::OpenPair final : public CallbackContext {
 public:
  OpenPair(std::shared_ptr<Log> log, std::uint64_t from)
      : log_(std::move(log)), from_(from) {}
  ~OpenPair() override { end(0, 0); }
  void end(std::uint64_t handle, std::uint64_t to) {
    if (std::exchange(ended_, true)) return;
    log_->end({handle, from_, to});
  }
  Log& log() noexcept { return *log_; }

 private:
  const std::shared_ptr<Log> log_;
  const std::uint64_t from_;
  bool ended_ = false;
};

DeviceEventPairs::DeviceEventPairs(RegisteredDevice device,
                                   std::size_t memory_bytes)
    : device_(std::move(device)),
      log_(std::make_shared<Log>(device_.source, memory_bytes / kPairBytes)) {}

DeviceEventPairs::~DeviceEventPairs() {
  if (callback_ != CallbackHandle::kNone) stop();
}

Result<void> DeviceEventPairs::start() {
  auto start =
      [log = log_](const FunctionCall&) -> std::unique_ptr<CallbackContext> {
    const std::uint64_t from = log->begin();
    if (from == 0) return nullptr;
    return std::make_unique<OpenPair>(log, from);
  };
  auto end = [](const FunctionCall& call, CallbackContext* context) {
    auto* open = static_cast<OpenPair*>(context);
    if (open != nullptr) open->end(call.handle, open->log().source().mark());
  };
  Result<CallbackHandle> added = add_global_callback(
      RecordCallback(std::move(start), std::move(end)).needs_ids());
  if (!added.ok()) return added.error();
  callback_ = *added;
  return {};
}

void DeviceEventPairs::stop() {
  remove_callback(std::exchange(callback_, CallbackHandle::kNone));
  log_->take([&](const Pair& pair) {
    const std::optional<std::int64_t> ns = measure(log_->source(), pair);
    if (ns && pair.to != 0) {
      times_ns_[pair.handle] = *ns;
    } else {
      ++unmeasured_;
    }
  });
}

std::uint64_t DeviceEventPairs::made() const noexcept {
  return log_->made();
}

std::uint64_t DeviceEventPairs::dropped() const noexcept {
  return log_->dropped();
}

std::uint64_t DeviceEventPairs::unmeasured() const noexcept {
  return unmeasured_ + log_->unmeasured();
}

}  // namespace weft::profile
