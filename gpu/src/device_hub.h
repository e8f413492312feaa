// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_SRC_DEVICE_HUB_H_
#define WEFT_GPU_SRC_DEVICE_HUB_H_

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "device_counts.h"
#include "device_inbox.h"
#include "weft/gpu/device_registry.h"
#include "weft/gpu/device_tap.h"

namespace weft {

// One source and the intervals that look at it.
//
//   inbox (queue) --fetch, check--> log   [a b c d e f g ...
//                                            ^tap 1   ^tap 2
//
// The log keeps what the oldest open interval still has to get; each interval
// takes what lies behind the place where it began.
//
// Calls of the source are made in turns, which are not a lock: a source may ask
// for anything but its own hub meanwhile, and that is refused.
class DeviceHub {
 public:
  explicit DeviceHub(RegisteredDevice device);

  const RegisteredDevice& device() const noexcept { return device_; }
  DeviceAbilities probe();
  // Errors: as DeviceTap::open(). The ticket is never 0.
  Result<std::uint64_t> open(const DeviceConfig& config);
  DeviceRecords close(std::uint64_t ticket);
  DeviceAccounts accounts();

 private:
  class Turn;
  struct Interval {
    std::uint64_t activities = 0;  // places in the log
    std::uint64_t clock_pairs = 0;
    std::uint64_t failures = 0;
    std::map<std::string, std::uint64_t> lost;
    DeviceAccounts accounts;
    DeviceAbilities abilities;
  };

  // Calls the source; false, with the reason kept, if it throws.
  bool call(const char* what, const std::function<void()>& function);
  void forget_parent();
  void fetch();
  void check(DeviceActivity activity);
  DeviceAccounts sum();
  void trim();

  const RegisteredDevice device_;
  const std::shared_ptr<DeviceCounts> counts_;

  std::mutex mutex_;  // of the turn only; never held while the source runs
  std::condition_variable turn_over_;
  std::thread::id in_turn_;
  pid_t turn_of_ = 0;

  // In turns only.
  pid_t process_ = 0;
  std::shared_ptr<DeviceInbox> inbox_;
  DeviceAbilities abilities_;  // of the present run
  std::map<std::uint64_t, Interval> open_;
  std::uint64_t next_ticket_ = 1;
  std::deque<DeviceActivity> activities_;
  std::deque<DeviceClockPair> clock_pairs_;
  std::uint64_t first_activity_ = 0;  // place of the log's first
  std::uint64_t first_clock_pair_ = 0;
  std::map<std::string, std::uint64_t> lost_;
  std::vector<std::string> failures_;  // the first kMostFailures
  DeviceAccounts checked_;  // what the counts of the source's threads lack
};

}  // namespace weft

#endif  // WEFT_GPU_SRC_DEVICE_HUB_H_
