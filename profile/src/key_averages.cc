// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/key_averages.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "table.h"
#include "weft/profile/event_list.h"

namespace weft {
namespace {

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - a;
  return b > room ? std::numeric_limits<std::uint64_t>::max() : a + b;
}

// Whether a row's inclusive figures count, or only its self figures.
enum class Totals { kCount, kSkip };

void describe(FunctionEventAvg& average, const FunctionEvent& event) {
  average.key = event.name;
  average.node_id = event.node_id;
  average.device = event.device;
  average.scope = event.scope;
  average.is_async = event.is_async;
  average.is_remote = event.is_remote;
  average.is_legacy = event.is_legacy;
  average.is_user_annotation = event.is_user_annotation;
  average.first_has_parent = event.parent != kNoEvent;
  average.input_shapes = event.input_shapes;
  average.stack = event.stack;
}

void add(FunctionEventAvg& average, const FunctionEvent& event, Totals totals) {
  if (totals == Totals::kCount) {
    add_wrapping(average.cpu_time_total_ns, event.cpu_time_total_ns);
    average.device_time_total_ns += event.device_time_total_ns;
    average.memory += event.memory;
  }
  average.flops = saturating_add(average.flops, event.flops.value_or(0));
  add_wrapping(average.self_cpu_time_total_ns, event.self_cpu_time_total_ns);
  average.self_device_time_total_ns += event.self_device_time_total_ns;
  average.self_memory += event.self_memory;
  ++average.count;
  if (event.parent == kNoEvent) ++average.top_level_count;
}

void add(FunctionEventAvg& average, const FunctionEventAvg& other) {
  add_wrapping(average.cpu_time_total_ns, other.cpu_time_total_ns);
  add_wrapping(average.self_cpu_time_total_ns, other.self_cpu_time_total_ns);
  average.device_time_total_ns += other.device_time_total_ns;
  average.self_device_time_total_ns += other.self_device_time_total_ns;
  average.memory += other.memory;
  average.self_memory += other.self_memory;
  average.count += other.count;
  average.top_level_count += other.top_level_count;
  average.flops = saturating_add(average.flops, other.flops);
}

void append_field(std::string& key, std::string_view field) {
  key += std::to_string(field.size());
  key += ':';
  key += field;
}

// Equal for rows that belong together. Lengths keep the parts apart.
std::string group_key(const FunctionEvent& event, const KeyOptions& options) {
  std::string key;
  append_field(key, event.name);
  append_field(key, std::to_string(event.node_id));
  key += static_cast<char>('a' + static_cast<int>(event.device));
  key += event.is_legacy ? 'l' : '-';
  key += event.is_user_annotation ? 'u' : '-';
  if (options.group_by_input_shape) {
    append_field(key, to_string(event.input_shapes));
  }
  const std::size_t frames =
      std::min(options.group_by_stack_n, event.stack.size());
  for (std::size_t i = 0; i < frames; ++i) append_field(key, event.stack[i]);
  return key;
}

// Which rows run inside another of their group.
std::vector<bool> nested_in_own_group(const std::vector<FunctionEvent>& events,
                                      const std::vector<std::size_t>& group,
                                      std::size_t groups) {
  std::vector<bool> nested(events.size(), false);
  std::vector<std::size_t> open(groups, 0);
  struct Step {
    std::size_t event;
    bool leaves;
  };
  std::vector<Step> steps;
  for (std::size_t root = 0; root < events.size(); ++root) {
    if (events[root].parent != kNoEvent) continue;
    steps.push_back({root, false});
    while (!steps.empty()) {
      const Step step = steps.back();
      steps.pop_back();
      std::size_t& depth = open[group[step.event]];
      if (step.leaves) {
        --depth;
        continue;
      }
      nested[step.event] = depth > 0;
      ++depth;
      steps.push_back({step.event, true});
      for (const std::size_t child : events[step.event].children) {
        steps.push_back({child, false});
      }
    }
  }
  return nested;
}

}  // namespace

double FunctionEventAvg::cpu_time_ns() const noexcept {
  if (count == 0) return 0;
  return static_cast<double>(cpu_time_total_ns) / static_cast<double>(count);
}

double FunctionEventAvg::device_time_ns(DeviceFamily family) const noexcept {
  if (count == 0) return 0;
  return static_cast<double>(device_time_total_ns[family]) /
         static_cast<double>(count);
}

Result<void> FunctionEventAvg::merge(const FunctionEventAvg& other) {
  if (count == 0) {
    *this = other;
    return {};
  }
  if (key != other.key) {
    return Error{ErrorCode::kInvalidArgument,
                 "cannot add the average of \"" + other.key +
                     "\" to that of \"" + key + "\""};
  }
  add(*this, FunctionEventAvg(other));  // `other` may be this one
  return {};
}

KeyAverages EventList::key_averages(const KeyOptions& options) const {
  std::unordered_map<std::string, std::size_t> index;
  std::vector<std::size_t> group;
  group.reserve(events_.size());
  for (const FunctionEvent& event : events_) {
    group.push_back(
        index.emplace(group_key(event, options), index.size()).first->second);
  }
  std::vector<bool> nested(events_.size(), false);
  if (options_.rules == Rules::kWeft) {
    nested = nested_in_own_group(events_, group, index.size());
  }
  std::vector<FunctionEventAvg> rows(index.size());
  for (std::size_t i = 0; i < events_.size(); ++i) {
    FunctionEventAvg& row = rows[group[i]];
    if (row.count == 0) {
      describe(row, events_[i]);
      row.stack.resize(std::min(options.group_by_stack_n, row.stack.size()));
      if (!options.group_by_input_shape) row.input_shapes.reset();
    }
    add(row, events_[i], nested[i] ? Totals::kSkip : Totals::kCount);
  }
  return KeyAverages(std::move(rows), options_);
}

FunctionEventAvg EventList::total_average() const {
  FunctionEventAvg total;
  for (const FunctionEvent& event : events_) {
    describe(total, event);
    add(total, event, Totals::kCount);
  }
  total.key = "Total";
  return total;
}

const FunctionEventAvg* KeyAverages::find(std::string_view key) const noexcept {
  const auto found =
      std::find_if(rows_.begin(), rows_.end(),
                   [&](const FunctionEventAvg& row) { return row.key == key; });
  return found == rows_.end() ? nullptr : &*found;
}

FunctionEventAvg KeyAverages::total_average() const {
  FunctionEventAvg total;
  for (const FunctionEventAvg& row : rows_) {
    FunctionEventAvg sum = row;  // the last row's description
    add(sum, total);
    total = std::move(sum);
  }
  total.key = "Total";
  return total;
}

std::int64_t KeyAverages::self_cpu_time_total_ns() const noexcept {
  std::int64_t total = 0;
  for (const FunctionEventAvg& row : rows_) {
    add_wrapping(total, row.self_cpu_time_total_ns);
  }
  return total;
}

std::string KeyAverages::table(const TableOptions& options) const {
  return profile::weft_table(profile::table_rows(*this), options, options_);
}

}  // namespace weft
