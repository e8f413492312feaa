// SPDX-License-Identifier: Apache-2.0
#include "table.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "table_columns.h"
#include "text_grid.h"
#include "weft/profile/quantity_text.h"
#include "weft/profile/reference.h"

namespace weft {
namespace profile {
namespace {

constexpr std::size_t kReferenceStackEntries = 5;

constexpr std::array kFamilies = {DeviceFamily::kCuda, DeviceFamily::kXpu,
                                  DeviceFamily::kMtia, DeviceFamily::kCustom};

std::int64_t self_cpu_sum(const std::vector<TableRow>& rows) {
  std::int64_t sum = 0;
  for (const TableRow& row : rows) {
    add_wrapping(sum, row.self_cpu_time_total_ns);
  }
  return sum;
}

// What the device did: its own rows, and host rows that measured it by event
// pairs. A range drawn over device work is not work.
PerFamily device_sum(const std::vector<TableRow>& rows, Rules rules) {
  PerFamily sum;
  for (const TableRow& row : rows) {
    if (row.is_host() && !row.is_legacy) continue;
    if (rules == Rules::kWeft && row.is_user_annotation) continue;
    sum += row.self_device_time_total_ns;
  }
  return sum;
}

PerFamily self_device_sum(const std::vector<TableRow>& rows) {
  PerFamily sum;
  for (const TableRow& row : rows) {
    if (!row.is_user_annotation) sum += row.self_device_time_total_ns;
  }
  return sum;
}

bool shown(const TableRow& row, const TableOptions& options, Rules rules) {
  if (!options.top_level_events_only) return true;
  return rules == Rules::kReference ? !row.first_has_parent : row.any_top_level;
}

// The rows that are printed.
std::vector<TableRow> visible(const std::vector<TableRow>& rows,
                              const TableOptions& options, Rules rules) {
  std::vector<TableRow> result;
  for (const TableRow& row : rows) {
    if (options.row_limit >= 0 &&
        result.size() >= static_cast<std::uint64_t>(options.row_limit)) {
      break;
    }
    if (shown(row, options, rules)) result.push_back(row);
  }
  return result;
}

TextGrid grid_of(const std::vector<TableColumn>& columns) {
  TextGrid grid;
  for (const TableColumn& column : columns) {
    grid.add_column(column.heading, column.width, column.align);
  }
  return grid;
}

// The frames below the first, then an empty line to set stacks apart.
std::string stack_lines(const TextGrid& grid, const TableRow& row,
                        std::size_t width, Rules rules) {
  std::string text;
  const std::size_t entries =
      rules == Rules::kReference
          ? std::min(row.stack->size(), kReferenceStackEntries)
          : row.stack->size();
  for (std::size_t i = 1; i < entries; ++i) {
    text += grid.row({source_cell((*row.stack)[i], width)});
  }
  return text + grid.row({});
}

std::string head_lines(const TextGrid& grid, const TableOptions& options) {
  std::string text;
  const std::string rule = std::string(grid.line_length(), '=') + '\n';
  if (options.header) text += rule + *options.header + '\n';
  if (options.top_level_events_only) {
    text += rule + "This report only display top-level ops statistics\n";
  }
  return text;
}

// Separator, headings, rows, separator.
std::string body_lines(const TextGrid& grid,
                       const std::vector<TableColumn>& columns,
                       const std::vector<TableRow>& rows, bool with_stacks,
                       const ColumnContext& context) {
  std::string text = grid.separator() + grid.headings() + grid.separator();
  for (const TableRow& row : visible(rows, context.options, context.rules)) {
    std::vector<std::string> cells;
    cells.reserve(columns.size());
    for (const TableColumn& column : columns) cells.push_back(column.cell(row));
    text += grid.row(std::move(cells));
    if (with_stacks) {
      text += stack_lines(grid, row, columns.back().width, context.rules);
    }
  }
  return text + grid.separator();
}

std::string sum_line(const std::string& name, std::int64_t sum_ns,
                     TimeUnit unit) {
  return "Self " + name + " time total: " +
         format_time(static_cast<double>(sum_ns) / 1000.0, unit) + '\n';
}

std::string foot_lines(const std::vector<TableRow>& rows,
                       std::int64_t self_cpu_ns, const PerFamily& device_ns,
                       const TableOptions& options,
                       const EventListOptions& session) {
  std::string text = sum_line("CPU", self_cpu_ns, options.time_unit);
  for (const DeviceFamily family : kFamilies) {
    if (!has_device_time(rows, family)) continue;
    text += sum_line(family_name(family, session), device_ns[family],
                     options.time_unit);
  }
  return text;
}

// The device's time: from its own rows where there are any, else from the
// kernels that host rows started.
PerFamily best_device_sum(const std::vector<TableRow>& rows) {
  PerFamily sum = device_sum(rows, Rules::kWeft);
  const PerFamily all = self_device_sum(rows);
  for (const DeviceFamily family : kFamilies) {
    if (sum[family] == 0) sum[family] = all[family];
  }
  return sum;
}

// Why the reference fails to print these rows at all.
std::optional<Error> reference_refusal(const std::vector<TableRow>& rows,
                                       const EventListOptions& session) {
  const auto refuse = [](std::string why) {
    return Error{ErrorCode::kUnsupported,
                 "the reference fails to print this list: " + std::move(why)};
  };
  const bool custom = !session.device_name.empty();
  for (const TableRow& row : rows) {
    if (!row.is_host() && (custom || row.device != DeviceType::kCuda)) {
      return refuse("it has a row of a device that is not the session's");
    }
    if (session.with_flops && !row.flops) {
      return refuse("FLOPs are asked for and a memory row has none");
    }
  }
  if (!custom &&
      (has_device_time(rows, DeviceFamily::kCustom) ||
       has_device_memory(rows, DeviceFamily::kCustom, Rules::kReference))) {
    return refuse("it has figures of a custom device without a name");
  }
  return std::nullopt;
}

// A share of nothing is an assertion in the reference, unless it is nothing.
bool shares_are_defined(const std::vector<TableRow>& all,
                        const std::vector<TableRow>& printed,
                        const ShareBase& base) {
  for (const TableRow& row : printed) {
    if (base.self_cpu_ns == 0 &&
        (row.self_cpu_time_total_ns != 0 ||
         (!row.is_async && row.cpu_time_total_ns != 0))) {
      return false;
    }
    for (const DeviceFamily family : kFamilies) {
      if (has_device_time(all, family) && base.self_device_ns[family] == 0 &&
          row.self_device_time_total_ns[family] != 0) {
        return false;
      }
    }
  }
  return true;
}

bool known_to_reference(SortKey key) {
  switch (key) {
    case SortKey::kDeviceTime:
    case SortKey::kDeviceTimeTotal:
    case SortKey::kSelfDeviceTimeTotal:
    case SortKey::kXpuTime:
    case SortKey::kXpuTimeTotal:
    case SortKey::kSelfXpuTimeTotal:
    case SortKey::kXpuMemoryUsage:
    case SortKey::kSelfXpuMemoryUsage:
      return false;
    default:
      return true;
  }
}

}  // namespace

std::string weft_table(std::vector<TableRow> rows, const TableOptions& options,
                       const EventListOptions& session) {
  if (rows.empty()) return {};
  sort_rows(rows, options.sort_by);
  const std::int64_t self_cpu_ns = self_cpu_sum(rows);
  const PerFamily device_ns = best_device_sum(rows);
  const std::string foot =
      foot_lines(rows, self_cpu_ns, device_ns, options, session);

  std::vector<TableRow> device_rows;
  if (options.device_rows != DeviceRows::kMixed) {
    const auto split = std::stable_partition(
        rows.begin(), rows.end(),
        [](const TableRow& row) { return row.is_host(); });
    device_rows.assign(split, rows.end());
    rows.erase(split, rows.end());
  }
  std::string text;
  if (!rows.empty()) {
    const bool mixed = options.device_rows == DeviceRows::kMixed;
    const ColumnContext context{
        options,
        session,
        Rules::kWeft,
        {self_cpu_ns, mixed ? device_ns : self_device_sum(rows)},
        mixed ? DeviceShares::kDeviceRows : DeviceShares::kAllRows};
    const std::vector<TableColumn> columns = all_columns(rows, context);
    const TextGrid grid = grid_of(columns);
    text += head_lines(grid, options);
    text += body_lines(grid, columns, rows, has_stacks(rows), context);
  }
  if (!device_rows.empty() && options.device_rows == DeviceRows::kSeparate) {
    const ColumnContext context{options,
                                session,
                                Rules::kWeft,
                                {0, self_device_sum(device_rows)},
                                DeviceShares::kAllRows};
    const std::vector<TableColumn> columns =
        device_columns(device_rows, context);
    const TextGrid grid = grid_of(columns);
    text += text.empty() ? head_lines(grid, options) : "\n";
    text += body_lines(grid, columns, device_rows, false, context);
  }
  return text + foot;
}

Result<std::string> reference_table(std::vector<TableRow> rows,
                                    const TableOptions& options,
                                    const EventListOptions& session) {
  if (rows.empty()) return std::string();
  if (!known_to_reference(options.sort_by)) {
    return Error{ErrorCode::kInvalidArgument,
                 "the reference has no such sort key"};
  }
  if (auto refusal = reference_refusal(rows, session)) return *refusal;
  sort_rows(rows, options.sort_by);
  const ColumnContext context{
      options,
      session,
      Rules::kReference,
      {self_cpu_sum(rows), device_sum(rows, Rules::kReference)}};
  if (!shares_are_defined(rows, visible(rows, options, Rules::kReference),
                          context.base)) {
    return Error{ErrorCode::kUnsupported,
                 "the reference fails to print this list: it takes a share of "
                 "a total that is zero"};
  }
  const std::vector<TableColumn> columns = all_columns(rows, context);
  const TextGrid grid = grid_of(columns);
  return head_lines(grid, options) +
         body_lines(grid, columns, rows, has_stacks(rows), context) +
         foot_lines(rows, context.base.self_cpu_ns, context.base.self_device_ns,
                    options, session);
}

}  // namespace profile

namespace reference {

Result<std::string> table(const EventList& list, const TableOptions& options) {
  return profile::reference_table(profile::table_rows(list), options,
                                  list.options());
}

Result<std::string> table(const KeyAverages& averages,
                          const TableOptions& options) {
  return profile::reference_table(profile::table_rows(averages), options,
                                  averages.options());
}

Result<KeyAverages> key_averages(const EventList& list,
                                 const KeyOptions& options) {
  if (!list.options().build_tree) {
    return Error{ErrorCode::kUnsupported,
                 "the reference cannot average a list without a tree"};
  }
  return list.key_averages(options);
}

}  // namespace reference
}  // namespace weft
