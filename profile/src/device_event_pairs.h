// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_DEVICE_EVENT_PAIRS_H_
#define WEFT_PROFILE_SRC_DEVICE_EVENT_PAIRS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "weft/gpu/device_registry.h"
#include "weft/profile/record_callback.h"

namespace weft::profile {

// Device time without a tracer: an event of the device at the start of each
// instrumented call and another at its end. What lies between them on the
// stream counts, waiting included.
//
// The events are made by a callback on the threads of the program, and measured
// when recording is over. Calls and times meet by the calls' handles.
class DeviceEventPairs {
 public:
  // Pairs beyond `memory_bytes` are counted and not made.
  DeviceEventPairs(RegisteredDevice device, std::size_t memory_bytes);
  ~DeviceEventPairs();

  Result<void> start();
  // Waits for the device.
  void stop();

  // After stop(). By FunctionCall::handle.
  const std::unordered_map<std::uint64_t, std::int64_t>& times_ns() const {
    return times_ns_;
  }
  DeviceFamily family() const noexcept { return device_.family; }
  std::uint64_t made() const noexcept;
  std::uint64_t dropped() const noexcept;
  std::uint64_t unmeasured() const noexcept;

 private:
  class Log;
  class OpenPair;

  const RegisteredDevice device_;
  const std::shared_ptr<Log> log_;  // callbacks may outlast the session
  CallbackHandle callback_ = CallbackHandle::kNone;
  std::unordered_map<std::uint64_t, std::int64_t> times_ns_;
  std::uint64_t unmeasured_ = 0;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_DEVICE_EVENT_PAIRS_H_
