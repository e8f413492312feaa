// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <functional>

#include "table.h"

namespace weft {
namespace profile {
namespace {

double mean(std::int64_t total, std::uint64_t count) {
  if (count == 0) return 0;
  return static_cast<double>(total) / static_cast<double>(count);
}

template <class Value>
void sort_by(std::vector<TableRow>& rows, Value value) {
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const TableRow& a, const TableRow& b) {
                     return value(a) > value(b);
                   });
}

void sort_by_device(std::vector<TableRow>& rows, SortKey key, SortKey mean_key,
                    SortKey total_key, DeviceFamily family) {
  if (key == mean_key) {
    sort_by(rows, [&](const TableRow& row) {
      return mean(row.device_time_total_ns[family], row.count);
    });
  } else if (key == total_key) {
    sort_by(rows, [&](const TableRow& row) {
      return row.device_time_total_ns[family];
    });
  } else {
    sort_by(rows, [&](const TableRow& row) {
      return row.self_device_time_total_ns[family];
    });
  }
}

struct SortKeyName {
  std::string_view name;
  SortKey key;
};

constexpr std::array kSortKeyNames = {
    SortKeyName{"key", SortKey::kKey},
    SortKeyName{"node_id", SortKey::kNodeId},
    SortKeyName{"scope", SortKey::kScope},
    SortKeyName{"is_async", SortKey::kIsAsync},
    SortKeyName{"stack", SortKey::kStack},
    SortKeyName{"count", SortKey::kCount},
    SortKeyName{"cpu_time", SortKey::kCpuTime},
    SortKeyName{"cpu_time_total", SortKey::kCpuTimeTotal},
    SortKeyName{"self_cpu_time_total", SortKey::kSelfCpuTimeTotal},
    SortKeyName{"device_time", SortKey::kDeviceTime},
    SortKeyName{"device_time_total", SortKey::kDeviceTimeTotal},
    SortKeyName{"self_device_time_total", SortKey::kSelfDeviceTimeTotal},
    SortKeyName{"cuda_time", SortKey::kCudaTime},
    SortKeyName{"cuda_time_total", SortKey::kCudaTimeTotal},
    SortKeyName{"self_cuda_time_total", SortKey::kSelfCudaTimeTotal},
    SortKeyName{"xpu_time", SortKey::kXpuTime},
    SortKeyName{"xpu_time_total", SortKey::kXpuTimeTotal},
    SortKeyName{"self_xpu_time_total", SortKey::kSelfXpuTimeTotal},
    SortKeyName{"privateuse1_time", SortKey::kPrivateuse1Time},
    SortKeyName{"privateuse1_time_total", SortKey::kPrivateuse1TimeTotal},
    SortKeyName{"self_privateuse1_time_total",
                SortKey::kSelfPrivateuse1TimeTotal},
    SortKeyName{"cpu_memory_usage", SortKey::kCpuMemoryUsage},
    SortKeyName{"self_cpu_memory_usage", SortKey::kSelfCpuMemoryUsage},
    SortKeyName{"cuda_memory_usage", SortKey::kCudaMemoryUsage},
    SortKeyName{"self_cuda_memory_usage", SortKey::kSelfCudaMemoryUsage},
    SortKeyName{"xpu_memory_usage", SortKey::kXpuMemoryUsage},
    SortKeyName{"self_xpu_memory_usage", SortKey::kSelfXpuMemoryUsage},
    SortKeyName{"privateuse1_memory_usage", SortKey::kPrivateuse1MemoryUsage},
    SortKeyName{"self_privateuse1_memory_usage",
                SortKey::kSelfPrivateuse1MemoryUsage},
    SortKeyName{"flops", SortKey::kFlops},
};

}  // namespace

std::vector<TableRow> table_rows(const EventList& list) {
  std::vector<TableRow> rows;
  rows.reserve(list.size());
  for (const FunctionEvent& event : list) {
    const bool has_parent = event.parent != kNoEvent;
    rows.push_back({event.name, event.node_id, event.device, event.scope,
                    event.is_async, event.is_legacy, event.is_user_annotation,
                    has_parent, !has_parent, to_string(event.input_shapes),
                    &event.stack.items(), 1, event.cpu_time_total_ns,
                    event.self_cpu_time_total_ns, event.device_time_total_ns,
                    event.self_device_time_total_ns, event.memory,
                    event.self_memory, event.flops});
  }
  return rows;
}

std::vector<TableRow> table_rows(const KeyAverages& averages) {
  std::vector<TableRow> rows;
  rows.reserve(averages.size());
  for (const FunctionEventAvg& average : averages) {
    rows.push_back(
        {average.key, average.node_id, average.device, average.scope,
         average.is_async, average.is_legacy, average.is_user_annotation,
         average.first_has_parent, average.top_level_count > 0,
         average.input_shapes ? to_string(*average.input_shapes)
                              : std::string(),
         &average.stack, average.count, average.cpu_time_total_ns,
         average.self_cpu_time_total_ns, average.device_time_total_ns,
         average.self_device_time_total_ns, average.memory, average.self_memory,
         average.flops});
  }
  return rows;
}

