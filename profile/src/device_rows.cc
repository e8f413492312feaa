// SPDX-License-Identifier: Apache-2.0
#include "device_rows.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "weft/gpu/launch_word.h"
#include "weft/internal/definitions.h"
#include "weft/internal/tick_scale.h"
#include "weft/profile/wrapping_sum.h"

namespace weft::profile {
namespace {

constexpr unsigned kFamilyShift = 24;
constexpr std::uint64_t kMostSkewNs = 1'000'000'000;

std::uint32_t family_bits(DeviceFamily family) {
  return launch_word(family, 0) >> kFamilyShift;
}

DeviceType type_of(DeviceFamily family) {
  switch (family) {
    case DeviceFamily::kCuda:
      return DeviceType::kCuda;
    case DeviceFamily::kXpu:
      return DeviceType::kXpu;
    case DeviceFamily::kMtia:
      return DeviceType::kMtia;
    case DeviceFamily::kCustom:
      break;
  }
  return DeviceType::kCustom;
}

std::string_view word_for(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::kKernel:
      return "kernel";
    case ActivityKind::kCopy:
      return "copy";
    case ActivityKind::kFill:
      return "fill";
    case ActivityKind::kSync:
      return "synchronize";
    case ActivityKind::kApi:
      return "device call";
    case ActivityKind::kOverhead:
      break;
  }
  return "overhead";
}

bool is_work(ActivityKind kind) {
  return kind == ActivityKind::kKernel || kind == ActivityKind::kCopy ||
         kind == ActivityKind::kFill;
}

// By time, and then by all that tells them apart.
std::vector<const DeviceActivity*> in_order(
    const std::vector<DeviceActivity>& activities) {
  std::vector<const DeviceActivity*> order;
  order.reserve(activities.size());
  for (const DeviceActivity& activity : activities) order.push_back(&activity);
  const auto rest = [](const DeviceActivity* a) {
    return std::tuple(a->end, a->kind, a->device, a->context, a->stream,
                      a->correlation, a->graph, a->graph_node, a->bytes);
  };
  const auto before = [&](const DeviceActivity* a, const DeviceActivity* b) {
    if (a->start != b->start) return a->start < b->start;
    if (rest(a) != rest(b)) return rest(a) < rest(b);
    // Numbers of names depend on who came first; their texts do not.
    return a->name != b->name &&
           internal::text_of(a->name) < internal::text_of(b->name);
  };
  if (!std::is_sorted(order.begin(), order.end(), before))
    std::sort(order.begin(), order.end(), before);
  return order;
}

std::string name_for(const DeviceActivity& activity) {
  std::string name(internal::text_of(activity.name));
  if (name.empty()) return std::string(word_for(activity.kind));
  // Rows of these names mean something else.
  if (name == kMemoryRecord || name == kOutOfMemoryRecord)
    name.insert(0, std::string(word_for(activity.kind)) + ' ');
  return name;
}

}  // namespace

DeviceRows::DeviceRows(const std::vector<Launch>& launches,
                       const std::vector<UncoveredLaunch>& uncovered,
                       const DeviceRowOptions& options)
    : options_(options), launches_(launches), next_id_(options.next_id) {
  for (const UncoveredLaunch& launch : uncovered)
    uncovered_[{launch.call >> kFamilyShift, launch.correlation}] = true;
}

void DeviceRows::add(const DeviceWindow& window, const ClockLine& host) {
  const Interval interval{family_bits(window.family), host.to_ns(window.from),
                          host.to_ns(window.to), host.to_ns(window.over)};
  intervals_.push_back(interval);
  const DeviceTimes times(window.records, host);
  const DeviceAccounts& accounts = window.records.accounts;
  statistics_.activities += accounts.delivered;
  statistics_.dropped += accounts.dropped;
  statistics_.late += accounts.late;
  statistics_.malformed += accounts.unknown_kind + accounts.unknown_device;
  statistics_.reversed += accounts.reversed;
  statistics_.lost += accounts.lost;
  statistics_.bad_clock_pairs +=
      times.bad_pairs() + accounts.clock_pairs_dropped;
  for (const auto& [reason, count] : window.records.lost)
    statistics_.lost_by_reason[reason] += count;
  statistics_.failures.insert(statistics_.failures.end(),
                              window.records.failures.begin(),
                              window.records.failures.end());
  for (const DeviceActivity* activity : in_order(window.records.activities))
    add_activity(*activity, interval, times);
}

