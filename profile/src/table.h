// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_TABLE_H_
#define WEFT_PROFILE_SRC_TABLE_H_

// Text tables of events or averages.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/profile/event_list.h"
#include "weft/profile/key_averages.h"
#include "weft/profile/table_options.h"
#include "weft/result.h"

namespace weft::profile {

// What a table shows of an event or an average. Points into its list.
struct TableRow {
  std::string_view key;
  std::int64_t node_id;
  DeviceType device;
  RecordScope scope;
  bool is_async;
  bool is_legacy;
  bool is_user_annotation;
  bool first_has_parent;
  bool any_top_level;
  std::string shapes;  // empty: rows are not told apart by shape
  const std::vector<std::string>* stack;
  std::uint64_t count;
  std::int64_t cpu_time_total_ns;
  std::int64_t self_cpu_time_total_ns;
  PerFamily device_time_total_ns;
  PerFamily self_device_time_total_ns;
  MemoryUsage memory;
  MemoryUsage self_memory;
  std::optional<std::uint64_t> flops;

  bool is_host() const noexcept { return device == DeviceType::kCpu; }
  bool has_shapes() const noexcept { return shapes.size() > 2; }
};

std::vector<TableRow> table_rows(const EventList& list);
std::vector<TableRow> table_rows(const KeyAverages& averages);

// Stable, largest first.
void sort_rows(std::vector<TableRow>& rows, SortKey key);

std::string weft_table(std::vector<TableRow> rows, const TableOptions& options,
                       const EventListOptions& session);
Result<std::string> reference_table(std::vector<TableRow> rows,
                                    const TableOptions& options,
                                    const EventListOptions& session);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_TABLE_H_
