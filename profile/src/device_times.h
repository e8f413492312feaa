// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_DEVICE_TIMES_H_
#define WEFT_PROFILE_SRC_DEVICE_TIMES_H_

#include <cstdint>
#include <map>
#include <optional>

#include "weft/clock_line.h"
#include "weft/gpu/device_tap.h"
#include "weft/internal/anchored_line.h"

namespace weft::profile {

// When activities were, in ns of the session's clock.
//
// A device's own clock is drawn through its pairs. Pairs are claims too: time
// must go on between any two, so of those that contradict each other the
// largest set is believed that does not, and the others are counted.
class DeviceTimes {
 public:
  // `host` must outlive this.
  DeviceTimes(const DeviceRecords& records, const ClockLine& host);

  // None when there is no pair for the device.
  std::optional<std::int64_t> to_ns(std::uint32_t device,
                                    std::uint64_t time) const;
  std::uint64_t bad_pairs() const noexcept { return bad_pairs_; }

 private:
  const ClockLine& host_;
  const DeviceClock clock_;
  std::map<std::uint32_t, internal::AnchoredLine> lines_;
  std::uint64_t bad_pairs_ = 0;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_DEVICE_TIMES_H_
