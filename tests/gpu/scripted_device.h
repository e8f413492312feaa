// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_GPU_SCRIPTED_DEVICE_H_
#define WEFT_TESTS_GPU_SCRIPTED_DEVICE_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "weft/clock.h"
#include "weft/gpu/device_registry.h"

namespace weft::test {

// What a test has the device do.
struct DeviceWork {
  std::string name = "kernel";
  std::uint32_t stream = 7;
  std::uint64_t delay_ticks = 1'000;  // from launch to begin
  std::uint64_t ticks = 10'000;       // how long it runs
  ActivityKind kind = ActivityKind::kKernel;
  std::uint32_t device = 0;
};

// A device whose work takes the time that a test says. Its clock is a line of
// the host's, so times are exact whatever else the machine does.
//
//   device time = ticks * rate / 8 + offset
//
// Work is handed over by flush(), which waits until the last of it is done.
class ScriptedDevice final : public DeviceSource {
 public:
  DeviceAbilities abilities{.devices = 2, .activities = true};
  std::uint64_t rate = 3;  // eighths of the host's clock
  std::uint64_t offset = 1'000'000'007;
  std::atomic<std::uint64_t> next_correlation{1};
  std::string start_throws, flush_throws;
  // Called with what flush() is about to hand over.
  std::function<void(std::vector<DeviceActivity>&)> rearrange;
  std::function<void(DeviceSink&)> at_stop;
  int starts = 0, stops = 0;

  std::uint64_t time_of(Ticks tick) const {
    if (abilities.clock == DeviceClock::kHostTicks) return tick;
    return tick / 8 * rate + tick % 8 * rate / 8 + offset;
  }

  // On the program's thread. Returns the correlation.
  std::uint64_t launch(const DeviceWork& work = {}) {
    const std::uint64_t correlation = next_correlation++;
    launch_as(correlation, work);
    return correlation;
  }
  void launch_as(std::uint64_t correlation, const DeviceWork& work) {
    if (const std::shared_ptr<DeviceSink> sink = sink_now())
      sink->launch(correlation, 1);
    run(correlation, work);
  }
  // Work that no launch told of.
  void run(std::uint64_t correlation, const DeviceWork& work) {
    const std::scoped_lock lock(mutex_);
    const Ticks begin = now_ticks() + work.delay_ticks;
    last_tick_ = std::max(last_tick_, begin + work.ticks);
    pending_.push_back(activity_at(begin, correlation, work));
    names_.push_back(std::make_unique<std::string>(work.name));
    pending_.back().text = *names_.back();
  }
  DeviceActivity activity_at(Ticks begin, std::uint64_t correlation,
                             const DeviceWork& work) const {
    DeviceActivity activity;
    activity.kind = work.kind;
    activity.device = work.device;
    activity.stream = work.stream;
    activity.start = time_of(begin);
    activity.end = time_of(begin + work.ticks);
    activity.correlation = correlation;
    return activity;
  }

  std::shared_ptr<DeviceSink> sink_now() {
    const std::scoped_lock lock(mutex_);
    return sink_;
  }
  void hand_over_clock(DeviceSink& sink) const {
    for (std::uint32_t device = 0; device < abilities.devices; ++device) {
      const Ticks tick = now_ticks();
      sink.clock({device, time_of(tick), tick, tick});
    }
  }

  // DeviceSource.
  DeviceAbilities probe() override { return abilities; }
  Result<void> start(const DeviceConfig&,
                     std::shared_ptr<DeviceSink> sink) override {
    if (!start_throws.empty()) throw std::runtime_error(start_throws);
    ++starts;
    hand_over_clock(*sink);
    const std::scoped_lock lock(mutex_);
    sink_ = std::move(sink);
    return {};
  }
  void flush() override {
    if (!flush_throws.empty()) throw std::runtime_error(flush_throws);
    std::vector<DeviceActivity> done;
    Ticks last = 0;
    {
      const std::scoped_lock lock(mutex_);
      done.swap(pending_);
      last = last_tick_;
    }
    while (now_ticks() < last) {
    }
    if (rearrange) rearrange(done);
    const std::shared_ptr<DeviceSink> sink = sink_now();
    sink->activities(done.data(), done.size());
    hand_over_clock(*sink);
  }
  void stop() override {
    ++stops;
    const std::scoped_lock lock(mutex_);
    if (at_stop) at_stop(*sink_);
    sink_ = nullptr;
  }
  std::uint64_t mark() noexcept override {
    const std::scoped_lock lock(mutex_);
    if (marks_fail) return 0;
    ++marks_out;
    marks_.push_back(marks_.empty() ? 1'000 : marks_.back() + 250);
    return marks_.size();
  }
  // 250 ns for each mark that was made in between.
  std::optional<std::int64_t> elapsed_ns(std::uint64_t from,
                                         std::uint64_t to) override {
    const std::scoped_lock lock(mutex_);
    marks_out -= to == 0 ? 1 : 2;
    if (to == 0) return std::nullopt;
    return marks_.at(to - 1) - marks_.at(from - 1);
  }
  bool marks_fail = false;
  int marks_out = 0;  // that were not given back

 private:
  std::mutex mutex_;
  std::shared_ptr<DeviceSink> sink_;
  std::vector<DeviceActivity> pending_;
  std::vector<std::unique_ptr<std::string>> names_;
  Ticks last_tick_ = 0;
  std::vector<std::int64_t> marks_;
};

// Registers a device for as long as it lives.
class Registration {
 public:
  Registration(DeviceFamily family, std::string name,
               std::shared_ptr<DeviceSource> source)
      : family_(family),
        result_(register_device_source(family, std::move(name),
                                       std::move(source))) {}
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration() {
    if (result_.ok()) unregister_device_source(family_);
  }
  const Result<void>& result() const { return result_; }

 private:
  const DeviceFamily family_;
  const Result<void> result_;
};

}  // namespace weft::test

#endif  // WEFT_TESTS_GPU_SCRIPTED_DEVICE_H_
