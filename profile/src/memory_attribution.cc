// SPDX-License-Identifier: Apache-2.0
#include "memory_attribution.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "event_tree.h"
#include "open_ranges.h"

namespace weft::profile {
namespace {

std::vector<std::size_t> by_start(const std::vector<RawEvent>& records) {
  std::vector<std::size_t> order(records.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) {
                     return records[a].start_ns < records[b].start_ns;
                   });
  return order;
}

// Both return which records were taken.
std::vector<bool> attribute_by_time(std::vector<FunctionEvent>& events,
                                    const std::vector<RawEvent>& records) {
  const std::vector<std::size_t> order = by_start(records);
  std::vector<bool> taken(records.size(), false);
  for (FunctionEvent& event : events) {
    if (!event.is_host()) continue;
    auto record = std::lower_bound(order.begin(), order.end(), event.start_ns,
                                   [&](std::size_t i, std::int64_t ns) {
                                     return records[i].start_ns < ns;
                                   });
    for (; record != order.end() && records[*record].start_ns <= event.end_ns;
         ++record) {
      event.memory += usage_of(records[*record], Rules::kReference);
      taken[*record] = true;
    }
  }
  return taken;
}

std::vector<bool> attribute_by_thread(std::vector<FunctionEvent>& events,
                                      const std::vector<RawEvent>& records) {
  link_parents(events, Rules::kWeft);
  OpenRanges open(events);
  std::vector<bool> taken(records.size(), false);
  for (const std::size_t i : by_start(records)) {
    const RawEvent& record = records[i];
    std::size_t range = open.innermost(record.thread, record.start_ns);
    taken[i] = range != kNoEvent;
    for (; range != kNoEvent; range = events[range].parent) {
      events[range].memory += usage_of(record, Rules::kWeft);
    }
  }
  return taken;
}

}  // namespace

MemoryUsage usage_of(const RawEvent& record, Rules rules) {
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

std::vector<RawEvent> attribute_memory(std::vector<FunctionEvent>& events,
                                       std::vector<RawEvent> records,
                                       Rules rules) {
  const std::vector<bool> taken = rules == Rules::kReference
                                      ? attribute_by_time(events, records)
                                      : attribute_by_thread(events, records);
  std::vector<RawEvent> left;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!taken[i]) left.push_back(std::move(records[i]));
  }
  return left;
}

}  // namespace weft::profile
