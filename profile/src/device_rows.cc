// SPDX-License-Identifier: Apache-2.0
#include "device_rows.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "weft/gpu/launch_word.h"
#include "weft/internal/definitions.h"
#include "weft/profile/wrapping_sum.h"

namespace weft::profile {
namespace {

constexpr unsigned kFamilyShift = 24;

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
    : options_(options), next_id_(options.next_id) {
  for (const Launch& launch : launches)
    launches_[{launch.call >> kFamilyShift, launch.correlation}].push_back(
        {&launch});
  for (auto& [key, entries] : launches_)
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) {
                       return a.launch->ns < b.launch->ns;
                     });
  for (const UncoveredLaunch& launch : uncovered)
    uncovered_[{launch.call >> kFamilyShift, launch.correlation}] = true;
}

DeviceRows::Entry* DeviceRows::launch_of(const Key& key,
                                         std::int64_t start_ns) {
  if (key.correlation == 0) return nullptr;
  const auto found = launches_.find(key);
  if (found == launches_.end()) return nullptr;
  std::vector<Entry>& entries = found->second;
  const auto after = std::upper_bound(entries.begin(), entries.end(), start_ns,
                                      [](std::int64_t ns, const Entry& entry) {
                                        return ns < entry.launch->ns;
                                      });
  return after == entries.begin() ? &entries.front() : &*std::prev(after);
}

void DeviceRows::add(const DeviceWindow& window, const ClockLine& host) {
  const Interval interval{family_bits(window.family), host.to_ns(window.from),
                          host.to_ns(window.to)};
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
  for (const DeviceActivity& activity : window.records.activities)
    add_activity(activity, interval, times);
}

void DeviceRows::add_activity(const DeviceActivity& activity,
                              const Interval& interval,
                              const DeviceTimes& times) {
  if (activity.kind == ActivityKind::kSync && !options_.sync_rows) {
    ++statistics_.not_wanted;
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
  const Key key{interval.family, activity.correlation};
  Entry* entry = launch_of(key, start_ns);
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
  for (const auto& [key, entries] : launches_) {
    const std::uint32_t family = key.family;
    std::uint64_t used = 0;
    for (const Entry& entry : entries) {
      const bool recorded = std::any_of(
          intervals_.begin(), intervals_.end(), [&](const Interval& interval) {
            return interval.family == family &&
                   entry.launch->ns >= interval.from_ns &&
                   entry.launch->ns < interval.to_ns;
          });
      if (!recorded) continue;
      ++used;
      ++statistics_.launches;
      if (!entry.has_work) ++statistics_.launches_without_work;
    }
    if (used > 1) statistics_.repeated_launches += used - 1;
  }
  *statistics = statistics_;
  return std::move(rows_);
}

}  // namespace weft::profile
