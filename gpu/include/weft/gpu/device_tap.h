// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_DEVICE_TAP_H_
#define WEFT_GPU_DEVICE_TAP_H_

// What a device source reports during an interval. Any number of taps may be
// open on one source, which is started with the first and stopped with the
// last.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "weft/gpu/device_family.h"
#include "weft/gpu/device_source.h"
#include "weft/internal/api.h"
#include "weft/result.h"

namespace weft {

// delivered == kept + dropped + late + unknown_kind + unknown_device, once all
// that was delivered was fetched.
struct DeviceAccounts {
  std::uint64_t delivered = 0;  // activities that a source handed over
  std::uint64_t kept = 0;
  std::uint64_t dropped = 0;              // beyond the memory
  std::uint64_t late = 0;                 // after stop()
  std::uint64_t unknown_kind = 0;         // left out
  std::uint64_t unknown_device = 0;       // left out
  std::uint64_t reversed = 0;             // ended before they began: cut to 0
  std::uint64_t clock_pairs_dropped = 0;  // too many, late, or of no device
  std::uint64_t lost = 0;                 // that the source gave up itself
  std::uint64_t failures = 0;             // calls of the source that threw
};

// `name` of an activity is set, and `text` is empty. Texts are in the table of
// strings that a session or subscription of weft's brings; without one there
// are no names, and no reasons of losses.
struct DeviceRecords {
  DeviceAbilities abilities;
  std::vector<DeviceActivity> activities;
  std::vector<DeviceClockPair> clock_pairs;
  std::map<std::string, std::uint64_t> lost;  // by the source's reason
  std::vector<std::string> failures;          // what was thrown, in words
  DeviceAccounts accounts;                    // of the interval
};

class WEFT_API DeviceTap {
 public:
  // Errors: kUnavailable  no source, or it has no device or no activities
  //         kBusy         the source itself asks, while it is being called
  //         whatever start() of the source says
  // After an error nothing has changed. Thread-safe. Cold.
  [[nodiscard]] static Result<DeviceTap> open(DeviceFamily family,
                                              const DeviceConfig& config);
  DeviceTap(DeviceTap&&) noexcept = default;
  DeviceTap& operator=(DeviceTap&& other) noexcept;
  ~DeviceTap();  // closes

  // Waits for the device, and ends the interval. Once. One thread at a time.
  // Cold.
  DeviceRecords close();

 private:
  DeviceTap(std::shared_ptr<class DeviceHub> hub, std::uint64_t ticket)
      : hub_(std::move(hub)), ticket_(ticket) {}

  std::shared_ptr<class DeviceHub> hub_;
  std::uint64_t ticket_ = 0;
};

// Of all intervals of the family's present source, late arrivals included.
// Thread-safe. Cold.
WEFT_API DeviceAccounts device_accounts(DeviceFamily family);

}  // namespace weft

#endif  // WEFT_GPU_DEVICE_TAP_H_