// No clock is off by more than kMostSkewNs, so a record that says so says
// nothing of when the work was.
bool DeviceRows::is_absurd(const Interval& interval, std::int64_t start_ns,
                           std::int64_t end_ns, const Launch* launch) const {
  using internal::add_clamped;
  using internal::ns_between;
  return end_ns > add_clamped(interval.over_ns, kMostSkewNs) ||
         ns_between(start_ns, end_ns) >
             ns_between(interval.from_ns, interval.over_ns) + kMostSkewNs ||
         (launch != nullptr &&
          start_ns < internal::subtract_clamped(launch->ns, kMostSkewNs));
}

void DeviceRows::add_activity(const DeviceActivity& activity,
                              const Interval& interval,
                              const DeviceTimes& times) {
  if (activity.kind == ActivityKind::kSync && !options_.sync_rows) {
    ++statistics_.not_wanted;
    return;
  }
  const Key key{interval.family, activity.correlation};
  if (activity.start == 0 && activity.end == 0) {
    ++statistics_.without_time;
    if (LaunchIndex::Entry* entry =
            key.correlation == 0
                ? nullptr
                : launches_.find(key.family, key.correlation, interval.to_ns);
        entry != nullptr && is_work(activity.kind))
      entry->has_work = true;
    return;
  }
  const auto start = times.to_ns(activity.device, activity.start);
  const auto end = times.to_ns(activity.device, activity.end);
  if (!start || !end) {
    ++statistics_.without_clock;
    return;
  }
  std::int64_t start_ns = *start;
  std::int64_t end_ns = std::max(start_ns, *end);
  if (activity.kind == ActivityKind::kOverhead) {
    ++statistics_.overheads;
    std::int64_t length = end_ns;
    subtract_wrapping(length, start_ns);
    add_wrapping(statistics_.overhead_ns, length);
    return;
  }
  LaunchIndex::Entry* entry =
      key.correlation == 0
          ? nullptr
          : launches_.find(key.family, key.correlation, start_ns);
  if (is_absurd(interval, start_ns, end_ns,
                entry == nullptr ? nullptr : entry->launch)) {
    ++statistics_.absurd;
    if (entry != nullptr && is_work(activity.kind)) entry->has_work = true;
    return;
  }
  if (entry == nullptr) {
    if (uncovered_.count(key) != 0) {
      ++statistics_.outside_coverage;
      return;
    }
    if (end_ns <= interval.from_ns || start_ns >= interval.to_ns) {
      ++statistics_.outside_window;
      return;
    }
  } else if (is_work(activity.kind)) {
    entry->has_work = true;
    std::int64_t early = entry->launch->ns;
    subtract_wrapping(early, start_ns);
    if (start_ns < entry->launch->ns) {
      ++statistics_.moved_to_launch;
      statistics_.most_moved_ns = std::max(statistics_.most_moved_ns, early);
      add_wrapping(start_ns, early);
      add_wrapping(end_ns, early);
    }
  }
  add_row(activity, static_cast<DeviceFamily>(interval.family - 1), start_ns,
          end_ns, entry == nullptr ? nullptr : entry->launch);
}

void DeviceRows::add_row(const DeviceActivity& activity, DeviceFamily family,
                         std::int64_t start_ns, std::int64_t end_ns,
                         const Launch* launch) {
  ++statistics_.rows;
  RawEvent& row = rows_.emplace_back();
  row.name = name_for(activity);
  row.start_ns = start_ns;
  row.end_ns = end_ns;
  // Not the vendor's number: that may be equal to a call's.
  row.id = next_id_++;
  row.node_id = options_.node_id;
  row.thread = launch == nullptr ? 0 : launch->thread;
  if (options_.link && launch != nullptr) row.linked_op = launch->op;
  if (is_work(activity.kind)) {
    row.device = type_of(family);
    row.device_index = static_cast<int>(activity.device);
    row.stream = activity.stream;
  }
}

std::vector<RawEvent> DeviceRows::take(DeviceStatistics* statistics) {
  const LaunchIndex::Entry* before = nullptr;  // that was recorded
  for (const LaunchIndex::Entry& entry : launches_.entries()) {
    const bool recorded = std::any_of(
        intervals_.begin(), intervals_.end(), [&](const Interval& interval) {
          return interval.family == entry.family &&
                 entry.launch->ns >= interval.from_ns &&
                 entry.launch->ns < interval.to_ns;
        });
    if (!recorded) continue;
    ++statistics_.launches;
    if (!entry.has_work) ++statistics_.launches_without_work;
    if (before != nullptr && before->correlation == entry.correlation &&
        before->family == entry.family)
      ++statistics_.repeated_launches;
    before = &entry;
  }
  *statistics = statistics_;
  return std::move(rows_);
}

}  // namespace weft::profile
