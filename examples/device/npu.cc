// SPDX-License-Identifier: Apache-2.0

// The vendor's side: a queue, a device, and the source that tells weft what the
// device did. Nothing of weft is linked here; its headers are enough.

#include "npu.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(
          Clock::now().time_since_epoch())
          .count());
}

class Npu final : public weft::DeviceSource {
 public:
  ~Npu() override {
    {
      const std::scoped_lock lock(mutex_);
      off_ = true;
    }
    changed_.notify_all();
    device_.join();
  }

  void launch(const char* kernel, unsigned microseconds) {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t number = next_number_++;
    // On the thread that launches, before the device can begin.
    if (sink_ != nullptr) sink_->launch(number);
    queue_.push_back({kernel, microseconds, number});
    changed_.notify_all();
  }

  weft::DeviceAbilities probe() override {
    weft::DeviceAbilities abilities;
    abilities.devices = 1;
    abilities.activities = true;
    abilities.clock = weft::DeviceClock::kMonotonicNs;
    return abilities;
  }
  weft::Result<void> start(const weft::DeviceConfig&,
                           std::shared_ptr<weft::DeviceSink> sink) override {
    const std::scoped_lock lock(mutex_);
    sink_ = std::move(sink);
    return {};
  }
  void flush() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return queue_.empty(); });
  }
  void stop() override {
    const std::scoped_lock lock(mutex_);
    sink_ = nullptr;
  }

 private:
  struct Kernel {
    std::string name;
    unsigned microseconds;
    std::uint64_t number;
  };

  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return off_ || !queue_.empty(); });
      if (off_) return;
      const Kernel kernel = queue_.front();
      const std::shared_ptr<weft::DeviceSink> sink = sink_;
      lock.unlock();
      weft::DeviceActivity activity;
      activity.text = kernel.name;
      activity.correlation = kernel.number;
      activity.start = now_ns();
      const auto end =
          Clock::now() + std::chrono::microseconds(kernel.microseconds);
      while (Clock::now() < end) {
      }
      activity.end = now_ns();
      if (sink != nullptr) sink->activities(&activity, 1);
      lock.lock();
      queue_.pop_front();
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Kernel> queue_;  // the first is running
  std::shared_ptr<weft::DeviceSink> sink_;
  std::uint64_t next_number_ = 1;
  bool off_ = false;
  std::thread device_{[this] { run(); }};
};

const std::shared_ptr<Npu>& the_npu() {
  static const auto npu = std::make_shared<Npu>();
  return npu;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) void npu_launch(const char* kernel,
                                                       unsigned microseconds) {
  the_npu()->launch(kernel, microseconds);
}

__attribute__((visibility("default"))) void npu_device_source(
    std::shared_ptr<weft::DeviceSource>* source) {
  *source = the_npu();
}
}
