// SPDX-License-Identifier: Apache-2.0
#include "table_columns.h"

#include <algorithm>
#include <array>
#include <utility>

#include "weft/profile/quantity_text.h"

namespace weft::profile {
namespace {

constexpr std::size_t kWidth = 12;
constexpr std::size_t kMargin = 4;  // beyond the longest text of a column
constexpr std::size_t kDots = 3;

constexpr std::array kFamilies = {DeviceFamily::kCuda, DeviceFamily::kXpu,
                                  DeviceFamily::kMtia, DeviceFamily::kCustom};

std::size_t width_of(std::size_t longest, std::optional<std::size_t> limit) {
  const std::size_t width = longest + kMargin;
  return limit ? std::min(width, *limit) : width;
}

// The reference cuts from three below the limit, and counts from the end when
// the limit is below three.
std::string reference_name(std::string_view name, std::size_t limit) {
  const std::size_t length = code_points(name);
  if (length + kDots < limit) return std::string(name);
  const std::size_t kept =
      limit >= kDots ? limit - kDots : length - std::min(length, kDots - limit);
  return std::string(head(name, kept)) + "...";
}

std::string weft_name(std::string_view name, std::size_t limit) {
  if (code_points(name) <= limit) return std::string(name);
  if (limit <= kDots) return std::string(head(name, limit));
  return std::string(head(name, limit - kDots)) + "...";
}

// A line break in a name would end the row.
std::string one_line(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return line;
}

class Columns {
 public:
  Columns(const std::vector<TableRow>& rows, const ColumnContext& context)
      : rows_(rows), context_(context) {}

  std::vector<TableColumn> take() { return std::move(columns_); }

  void add_name() {
    std::size_t longest = 0;
    for (const TableRow& row : rows_) {
      longest = std::max(longest, code_points(row.key));
    }
    const auto limit = context_.options.max_name_column_width;
    const Rules rules = context_.rules;
    add("Name", width_of(longest, limit), [limit, rules](const TableRow& row) {
      if (rules == Rules::kReference) {
        return limit ? reference_name(row.key, *limit) : std::string(row.key);
      }
      const std::string name = one_line(row.key);
      return limit ? weft_name(name, *limit) : name;
    });
  }

  void add_cpu_times() {
    const std::int64_t base = context_.base.self_cpu_ns;
    const TimeUnit unit = context_.options.time_unit;
    add("Self CPU %", kWidth, [base](const TableRow& row) {
      return format_time_share(row.self_cpu_time_total_ns, base);
    });
    add("Self CPU", kWidth, [unit](const TableRow& row) {
      return time_cell(row.self_cpu_time_total_ns, 1, unit);
    });
    add("CPU total %", kWidth, [base](const TableRow& row) {
      if (row.is_async) return std::string("0");
      return format_time_share(row.cpu_time_total_ns, base);
    });
    add("CPU total", kWidth, [unit](const TableRow& row) {
      return time_cell(row.cpu_time_total_ns, 1, unit);
    });
    add("CPU time avg", kWidth, [unit](const TableRow& row) {
      return time_cell(row.cpu_time_total_ns, row.count, unit);
    });
  }

  void add_device_times() {
    for (const DeviceFamily family : kFamilies) {
      if (!has_device_time(rows_, family)) continue;
      const std::string name = family_name(family, context_.session);
      const TimeUnit unit = context_.options.time_unit;
      add("Self " + name, kWidth, [family, unit](const TableRow& row) {
        return time_cell(row.self_device_time_total_ns[family], 1, unit);
      });
      add_device_share(name, family);
      add(name + " total", kWidth, [family, unit](const TableRow& row) {
        return time_cell(row.device_time_total_ns[family], 1, unit);
      });
      add(name + " time avg", kWidth, [family, unit](const TableRow& row) {
        return time_cell(row.device_time_total_ns[family], row.count, unit);
      });
    }
  }

  void add_memory() {
    if (!context_.session.profile_memory) return;
    const auto text = context_.rules == Rules::kReference
                          ? format_memory_reference
                          : format_memory;
    add("CPU Mem", kWidth,
        [text](const TableRow& row) { return text(row.memory.cpu_bytes); });
    add("Self CPU Mem", kWidth, [text](const TableRow& row) {
      return text(row.self_memory.cpu_bytes);
    });
    for (const DeviceFamily family : kFamilies) {
      if (!has_device_memory(rows_, family, context_.rules)) continue;
      const std::string name = family_name(family, context_.session);
      add(name + " Mem", kWidth, [text, family](const TableRow& row) {
        return text(row.memory.device_bytes[family]);
      });
      add("Self " + name + " Mem", kWidth, [text, family](const TableRow& row) {
        return text(row.self_memory.device_bytes[family]);
      });
    }
  }

  void add_calls() {
    add("# of Calls", kWidth,
        [](const TableRow& row) { return std::to_string(row.count); });
    const bool nodes =
        std::any_of(rows_.begin(), rows_.end(),
                    [](const TableRow& row) { return row.node_id != -1; });
    if (!nodes) return;
    add("Node ID", kWidth,
        [](const TableRow& row) { return std::to_string(row.node_id); });
  }

