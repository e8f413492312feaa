// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_KEY_AVERAGES_H_
#define WEFT_PROFILE_KEY_AVERAGES_H_

// Rows of an EventList with the same key, added up.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/profile/event_list_options.h"
#include "weft/profile/function_event.h"
#include "weft/profile/table_options.h"
#include "weft/result.h"

namespace weft {

// What besides name, node, device and kind of timing separates rows.
struct KeyOptions {
  bool group_by_input_shape = false;
  std::size_t group_by_stack_n = 0;  // innermost frames
};

struct FunctionEventAvg {
  std::string key;  // the rows' name; empty before the first is added
  std::int64_t node_id = 0;
  DeviceType device = DeviceType::kCpu;
  RecordScope scope = RecordScope::kFunction;
  bool is_async = false;
  bool is_remote = false;
  bool is_legacy = false;
  bool is_user_annotation = false;
  bool first_has_parent = false;
  std::optional<std::vector<Shape>> input_shapes;  // only when grouped by
  std::vector<std::string> stack;  // as many frames as grouped by
  std::uint64_t count = 0;
  std::uint64_t top_level_count = 0;  // how many of them have no parent
  std::int64_t cpu_time_total_ns = 0;
  std::int64_t self_cpu_time_total_ns = 0;
  PerFamily device_time_total_ns;
  PerFamily self_device_time_total_ns;
  MemoryUsage memory;
  MemoryUsage self_memory;
  std::uint64_t flops = 0;  // of the rows that know them; stops at the largest

  // Means over the calls; 0 without calls.
  double cpu_time_ns() const noexcept;
  double device_time_ns(DeviceFamily family) const noexcept;

  // Adds another average of the same key, say of another process.
  //
  // Errors: kInvalidArgument  the keys differ; nothing was added
  [[nodiscard]] Result<void> merge(const FunctionEventAvg& other);
};

class KeyAverages {
 public:
  KeyAverages() = default;
  KeyAverages(std::vector<FunctionEventAvg> rows, EventListOptions options)
      : rows_(std::move(rows)), options_(std::move(options)) {}

  const std::vector<FunctionEventAvg>& rows() const noexcept { return rows_; }
  const EventListOptions& options() const noexcept { return options_; }
  bool empty() const noexcept { return rows_.empty(); }
  std::size_t size() const noexcept { return rows_.size(); }
  const FunctionEventAvg& operator[](std::size_t i) const { return rows_[i]; }
  auto begin() const noexcept { return rows_.begin(); }
  auto end() const noexcept { return rows_.end(); }

  // The first row of this name, or null.
  const FunctionEventAvg* find(std::string_view key) const noexcept;

  // All rows as one with the key "Total". Only its self times mean anything:
  // the others count nested time once a level.
  FunctionEventAvg total_average() const;
  std::int64_t self_cpu_time_total_ns() const noexcept;

  // Empty for no rows.
  std::string table(const TableOptions& options = {}) const;

 private:
  std::vector<FunctionEventAvg> rows_;
  EventListOptions options_;
};

}  // namespace weft

#endif  // WEFT_PROFILE_KEY_AVERAGES_H_
