// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_AVERAGES_REPORT_H_
#define WEFT_TOOLS_WEFT_AVERAGES_REPORT_H_

// The profiler's averages as a table, CSV or JSON.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weft/profile/event_list.h"
#include "weft/profile/key_averages.h"

namespace weft::tools {

// Rows of which devices are shown.
enum class DeviceChoice : std::uint8_t { kAll, kHost, kCuda, kXpu, kMtia, kCustom };

struct AveragesOptions {
  KeyOptions key;
  DeviceChoice device = DeviceChoice::kAll;
  bool top_level_only = false;
  std::string sort_by = "self";
  std::int64_t row_limit = -1;  // negative: all
};

// Whether averages can be sorted by it: a column's name as the profiler has it,
// or one of total, self, count, mean, name.
bool is_average_order(std::string_view word);

// "name", "shape" or "stack:3"; none for anything else.
std::optional<KeyOptions> parse_group_by(std::string_view word);

// Those of the devices asked for, in order. Limits come later: shares and sums
// are of all of them.
KeyAverages chosen_averages(const KeyAverages& all,
                            const AveragesOptions& options);

std::string averages_text(const KeyAverages& averages,
                          const AveragesOptions& options);
std::string averages_csv(const KeyAverages& averages,
                         const AveragesOptions& options);
std::string averages_json(const std::string& path, const KeyAverages& averages,
                          const AveragesOptions& options);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_AVERAGES_REPORT_H_
