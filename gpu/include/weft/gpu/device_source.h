// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_DEVICE_SOURCE_H_
#define WEFT_GPU_DEVICE_SOURCE_H_

// What the maker of a device implements, so that profilers show its work.
//
//   program's thread   sink.launch(17) -------> that thread's own records
//                                                        |
//   device             kernel with number 17             | joined by 17
//                                                        v
//   vendor's thread    sink.activities(...) --> queue -> rows of the session
//
//   weft::register_device_source(weft::DeviceFamily::kCustom, "npu",
//                                std::make_shared<MyNpu>());
//   weft::Profiler profiler({.use_device = "npu"});
//
// Both classes are interfaces: a library that implements one needs weft's
// headers and none of its symbols.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "weft/gpu/device_activity.h"
#include "weft/result.h"

namespace weft {

// Where a source hands over what it has.
//
// Thread-safe; no call blocks, throws or enters the program. It may be called
// for as long as somebody holds it: after stop() what comes is counted as late.
class DeviceSink {
 public:
  virtual ~DeviceSink() = default;

  // Copies `count` activities, in any order. Beyond the session's memory they
  // are counted as dropped. Allocates once a call, and for names that are new.
  virtual void activities(const DeviceActivity* batch,
                          std::size_t count) noexcept = 0;
  // For DeviceClock::kOwn: a pair for each device, or for kAllDevices, soon
  // after start() and another at stop(), and more between if the clocks drift.
  // The narrower the bracket, the better.
  virtual void clock(const DeviceClockPair& pair) noexcept = 0;
  // Activities that the source had to give up. `reason` is for people.
  virtual void lost(std::uint64_t count, std::string_view reason) noexcept = 0;
  // On the thread that hands work to the device, before the device can have
  // begun it. `correlation` is what the activities will carry, and not 0.
  // `call` says which call it was: a number below 2^24 that weft only passes
  // on. Hot: one slot, two for a correlation beyond 32 bits.
  virtual void launch(std::uint64_t correlation,
                      std::uint32_t call = 0) noexcept = 0;
};

enum class DeviceClock : std::uint8_t {
  kHostTicks,    // of weft/clock.h
  kMonotonicNs,  // CLOCK_MONOTONIC
  kOwn,          // one a device, known by pairs
};

// What a source can do here and now.
struct DeviceAbilities {
  std::uint32_t devices = 0;  // 0: there is none
  bool activities = false;    // start() leads to activities
  bool event_pairs = false;   // mark() and elapsed_ns() work
  DeviceClock clock = DeviceClock::kOwn;
  std::string reason{};  // why something is missing, in words
};

struct DeviceConfig {
  // For what waits to be fetched, and for what the source itself allocates.
  std::size_t memory_bytes = std::size_t{128} << 20;
  // Whether flush() waits for the work that was launched. If not, what ends
  // later is late.
  bool wait_for_device = true;
  // The vendor's host calls as well, each an activity of its own.
  bool api_calls = false;
  // One activity for all that a launched graph does, in place of one a node.
  bool whole_graphs = false;
};

// Calls but mark() come from threads that may wait, never two at once. A call
// that throws is counted as a failure, and the session goes on without it.
class DeviceSource {
 public:
  virtual ~DeviceSource() = default;

  // Any number of times, also while it runs. No device is a normal answer.
  virtual DeviceAbilities probe() = 0;

  // From now on activities go to `sink`. Once for all sessions that run at the
  // same time. After an error nothing runs.
  virtual Result<void> start(const DeviceConfig& config,
                             std::shared_ptr<DeviceSink> sink) = 0;
  // Waits for the work that was launched, unless DeviceConfig says not to, and
  // hands over what it came to.
  virtual void flush() = 0;
  // After a flush(). When it returns, nothing more is handed over.
  virtual void stop() = 0;

  // Timing without a tracer: an event on the calling thread's present stream;
  // 0: none could be made. Whether the source was started makes no difference.
  // Thread-safe; on the program's threads, so it must not wait.
  virtual std::uint64_t mark() noexcept { return 0; }
  // The time that the device took from one event to the other, which are given
  // back; none if it was not measured. Waits for both. With `to` 0 there was no
  // second event, and `from` is only given back.
  virtual std::optional<std::int64_t> elapsed_ns(std::uint64_t from,
                                                 std::uint64_t to) {
    (void)from;
    (void)to;
    return std::nullopt;
  }
};

}  // namespace weft

#endif  // WEFT_GPU_DEVICE_SOURCE_H_
