// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/event_list.h"

#include <fstream>
#include <utility>

#include "event_tree.h"
#include "table.h"

namespace weft {
namespace {

std::uint64_t clamp_negative(std::vector<FunctionEvent>& events) {
  std::uint64_t clamped = 0;
  for (FunctionEvent& event : events) {
    if (event.end_ns >= event.start_ns) continue;
    event.end_ns = event.start_ns;
    ++clamped;
  }
  return clamped;
}

}  // namespace

EventList::EventList(std::vector<FunctionEvent> events,
                     EventListOptions options)
    : events_(std::move(events)), options_(std::move(options)) {
  const Rules rules = options_.rules;
  if (rules == Rules::kWeft) statistics_.clock_errors = clamp_negative(events_);
  for (FunctionEvent& event : events_) {
    event.parent = kNoEvent;
    event.children.clear();
    if (!event.finished) ++statistics_.unfinished;
  }
  if (options_.build_tree) {
    statistics_.partial_overlaps = profile::link_parents(events_, rules);
    if (options_.remove_duplicates) {
      statistics_.merged_duplicates = profile::merge_duplicates(events_, rules);
    }
    profile::inherit_forward_stacks(events_, rules);
  }
  profile::derive_metrics(events_, rules, !options_.device_name.empty());
}

std::int64_t EventList::self_cpu_time_total_ns() const noexcept {
  std::int64_t total = 0;
  for (const FunctionEvent& event : events_) {
    add_wrapping(total, event.self_cpu_time_total_ns);
  }
  return total;
}

std::string EventList::table(const TableOptions& options) const {
  return profile::weft_table(profile::table_rows(*this), options, options_);
}

}  // namespace weft
