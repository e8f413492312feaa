// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_MEMORY_SUMMARY_H_
#define WEFT_PROFILE_MEMORY_SUMMARY_H_

// Who allocated and who freed, as two figures that are never negative:
//
//   name                        allocated  freed     net
//   decode                          64 MiB   1 MiB   63 MiB
//   [outside of ranges]              2 MiB   2 MiB        0
//   [freed, allocated before]            0  10 MiB  -10 MiB
//
// A release counts where it happens, whoever allocated. What was allocated
// before the session has a row of its own, so that it makes no range negative.

#include <cstdint>
#include <string>
#include <vector>

#include "weft/profile/device.h"
#include "weft/profile/event_list.h"
#include "weft/profile/memory_record.h"

namespace weft {

inline constexpr char kOutsideOfRanges[] = "[outside of ranges]";
inline constexpr char kAllocatedBefore[] = "[freed, allocated before]";

struct MemoryRow {
  std::string name;  // of the innermost range of the thread, or one of the above
  std::uint64_t allocations = 0;
  std::uint64_t releases = 0;
  std::int64_t allocated_bytes = 0;
  std::int64_t freed_bytes = 0;

  std::int64_t net_bytes() const noexcept {
    return allocated_bytes - freed_bytes;
  }
};

// Of one device: memory of different devices is never added up.
struct MemorySummary {
  std::vector<MemoryRow> rows;  // in the order of their first record
  MemoryRow total;
  // Most that the session's own allocations held at once.
  std::int64_t peak_bytes = 0;
  std::uint64_t failed_allocations = 0;

  const MemoryRow* find(const std::string& name) const noexcept;
  std::string table() const;
};

// `records` as of ProfilerResult::memory_records(), in the order of time, with
// `events` on the same clock. Records of other device types are left out; the
// host's own three count as one.
MemorySummary summarize_memory(const EventList& events,
                               const std::vector<MemoryRecord>& records,
                               DeviceType device = DeviceType::kCpu);

}  // namespace weft

#endif  // WEFT_PROFILE_MEMORY_SUMMARY_H_
