// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_DEVICE_ROWS_H_
#define WEFT_PROFILE_SRC_DEVICE_ROWS_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "call_decoder.h"
#include "device_times.h"
#include "kept_records.h"
#include "launch_index.h"
#include "weft/profile/device_statistics.h"
#include "weft/profile/raw_event.h"

namespace weft::profile {

// What a device reported while it was looked at.
struct DeviceWindow {
  DeviceFamily family = DeviceFamily::kCuda;
  Ticks from = 0;
  Ticks to = 0;
  Ticks over = 0;  // when the last of it had been handed over
  DeviceRecords records;
};

struct DeviceRowOptions {
  bool sync_rows = false;
  bool link = true;  // false: nothing belongs to a call
  std::int64_t node_id = -1;
  std::int64_t next_id = 1;  // rows are numbered from here
};

// Joins activities with launches and makes rows of them.
//
//   activity --(family, correlation)--> launches with that number --> the last
//   one before its start --> the call it was made in
//
// Rows do not depend on the order in which activities were handed over: those
// of a window are taken in the order of their times.
class DeviceRows {
 public:
  DeviceRows(const std::vector<Launch>& launches,
             const std::vector<UncoveredLaunch>& uncovered,
             const DeviceRowOptions& options);

  void add(const DeviceWindow& window, const ClockLine& host);
  // After all windows.
  std::vector<RawEvent> take(DeviceStatistics* statistics);

 private:
  struct Key {
    std::uint32_t family;  // upper bits of the launch word
    std::uint64_t correlation;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      return static_cast<std::size_t>(
          (key.correlation ^ std::uint64_t{key.family} << 56) *
          0x9e3779b97f4a7c15u);
    }
  };
  struct Interval {
    std::uint32_t family;
    std::int64_t from_ns;
    std::int64_t to_ns;
    std::int64_t over_ns;
  };

  void add_activity(const DeviceActivity& activity, const Interval& interval,
                    const DeviceTimes& times);
  bool is_absurd(const Interval& interval, std::int64_t start_ns,
                 std::int64_t end_ns, const Launch* launch) const;
  void add_row(const DeviceActivity& activity, DeviceFamily family,
               std::int64_t start_ns, std::int64_t end_ns,
               const Launch* launch);

  const DeviceRowOptions options_;
  LaunchIndex launches_;
  std::unordered_map<Key, bool, KeyHash> uncovered_;
  std::vector<Interval> intervals_;
  std::int64_t next_id_;
  std::vector<RawEvent> rows_;
  DeviceStatistics statistics_;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_DEVICE_ROWS_H_
