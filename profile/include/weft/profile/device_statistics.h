// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_DEVICE_STATISTICS_H_
#define WEFT_PROFILE_DEVICE_STATISTICS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weft {

// Of the devices of one session. Every activity that a source handed over is in
// one place:
//
//   activities == rows + overheads + dropped + late + malformed + without_clock
//                 + without_time + absurd + outside_coverage + outside_window
//                 + not_wanted
struct DeviceStatistics {
  std::uint64_t activities = 0;
  std::uint64_t rows = 0;
  std::uint64_t overheads = 0;         // of the vendor's tracer, no rows
  std::int64_t overhead_ns = 0;        // what they come to
  std::uint64_t dropped = 0;           // beyond max_device_bytes
  std::uint64_t late = 0;              // handed over after the end
  std::uint64_t malformed = 0;         // of no known kind or device
  std::uint64_t without_clock = 0;     // nothing says when they were
  std::uint64_t without_time = 0;      // the device measured none
  // That would end after they were handed over, last longer than the session or
  // begin a second before their launch.
  std::uint64_t absurd = 0;
  std::uint64_t outside_coverage = 0;  // launched by threads that are left out
  std::uint64_t outside_window = 0;    // not launched by the session
  std::uint64_t not_wanted = 0;        // kSync without device_sync_events

  std::uint64_t lost = 0;  // given up by the source; by its reasons:
  std::map<std::string, std::uint64_t> lost_by_reason;
  std::vector<std::string> failures;  // what sources threw, the newest 16

  std::uint64_t reversed = 0;  // ended before they began: shown without length
  // Began before their launch, which only a wrong clock can say: shown from the
  // launch on, at their length.
  std::uint64_t moved_to_launch = 0;
  std::int64_t most_moved_ns = 0;
  std::uint64_t bad_clock_pairs = 0;  // against most others, or of no device

  std::uint64_t launches = 0;  // while the device was recorded
  std::uint64_t launches_without_work = 0;
  std::uint64_t repeated_launches = 0;  // with a number that was used before

  // Calls that were to be timed with a pair of device events.
  std::uint64_t event_pairs = 0;
  std::uint64_t event_pairs_unmeasured = 0;  // the device made or timed none
  std::uint64_t event_pairs_dropped = 0;     // beyond max_device_bytes
};

}  // namespace weft

#endif  // WEFT_PROFILE_DEVICE_STATISTICS_H_
