// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/memory_summary.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "open_ranges.h"
#include "text_grid.h"
#include "weft/profile/quantity_text.h"

namespace weft {
namespace {

bool same_memory(DeviceType a, DeviceType b) {
  return family_of(a) == family_of(b) && (family_of(a) || family_of(b) ||
                                          a <= DeviceType::kIdeep);
}

class Summing {
 public:
  explicit Summing(const EventList& events)
      : events_(events), open_(events.events()) {}

  void add(const MemoryRecord& record) {
    const std::size_t range = open_.innermost(record.thread, record.at_ns);
    const std::string& where =
        range == kNoEvent ? outside_ : events_[range].name;
    if (record.failed) {
      ++summary_.failed_allocations;
    } else if (record.bytes >= 0) {
      allocate(where, record);
    } else {
      release(where, record);
    }
  }

  MemorySummary take() { return std::move(summary_); }

 private:
  MemoryRow& row(const std::string& name) {
    const auto [found, added] = places_.emplace(name, summary_.rows.size());
    if (added) summary_.rows.emplace_back().name = name;
    return summary_.rows[found->second];
  }

  void allocate(const std::string& where, const MemoryRecord& record) {
    live_.insert(record.address);
    held_ += record.bytes;
    summary_.peak_bytes = std::max(summary_.peak_bytes, held_);
    for (MemoryRow* to : {&row(where), &summary_.total}) {
      ++to->allocations;
      to->allocated_bytes += record.bytes;
    }
  }

  void release(const std::string& where, const MemoryRecord& record) {
    const bool own = live_.erase(record.address) != 0;
    if (own) held_ += record.bytes;
    for (MemoryRow* to : {&row(own ? where : before_), &summary_.total}) {
      ++to->releases;
      to->freed_bytes -= record.bytes;
    }
  }

  const std::string outside_ = kOutsideOfRanges;
  const std::string before_ = kAllocatedBefore;
  const EventList& events_;
  profile::OpenRanges open_;
  std::unordered_map<std::string, std::size_t> places_;
  std::unordered_set<std::uint64_t> live_;  // addresses of the session's blocks
  std::int64_t held_ = 0;                   // bytes in them
  MemorySummary summary_;
};

}  // namespace

MemorySummary summarize_memory(const EventList& events,
                               const std::vector<MemoryRecord>& records,
                               DeviceType device) {
  Summing summing(events);
  for (const MemoryRecord& record : records)
    if (same_memory(record.device, device)) summing.add(record);
  MemorySummary summary = summing.take();
  summary.total.name = "Total";
  return summary;
}

const MemoryRow* MemorySummary::find(const std::string& name) const noexcept {
  for (const MemoryRow& row : rows)
    if (row.name == name) return &row;
  return nullptr;
}

std::string MemorySummary::table() const {
  if (rows.empty()) return "";
  std::size_t longest = total.name.size();
  for (const MemoryRow& row : rows)
    longest = std::max(longest, profile::code_points(row.name));
  profile::TextGrid grid;
  constexpr std::size_t kWidth = 12;
  grid.add_column("Name", longest + 4);
  for (const char* heading : {"Allocations", "Allocated", "Releases", "Freed",
                              "Net"})
    grid.add_column(heading, kWidth);
  const auto line = [&](const MemoryRow& row) {
    return grid.row({row.name, std::to_string(row.allocations),
                     format_memory(row.allocated_bytes),
                     std::to_string(row.releases),
                     format_memory(row.freed_bytes),
                     format_memory(row.net_bytes())});
  };
  std::string text = grid.separator() + grid.headings() + grid.separator();
  for (const MemoryRow& row : rows) text += line(row);
  text += grid.separator() + line(total);
  return text + "Peak of the session's own: " + format_memory(peak_bytes) +
         "\n";
}

}  // namespace weft
