// SPDX-License-Identifier: Apache-2.0
#include "compact_rows.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "weft/profile/wrapping_sum.h"

namespace weft::profile {
namespace {

void add_usage(CompactUsage& sum, const CompactUsage& usage) {
  add_wrapping(sum.host, usage.host);
  add_wrapping(sum.device, usage.device);
}

std::int64_t length_of(const CompactRow& row) {
  std::int64_t length = row.end_ns;
  subtract_wrapping(length, row.start_ns);
  return length;
}

// Sorts what is mostly in order already: merges the pieces that are.
template <class Less>
void merge_sort_runs(std::vector<std::uint32_t>& items, Less less) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 1; i <= items.size(); ++i) {
    if (i == items.size() || less(items[i], items[i - 1])) ends.push_back(i);
  }
  // Many short pieces: the library is as good.
  if (ends.size() > items.size() / 8 + 1) {
    std::stable_sort(items.begin(), items.end(), less);
    return;
  }
  std::vector<std::uint32_t> merged(items.size());
  while (ends.size() > 1) {
    std::vector<std::size_t> next;
    std::size_t begin = 0;
    for (std::size_t run = 0; run < ends.size(); run += 2) {
      const std::size_t middle = ends[run];
      const std::size_t end = run + 1 < ends.size() ? ends[run + 1] : middle;
      const auto at = [&](std::size_t i) {
        return items.begin() + static_cast<std::ptrdiff_t>(i);
      };
      std::merge(at(begin), at(middle), at(middle), at(end),
                 merged.begin() + static_cast<std::ptrdiff_t>(begin), less);
      next.push_back(end);
      begin = end;
    }
    items.swap(merged);
    ends.swap(next);
  }
}

}  // namespace

