// SPDX-License-Identifier: Apache-2.0
#include "averages_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "csv_field.h"
#include "json_writer.h"

namespace weft::tools {
namespace {

using Row = FunctionEventAvg;
using Rank = double (*)(const Row&);

double sum_of(const PerFamily& families) {
  return static_cast<double>(families.sum());
}

// What the profiler's tables can be sorted by, and shorter words for some.
constexpr std::pair<std::string_view, Rank> kOrders[] = {
    {"count", [](const Row& r) { return static_cast<double>(r.count); }},
    {"cpu_time", [](const Row& r) { return r.cpu_time_ns(); }},
    {"mean", [](const Row& r) { return r.cpu_time_ns(); }},
    {"cpu_time_total",
     [](const Row& r) { return static_cast<double>(r.cpu_time_total_ns); }},
    {"total",
     [](const Row& r) {
       return static_cast<double>(r.cpu_time_total_ns) +
              (r.device == DeviceType::kCpu ? 0
                                            : sum_of(r.device_time_total_ns));
     }},
    {"self_cpu_time_total",
     [](const Row& r) {
       return static_cast<double>(r.self_cpu_time_total_ns);
     }},
    {"self",
     [](const Row& r) {
       return static_cast<double>(r.self_cpu_time_total_ns) +
              (r.device == DeviceType::kCpu
                   ? 0
                   : sum_of(r.self_device_time_total_ns));
     }},
    {"device_time_total",
     [](const Row& r) { return sum_of(r.device_time_total_ns); }},
    {"self_device_time_total",
     [](const Row& r) { return sum_of(r.self_device_time_total_ns); }},
    {"cuda_time_total",
     [](const Row& r) {
       return static_cast<double>(r.device_time_total_ns[DeviceFamily::kCuda]);
     }},
    {"self_cuda_time_total",
     [](const Row& r) {
       return static_cast<double>(
           r.self_device_time_total_ns[DeviceFamily::kCuda]);
     }},
    {"cpu_memory_usage",
     [](const Row& r) { return static_cast<double>(r.memory.cpu_bytes); }},
    {"self_cpu_memory_usage",
     [](const Row& r) { return static_cast<double>(r.self_memory.cpu_bytes); }},
    {"cuda_memory_usage",
     [](const Row& r) {
       return static_cast<double>(r.memory.device_bytes[DeviceFamily::kCuda]);
     }},
    {"self_cuda_memory_usage",
     [](const Row& r) {
       return static_cast<double>(
           r.self_memory.device_bytes[DeviceFamily::kCuda]);
     }},
    {"flops", [](const Row& r) { return static_cast<double>(r.flops); }},
};

Rank rank_of(std::string_view word) {
  for (const auto& [name, rank] : kOrders)
    if (name == word) return rank;
  return nullptr;
}

bool is_chosen(const Row& row, const AveragesOptions& options) {
  const std::optional<DeviceFamily> family = family_of(row.device);
  switch (options.device) {
    case DeviceChoice::kAll: return true;
    case DeviceChoice::kHost: return !family;
    case DeviceChoice::kCuda: return family == DeviceFamily::kCuda;
    case DeviceChoice::kXpu: return family == DeviceFamily::kXpu;
    case DeviceChoice::kMtia: return family == DeviceFamily::kMtia;
    case DeviceChoice::kCustom: return family == DeviceFamily::kCustom;
  }
  return false;
}

std::string device_text(DeviceType device) {
  const std::optional<DeviceFamily> family = family_of(device);
  if (!family) return "cpu";
  switch (*family) {
    case DeviceFamily::kCuda: return "cuda";
    case DeviceFamily::kXpu: return "xpu";
    case DeviceFamily::kMtia: return "mtia";
    case DeviceFamily::kCustom: break;
  }
  return "custom";
}

std::string stack_text(const Row& row) {
  std::string text;
  for (const std::string& frame : row.stack)
    text += (text.empty() ? "" : ";") + frame;
  return text;
}

// The rows of a list without totals.
std::vector<Row> listed_rows(const KeyAverages& averages,
                             const AveragesOptions& options) {
  std::vector<Row> rows;
  for (const Row& row : averages) {
    if (options.row_limit >= 0 &&
        rows.size() == static_cast<std::size_t>(options.row_limit))
      break;
    if (!options.top_level_only || !row.first_has_parent) rows.push_back(row);
  }
  return rows;
}

}  // namespace

bool is_average_order(std::string_view word) {
  return word == "name" || rank_of(word) != nullptr;
}

std::optional<KeyOptions> parse_group_by(std::string_view word) {
  KeyOptions options;
  if (word == "name") return options;
  if (word == "shape") {
    options.group_by_input_shape = true;
    return options;
  }
  if (!word.starts_with("stack:")) return std::nullopt;
  word.remove_prefix(6);
  const char* const end = word.data() + word.size();
  const auto [stop, error] =
      std::from_chars(word.data(), end, options.group_by_stack_n);
  if (error != std::errc() || stop != end || options.group_by_stack_n == 0)
    return std::nullopt;
  return options;
}

KeyAverages chosen_averages(const KeyAverages& all,
                            const AveragesOptions& options) {
  std::vector<Row> rows;
  for (const Row& row : all)
    if (is_chosen(row, options)) rows.push_back(row);
  if (const Rank rank = rank_of(options.sort_by); rank != nullptr) {
    std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
      return rank(a) > rank(b);
    });
  } else {
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
      return a.key < b.key;
    });
  }
  return KeyAverages(std::move(rows), all.options());
}

