// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/memory_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "range_index.h"
#include "weft/profile/wrapping_sum.h"

namespace weft {
namespace {

class Reporter {
 public:
  explicit Reporter(const EventList& events)
      : events_(events), ranges_(events.events()) {}

  void add(const MemoryRecord& record) {
    const bool allocates = record.bytes > 0;
    std::unordered_set<std::uint64_t>& live =
        live_[{record.device, record.device_index}];
    const bool earlier = !allocates && live.erase(record.address) == 0;
    if (allocates) live.insert(record.address);
    MemoryRow& row =
        row_of(earlier ? std::string(kEarlierMemory) : range_of(record));
    const std::uint64_t size =
        allocates ? static_cast<std::uint64_t>(record.bytes)
                  : 0 - static_cast<std::uint64_t>(record.bytes);
    ++(allocates ? row.allocations : row.releases);
    (allocates ? row.allocated_bytes : row.released_bytes) += size;
    add_wrapping(report_.change_bytes, record.bytes);
    if (report_.change_bytes > report_.peak_bytes) {
      report_.peak_bytes = report_.change_bytes;
      report_.peak_at_ns = record.at_ns;
    }
  }

  MemoryReport take() { return std::move(report_); }

 private:
  using Device = std::pair<DeviceType, int>;
  struct HashDevice {
    std::size_t operator()(const Device& device) const noexcept {
      return static_cast<std::size_t>(device.first) * 1024 +
             static_cast<std::size_t>(device.second);
    }
  };

  std::string range_of(const MemoryRecord& record) const {
    // Half open: at its end a range is over.
    std::size_t range =
        ranges_.innermost(record.thread, record.at_ns, record.at_ns);
    while (range != kNoEvent && events_[range].end_ns <= record.at_ns) {
      range = events_[range].parent;
    }
    return range == kNoEvent ? kUnattributedMemory : events_[range].name;
  }

  MemoryRow& row_of(const std::string& name) {
    const auto [place, added] = places_.emplace(name, report_.rows.size());
    if (added) report_.rows.emplace_back().name = name;
    return report_.rows[place->second];
  }

  const EventList& events_;
  const profile::RangeIndex ranges_;
  std::unordered_map<Device, std::unordered_set<std::uint64_t>, HashDevice>
      live_;
  std::unordered_map<std::string, std::size_t> places_;
  MemoryReport report_;
};

}  // namespace

MemoryReport memory_report(const EventList& events,
                           std::vector<MemoryRecord> records) {
  std::stable_sort(records.begin(), records.end(),
                   [](const MemoryRecord& a, const MemoryRecord& b) {
                     return a.at_ns < b.at_ns;
                   });
  Reporter reporter(events);
  for (const MemoryRecord& record : records) {
    if (record.bytes != 0) reporter.add(record);
  }
  return reporter.take();
}

std::string MemoryReport::table() const {
  std::size_t width = 4;
  for (const MemoryRow& row : rows) width = std::max(width, row.name.size());
  std::string out =
      fmt::format("{:<{}}  {:>16}  {:>16}  {:>16}  {:>10}  {:>10}\n", "Name",
                  width, "Allocated", "Released", "Net", "# Alloc", "# Free");
  for (const MemoryRow& row : rows) {
    out += fmt::format("{:<{}}  {:>16}  {:>16}  {:>16}  {:>10}  {:>10}\n",
                       row.name, width, row.allocated_bytes,
                       row.released_bytes, row.net_bytes(), row.allocations,
                       row.releases);
  }
  return out + fmt::format("Change: {} bytes, peak {} bytes at {} ns\n",
                           change_bytes, peak_bytes, peak_at_ns);
}

}  // namespace weft