std::vector<std::uint32_t> CompactRows::ordered_rows() const {
  std::vector<std::uint32_t> order(rows_.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  merge_sort_runs(order, [&](std::uint32_t a, std::uint32_t b) {
    const CompactRow& x = rows_[a];
    const CompactRow& y = rows_[b];
    return x.start_ns != y.start_ns ? x.start_ns < y.start_ns
                                    : x.end_ns > y.end_ns;
  });
  return order;
}

void CompactRows::link() {
  order_ = ordered_rows();
  totals_.resize(rows_.size());
  std::vector<std::vector<std::uint32_t>> open;
  for (const std::uint32_t i : order_) {
    CompactRow& row = rows_[i];
    if (row.thread >= of_thread_.size()) of_thread_.resize(row.thread + 1);
    if (row.thread >= open.size()) open.resize(row.thread + 1);
    if (!row.nests()) continue;
    of_thread_[row.thread].push_back(i);
    std::vector<std::uint32_t>& stack = open[row.thread];
    while (!stack.empty()) {
      const CompactRow& around = rows_[stack.back()];
      if (row.start_ns < around.end_ns && row.end_ns <= around.end_ns) {
        row.parent = stack.back();
        break;
      }
      stack.pop_back();
    }
    stack.push_back(i);
  }
}

std::uint32_t CompactRows::innermost(std::uint32_t thread,
                                     std::int64_t start_ns,
                                     std::int64_t end_ns) const {
  if (thread >= of_thread_.size()) return CompactRow::kNone;
  const std::vector<std::uint32_t>& rows = of_thread_[thread];
  const auto after = std::upper_bound(
      rows.begin(), rows.end(), start_ns,
      [&](std::int64_t ns, std::uint32_t i) { return ns < rows_[i].start_ns; });
  if (after == rows.begin()) return CompactRow::kNone;
  // The last one begun until then, or what that lies in.
  std::uint32_t row = *std::prev(after);
  while (row != CompactRow::kNone && rows_[row].end_ns < end_ns) {
    row = rows_[row].parent;
  }
  return row;
}

void CompactRows::own(std::uint32_t row, std::int64_t device_ns) {
  add_wrapping(totals_[row].device_ns, device_ns);
}

bool CompactRows::charge(std::uint32_t thread, std::int64_t at_ns,
                         CompactUsage usage) {
  if (thread >= of_thread_.size()) return false;
  open_.resize(of_thread_.size());
  Open& open = open_[thread];
  const std::vector<std::uint32_t>& rows = of_thread_[thread];
  for (; open.next < rows.size() && rows_[rows[open.next]].start_ns <= at_ns;
       ++open.next) {
    open.rows.push_back(rows[open.next]);
  }
  while (!open.rows.empty() && rows_[open.rows.back()].end_ns <= at_ns) {
    open.rows.pop_back();
  }
  if (open.rows.empty()) return false;
  usage_.resize(rows_.size());
  add_usage(usage_[open.rows.back()], usage);
  return true;
}

// Children come behind their parents in the order, so backwards they come
// first.
void CompactRows::add_up() {
  below_.resize(usage_.size());
  for (auto i = order_.rbegin(); i != order_.rend(); ++i) {
    const CompactRow& row = rows_[*i];
    if (row.parent == CompactRow::kNone) continue;
    Totals& around = totals_[row.parent];
    add_wrapping(around.children_ns, length_of(row));
    add_wrapping(around.below_device_ns, totals_[*i].device_ns);
    add_wrapping(around.device_ns, totals_[*i].device_ns);
    if (usage_.empty()) continue;
    add_usage(usage_[row.parent], usage_[*i]);
    add_usage(below_[row.parent], usage_[*i]);
  }
}

void CompactRows::add_loose(CompactRow row, CompactUsage usage) {
  row.is_loose = true;
  const std::uint32_t at = add(row);
  usage_.resize(rows_.size());
  usage_[at] = usage;
}

std::uint32_t CompactRows::group_of(const CompactRow& row,
                                    std::vector<FunctionEventAvg>& averages) {
  constexpr std::size_t kKinds = 3;
  const std::size_t kind = !row.is_device ? 0 : row.is_annotation ? 2 : 1;
  std::uint32_t& group = groups_[row.name * kKinds + kind];
  if (group != CompactRow::kNone) return group;
  group = static_cast<std::uint32_t>(averages.size());
  FunctionEventAvg& first = averages.emplace_back();
  first.key = names_.text(row.name);
  first.node_id = -1;
  if (row.is_device) first.device = DeviceType::kCuda;
  if (row.is_user_scope) first.scope = RecordScope::kUserScope;
  first.is_async = row.is_async;
  first.is_user_annotation = row.is_annotation;
  first.first_has_parent = row.parent != CompactRow::kNone;
  return group;
}

void CompactRows::add_host_row(std::uint32_t row, bool nested,
                               FunctionEventAvg& average) {
  const std::int64_t length = length_of(rows_[row]);
  if (!nested) add_wrapping(average.cpu_time_total_ns, length);
  if (rows_[row].is_async) return;
  const Totals& totals = totals_[row];
  add_wrapping(average.self_cpu_time_total_ns, length);
  subtract_wrapping(average.self_cpu_time_total_ns, totals.children_ns);
  std::int64_t& self_device =
      average.self_device_time_total_ns[DeviceFamily::kCuda];
  add_wrapping(self_device, totals.device_ns);
  subtract_wrapping(self_device, totals.below_device_ns);
  if (!nested) {
    add_wrapping(average.device_time_total_ns[DeviceFamily::kCuda],
                 totals.device_ns);
  }
  if (usage_.empty()) return;
  const auto usage_of = [](const CompactUsage& compact) {
    MemoryUsage usage;
    usage.cpu_bytes = compact.host;
    usage.device_bytes[DeviceFamily::kCuda] = compact.device;
    return usage;
  };
  if (!nested) average.memory += usage_of(usage_[row]);
  average.self_memory += usage_of(usage_[row]);
  average.self_memory -= usage_of(below_[row]);
}

std::vector<FunctionEventAvg> CompactRows::averages() {
  if (order_.size() != rows_.size()) {  // loose ones came later
    order_ = ordered_rows();
    totals_.resize(rows_.size());
  }
  add_up();
  constexpr std::size_t kKinds = 3;
  groups_.assign(names_.size() * kKinds, CompactRow::kNone);
  std::vector<FunctionEventAvg> averages;
  // The groups of the rows open around the one at hand, by thread, and how
  // often each group is among them.
  struct Stack {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> rows;  // row, group
    std::vector<std::uint32_t> depth;
  };
  std::vector<Stack> stacks(of_thread_.size());
  for (const std::uint32_t i : order_) {
    const CompactRow& row = rows_[i];
    const std::uint32_t group = group_of(row, averages);
    FunctionEventAvg& average = averages[group];
    ++average.count;
    if (row.parent == CompactRow::kNone) ++average.top_level_count;
    if (row.is_device) {
      const std::int64_t length = length_of(row);
      add_wrapping(average.device_time_total_ns[DeviceFamily::kCuda], length);
      add_wrapping(average.self_device_time_total_ns[DeviceFamily::kCuda],
                   length);
      continue;
    }
    bool nested = false;
    if (row.nests()) {
      Stack& stack = stacks[row.thread];
      while (!stack.rows.empty() && stack.rows.back().first != row.parent) {
        --stack.depth[stack.rows.back().second];
        stack.rows.pop_back();
      }
      if (group >= stack.depth.size()) stack.depth.resize(group + 1);
      nested = stack.depth[group]++ > 0;
      stack.rows.emplace_back(i, group);
    }
    add_host_row(i, nested, average);
  }
  return averages;
}

}  // namespace weft::profile