std::string averages_text(const KeyAverages& averages,
                          const AveragesOptions& options) {
  if (averages.empty()) return "no spans\n";
  TableOptions table;
  table.row_limit = options.row_limit;
  table.top_level_events_only = options.top_level_only;
  return averages.table(table);
}

std::string averages_csv(const KeyAverages& averages,
                         const AveragesOptions& options) {
  std::string out =
      "name,device,count,cpu_total_ns,self_cpu_ns,cpu_mean_ns,device_total_ns,"
      "self_device_ns,cpu_bytes,self_cpu_bytes,device_bytes,self_device_bytes,"
      "flops,shapes,stack\r\n";
  for (const Row& row : listed_rows(averages, options)) {
    out += fmt::format(
        "{},{},{},{},{},{:.0f},{},{},{},{},{},{},{},{},{}\r\n",
        csv_field(row.key), device_text(row.device), row.count,
        row.cpu_time_total_ns, row.self_cpu_time_total_ns, row.cpu_time_ns(),
        row.device_time_total_ns.sum(), row.self_device_time_total_ns.sum(),
        row.memory.cpu_bytes, row.self_memory.cpu_bytes,
        row.memory.device_bytes.sum(), row.self_memory.device_bytes.sum(),
        row.flops,
        csv_field(row.input_shapes ? to_string(*row.input_shapes) : ""),
        csv_field(stack_text(row)));
  }
  return out;
}

std::string averages_json(const std::string& path,
                          const KeyAverages& averages,
                          const AveragesOptions& options) {
  JsonWriter json;
  json.open_object();
  json.member("file", path);
  json.member("self_cpu_time_total_ns", averages.self_cpu_time_total_ns());
  json.open_array("averages");
  for (const Row& row : listed_rows(averages, options)) {
    json.open_object();
    json.member("name", row.key);
    json.member("device", device_text(row.device));
    json.member("count", row.count);
    json.member("cpu_total_ns", row.cpu_time_total_ns);
    json.member("self_cpu_ns", row.self_cpu_time_total_ns);
    json.member("device_total_ns", row.device_time_total_ns.sum());
    json.member("self_device_ns", row.self_device_time_total_ns.sum());
    json.member("cpu_bytes", row.memory.cpu_bytes);
    json.member("self_cpu_bytes", row.self_memory.cpu_bytes);
    json.member("device_bytes", row.memory.device_bytes.sum());
    json.member("self_device_bytes", row.self_memory.device_bytes.sum());
    json.member("flops", row.flops);
    if (row.input_shapes) json.member("shapes", to_string(*row.input_shapes));
    if (!row.stack.empty()) {
      json.open_array("stack");
      for (const std::string& frame : row.stack) json.element(frame);
      json.close();
    }
    json.close();
  }
  json.close();
  json.close();
  return json.take();
}

}  // namespace weft::tools