  void add_shapes() {
    std::size_t longest = 0;
    bool any = false;
    for (const TableRow& row : rows_) {
      longest = std::max(longest, row.shapes.size());
      any = any || row.has_shapes();
    }
    if (!any) return;
    const std::size_t width =
        width_of(longest, context_.options.max_shapes_column_width);
    add("Input Shapes", width,
        [width](const TableRow& row) { return row.shapes.substr(0, width); });
  }

  void add_flops() {
    if (!context_.session.with_flops) return;
    std::uint64_t smallest = 0;
    for (const TableRow& row : rows_) {
      const std::uint64_t flops = row.flops.value_or(0);
      if (flops > 0 && (smallest == 0 || flops < smallest)) smallest = flops;
    }
    if (smallest == 0) return;
    const FlopsScale scale = flops_scale(smallest);
    add(std::string("Total ") + scale.unit, kWidth,
        [scale](const TableRow& row) {
          return format_flops(row.flops, scale);
        });
  }

  void add_source() {
    if (!has_stacks(rows_)) return;
    std::size_t longest = 0;
    for (const TableRow& row : rows_) {
      for (const std::string& entry : *row.stack) {
        longest = std::max(longest, code_points(entry));
      }
    }
    const std::size_t width =
        width_of(longest, context_.options.max_src_column_width);
    const Rules rules = context_.rules;
    columns_.push_back(
        {"Source Location", width, TextGrid::Align::kLeft,
         [width, rules](const TableRow& row) {
           if (row.stack->empty()) return std::string();
           const std::string& entry = row.stack->front();
           return source_cell(
               rules == Rules::kReference ? entry : one_line(entry), width);
         }});
  }

 private:
  template <class Cell>
  void add(std::string heading, std::size_t width, Cell cell) {
    columns_.push_back(
        {std::move(heading), width, TextGrid::Align::kRight, std::move(cell)});
  }

  static std::string time_cell(std::int64_t total_ns, std::uint64_t count,
                               TimeUnit unit) {
    const double us = static_cast<double>(total_ns) / 1000.0;
    return format_time(count == 0 ? 0 : us / static_cast<double>(count), unit);
  }

  void add_device_share(const std::string& name, DeviceFamily family) {
    const std::int64_t base = context_.base.self_device_ns[family];
    const bool device_only =
        context_.device_shares == DeviceShares::kDeviceRows &&
        std::any_of(rows_.begin(), rows_.end(), [&](const TableRow& row) {
          return family_of(row.device) == family;
        });
    const bool weft = context_.rules == Rules::kWeft;
    add("Self " + name + " %", kWidth,
        [family, base, device_only, weft](const TableRow& row) {
          const bool elsewhere = device_only && row.is_host() && !row.is_legacy;
          if (elsewhere || (weft && row.is_user_annotation)) {
            return std::string("--");
          }
          return format_time_share(row.self_device_time_total_ns[family], base);
        });
  }

  const std::vector<TableRow>& rows_;
  const ColumnContext& context_;
  std::vector<TableColumn> columns_;
};

}  // namespace

std::string family_name(DeviceFamily family, const EventListOptions& session) {
  switch (family) {
    case DeviceFamily::kCuda:
      return "CUDA";
    case DeviceFamily::kXpu:
      return "XPU";
    case DeviceFamily::kMtia:
      return "MTIA";
    case DeviceFamily::kCustom:
      break;
  }
  if (session.device_name.empty()) return "CUSTOM";
  std::string name = session.device_name;
  for (char& c : name) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return name;
}

bool has_device_time(const std::vector<TableRow>& rows, DeviceFamily family) {
  return std::any_of(rows.begin(), rows.end(), [&](const TableRow& row) {
    return row.self_device_time_total_ns[family] > 0;
  });
}

bool has_device_memory(const std::vector<TableRow>& rows, DeviceFamily family,
                       Rules rules) {
  return std::any_of(rows.begin(), rows.end(), [&](const TableRow& row) {
    const std::int64_t self = row.self_memory.device_bytes[family];
    // A list that only releases memory has something to show too.
    return rules == Rules::kReference
               ? self > 0
               : self != 0 || row.memory.device_bytes[family] != 0;
  });
}

bool has_stacks(const std::vector<TableRow>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const TableRow& row) { return !row.stack->empty(); });
}

std::string source_cell(const std::string& entry, std::size_t width) {
  if (code_points(entry) <= width) return entry;
  const std::string_view end = tail(entry, width);
  if (width <= kDots) return std::string(end);
  return "..." + std::string(tail(end, width - kDots));
}

std::vector<TableColumn> all_columns(const std::vector<TableRow>& rows,
                                     const ColumnContext& context) {
  Columns columns(rows, context);
  columns.add_name();
  columns.add_cpu_times();
  columns.add_device_times();
  columns.add_memory();
  columns.add_calls();
  columns.add_shapes();
  columns.add_flops();
  columns.add_source();
  return columns.take();
}

std::vector<TableColumn> device_columns(const std::vector<TableRow>& rows,
                                        const ColumnContext& context) {
  Columns columns(rows, context);
  columns.add_name();
  columns.add_device_times();
  columns.add_calls();
  return columns.take();
}

}  // namespace weft::profile
