// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_TABLE_COLUMNS_H_
#define WEFT_PROFILE_SRC_TABLE_COLUMNS_H_

// The columns of a table. Heading, width and cell of a column stand together,
// so that they cannot come apart.

#include <functional>
#include <string>
#include <vector>

#include "table.h"
#include "text_grid.h"
#include "weft/profile/table_options.h"

namespace weft::profile {

// What the cells of a column are shares of, in nanoseconds.
struct ShareBase {
  std::int64_t self_cpu_ns = 0;
  PerFamily self_device_ns;
};

// Which rows say how much of the device's time they are.
enum class DeviceShares { kAllRows, kDeviceRows };

struct ColumnContext {
  const TableOptions& options;
  const EventListOptions& session;
  Rules rules;
  ShareBase base;
  DeviceShares device_shares = DeviceShares::kAllRows;
};

struct TableColumn {
  std::string heading;
  std::size_t width;
  TextGrid::Align align;
  std::function<std::string(const TableRow&)> cell;
};

// "CUDA", or the custom device's name in upper case.
std::string family_name(DeviceFamily family, const EventListOptions& session);

bool has_device_time(const std::vector<TableRow>& rows, DeviceFamily family);
bool has_device_memory(const std::vector<TableRow>& rows, DeviceFamily family,
                       Rules rules);
bool has_stacks(const std::vector<TableRow>& rows);

// A stack entry as the source column shows it.
std::string source_cell(const std::string& entry, std::size_t width);

// For host rows, or for all rows in one table.
std::vector<TableColumn> all_columns(const std::vector<TableRow>& rows,
                                     const ColumnContext& context);
// For a table of device rows alone.
std::vector<TableColumn> device_columns(const std::vector<TableRow>& rows,
                                        const ColumnContext& context);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_TABLE_COLUMNS_H_
