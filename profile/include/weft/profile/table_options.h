// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_TABLE_OPTIONS_H_
#define WEFT_PROFILE_TABLE_OPTIONS_H_

// How a text table of events or averages looks.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weft/result.h"

namespace weft {

// A column to sort by, largest first; equal rows keep their order. The text
// names are the reference's: "self_cpu_time_total", "count", ...
enum class SortKey : std::uint8_t {
  kNone,
  kKey,
  kNodeId,
  kScope,
  kIsAsync,
  kStack,
  kCount,
  kCpuTime,
  kCpuTimeTotal,
  kSelfCpuTimeTotal,
  kDeviceTime,  // all device families together
  kDeviceTimeTotal,
  kSelfDeviceTimeTotal,
  kCudaTime,
  kCudaTimeTotal,
  kSelfCudaTimeTotal,
  kXpuTime,
  kXpuTimeTotal,
  kSelfXpuTimeTotal,
  kPrivateuse1Time,
  kPrivateuse1TimeTotal,
  kSelfPrivateuse1TimeTotal,
  kCpuMemoryUsage,
  kSelfCpuMemoryUsage,
  kCudaMemoryUsage,
  kSelfCudaMemoryUsage,
  kXpuMemoryUsage,
  kSelfXpuMemoryUsage,
  kPrivateuse1MemoryUsage,
  kSelfPrivateuse1MemoryUsage,
  kFlops,
};

// Errors: kInvalidArgument  no column has this name
[[nodiscard]] Result<SortKey> parse_sort_key(std::string_view name);

enum class TimeUnit : std::uint8_t {
  kAuto,  // by the size of each value
  kSeconds,
  kMilliseconds,
  kMicroseconds,
};

// What happens to the rows of device work, whose time the host rows that
// started it show as well.
enum class DeviceRows : std::uint8_t {
  kSeparate,  // a second table below; shares add up to 100 % in each
  kMixed,     // one table; device shares on the device rows only
  kHidden,
};

struct TableOptions {
  SortKey sort_by = SortKey::kNone;
  std::int64_t row_limit = 100;  // negative: no limit
  // None: as wide as the longest.
  std::optional<std::size_t> max_src_column_width = 75;
  std::optional<std::size_t> max_name_column_width = 55;
  std::optional<std::size_t> max_shapes_column_width = 80;
  std::optional<std::string> header = {};
  bool top_level_events_only = false;
  TimeUnit time_unit = TimeUnit::kAuto;
  DeviceRows device_rows = DeviceRows::kSeparate;
};

}  // namespace weft

#endif  // WEFT_PROFILE_TABLE_OPTIONS_H_
