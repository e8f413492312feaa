// SPDX-License-Identifier: Apache-2.0
#include "memory_attribution.h"

#include <algorithm>
#include <cstddef>

#include "event_tree.h"
#include "open_ranges.h"

namespace weft::profile {
namespace {

// Positions of what did not fail, by time.
std::vector<std::size_t> by_time(std::span<const MemoryRecord> records) {
  std::vector<std::size_t> order;
  order.reserve(records.size());
  for (std::size_t i = 0; i < records.size(); ++i)
    if (!records[i].failed) order.push_back(i);
  const auto earlier = [&](std::size_t a, std::size_t b) {
    return records[a].at_ns < records[b].at_ns;
  };
  // Those of a session are sorted.
  if (!std::is_sorted(order.begin(), order.end(), earlier))
    std::stable_sort(order.begin(), order.end(), earlier);
  return order;
}

// Both return which records were taken.
std::vector<bool> attribute_by_time(std::vector<FunctionEvent>& events,
                                    std::span<const MemoryRecord> records) {
  const std::vector<std::size_t> order = by_time(records);
  std::vector<bool> taken(records.size(), false);
  for (FunctionEvent& event : events) {
    if (!event.is_host()) continue;
    auto record = std::lower_bound(order.begin(), order.end(), event.start_ns,
                                   [&](std::size_t i, std::int64_t ns) {
                                     return records[i].at_ns < ns;
                                   });
    for (; record != order.end() && records[*record].at_ns <= event.end_ns;
         ++record) {
      event.memory += usage_of(records[*record], Rules::kReference);
      taken[*record] = true;
    }
  }
  return taken;
}

std::vector<bool> attribute_by_thread(std::vector<FunctionEvent>& events,
                                      std::span<const MemoryRecord> records) {
  link_parents(events, Rules::kWeft);
  OpenRanges open(events);
  std::vector<bool> taken(records.size(), false);
  for (const std::size_t i : by_time(records)) {
    const MemoryRecord& record = records[i];
    std::size_t range = open.innermost(record.thread, record.at_ns);
    taken[i] = range != kNoEvent;
    for (; range != kNoEvent; range = events[range].parent) {
      events[range].memory += usage_of(record, Rules::kWeft);
    }
  }
  return taken;
}

}  // namespace

MemoryUsage usage_of(const MemoryRecord& record, Rules rules) {
  MemoryUsage usage;
  const auto family = family_of(record.device);
  if (!family) {
    usage.cpu_bytes = record.bytes;
  } else if (rules == Rules::kWeft || *family == DeviceFamily::kCuda ||
             *family == DeviceFamily::kCustom) {
    usage.device_bytes[*family] = record.bytes;
  }
  return usage;
}

std::vector<bool> attribute_memory(std::vector<FunctionEvent>& events,
                                   std::span<const MemoryRecord> records,
                                   Rules rules) {
  return rules == Rules::kReference ? attribute_by_time(events, records)
                                    : attribute_by_thread(events, records);
}

}  // namespace weft::profile