void sort_rows(std::vector<TableRow>& rows, SortKey key) {
  switch (key) {
    case SortKey::kNone:
      return;
    case SortKey::kKey:
      return sort_by(rows, [](const TableRow& row) { return row.key; });
    case SortKey::kNodeId:
      return sort_by(rows, [](const TableRow& row) { return row.node_id; });
    case SortKey::kScope:
      return sort_by(rows, [](const TableRow& row) { return row.scope; });
    case SortKey::kIsAsync:
      return sort_by(rows, [](const TableRow& row) { return row.is_async; });
    case SortKey::kStack:
      return sort_by(
          rows, [](const TableRow& row) -> const auto& { return *row.stack; });
    case SortKey::kCount:
      return sort_by(rows, [](const TableRow& row) { return row.count; });
    case SortKey::kCpuTime:
      return sort_by(rows, [](const TableRow& row) {
        return mean(row.cpu_time_total_ns, row.count);
      });
    case SortKey::kCpuTimeTotal:
      return sort_by(rows,
                     [](const TableRow& row) { return row.cpu_time_total_ns; });
    case SortKey::kSelfCpuTimeTotal:
      return sort_by(
          rows, [](const TableRow& row) { return row.self_cpu_time_total_ns; });
    case SortKey::kDeviceTime:
      return sort_by(rows, [](const TableRow& row) {
        return mean(row.device_time_total_ns.sum(), row.count);
      });
    case SortKey::kDeviceTimeTotal:
      return sort_by(rows, [](const TableRow& row) {
        return row.device_time_total_ns.sum();
      });
    case SortKey::kSelfDeviceTimeTotal:
      return sort_by(rows, [](const TableRow& row) {
        return row.self_device_time_total_ns.sum();
      });
    case SortKey::kCudaTime:
    case SortKey::kCudaTimeTotal:
    case SortKey::kSelfCudaTimeTotal:
      return sort_by_device(rows, key, SortKey::kCudaTime,
                            SortKey::kCudaTimeTotal, DeviceFamily::kCuda);
    case SortKey::kXpuTime:
    case SortKey::kXpuTimeTotal:
    case SortKey::kSelfXpuTimeTotal:
      return sort_by_device(rows, key, SortKey::kXpuTime,
                            SortKey::kXpuTimeTotal, DeviceFamily::kXpu);
    case SortKey::kPrivateuse1Time:
    case SortKey::kPrivateuse1TimeTotal:
    case SortKey::kSelfPrivateuse1TimeTotal:
      return sort_by_device(rows, key, SortKey::kPrivateuse1Time,
                            SortKey::kPrivateuse1TimeTotal,
                            DeviceFamily::kCustom);
    case SortKey::kCpuMemoryUsage:
      return sort_by(rows,
                     [](const TableRow& row) { return row.memory.cpu_bytes; });
    case SortKey::kSelfCpuMemoryUsage:
      return sort_by(
          rows, [](const TableRow& row) { return row.self_memory.cpu_bytes; });
    case SortKey::kCudaMemoryUsage:
      return sort_by(rows, [](const TableRow& row) {
        return row.memory.device_bytes[DeviceFamily::kCuda];
      });
    case SortKey::kSelfCudaMemoryUsage:
      return sort_by(rows, [](const TableRow& row) {
        return row.self_memory.device_bytes[DeviceFamily::kCuda];
      });
    case SortKey::kXpuMemoryUsage:
      return sort_by(rows, [](const TableRow& row) {
        return row.memory.device_bytes[DeviceFamily::kXpu];
      });
    case SortKey::kSelfXpuMemoryUsage:
      return sort_by(rows, [](const TableRow& row) {
        return row.self_memory.device_bytes[DeviceFamily::kXpu];
      });
    case SortKey::kPrivateuse1MemoryUsage:
      return sort_by(rows, [](const TableRow& row) {
        return row.memory.device_bytes[DeviceFamily::kCustom];
      });
    case SortKey::kSelfPrivateuse1MemoryUsage:
      return sort_by(rows, [](const TableRow& row) {
        return row.self_memory.device_bytes[DeviceFamily::kCustom];
      });
    case SortKey::kFlops:
      return sort_by(rows,
                     [](const TableRow& row) { return row.flops.value_or(0); });
  }
}

}  // namespace profile

Result<SortKey> parse_sort_key(std::string_view name) {
  for (const auto& known : profile::kSortKeyNames) {
    if (known.name == name) return known.key;
  }
  return Error{ErrorCode::kInvalidArgument, "no column is called \"" +
                                                std::string(name) +
                                                "\"; try self_cpu_time_total"};
}

}  // namespace weft
