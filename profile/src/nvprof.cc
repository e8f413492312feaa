// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/nvprof.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

#include "demangle.h"
#include "event_tree.h"
#include "nvprof_database.h"
#include "nvprof_reference.h"
#include "range_index.h"

namespace weft {
namespace {

using profile::NvprofCall;
using profile::NvprofKernel;
using profile::NvprofMarker;
using profile::NvprofTables;
using profile::NvprofThread;
using profile::RangeIndex;

class Importer {
 public:
  explicit Importer(NvprofTables tables) : tables_(std::move(tables)) {
    skipped_ = std::move(tables_.skipped);
  }

  NvprofImport import() {
    add_ranges();
    profile::link_parents(events_, Rules::kWeft);
    add_kernels();
    note_counts();
    NvprofImport result;
    result.first_timestamp_ns = move_to_zero();
    std::stable_sort(events_.begin(), events_.end(),
                     [](const FunctionEvent& a, const FunctionEvent& b) {
                       return a.start_ns != b.start_ns ? a.start_ns < b.start_ns
                                                       : a.end_ns > b.end_ns;
                     });
    result.events = EventList(std::move(events_));
    result.skipped = std::move(skipped_);
    return result;
  }

 private:
  // Threads get small numbers in the order of their first range; 0: not known.
  std::int64_t thread_of(bool known, const NvprofThread& thread) {
    if (!known) return 0;
    const auto next = static_cast<std::int64_t>(threads_.size()) + 1;
    return threads_.emplace(thread, next).first->second;
  }

  std::string name_of(std::int64_t id) {
    const auto found = tables_.strings.find(id);
    if (found == tables_.strings.end()) {
      ++names_missing_;
      return fmt::format("string {}", id);
    }
    return profile::demangle(found->second, Rules::kWeft);
  }

  void add_ranges() {
    std::unordered_map<std::int64_t, const NvprofMarker*> open;
    for (const NvprofMarker& marker : tables_.markers) {
      if (marker.instant) {
        ++instants_;
      } else if (marker.name != 0) {
        const auto [place, added] = open.emplace(marker.id, &marker);
        if (!added) {
          ++begins_twice_;
          place->second = &marker;
        }
      } else if (const auto begin = open.find(marker.id); begin != open.end()) {
        add_range(*begin->second, marker);
        open.erase(begin);
      } else {
        ++ends_alone_;
      }
    }
    begins_alone_ = open.size();
  }

  void add_range(const NvprofMarker& begin, const NvprofMarker& end) {
    FunctionEvent& event = events_.emplace_back();
    event.id = begin.id;
    event.name = name_of(begin.name);
    event.trace_name = event.name;
    event.scope = RecordScope::kUserScope;
    event.thread = thread_of(begin.has_thread, begin.thread);
    event.start_ns = begin.timestamp_ns;
    event.end_ns = std::max(begin.timestamp_ns, end.timestamp_ns);
    if (end.timestamp_ns < begin.timestamp_ns) ++ends_before_begins_;
  }

  // The innermost range around the call, on its thread; on any if the file does
  // not know threads.
  std::size_t range_around(const RangeIndex& ranges,
                           const NvprofCall& call) const {
    std::int64_t thread = 0;
    if (call.has_thread && !ranges.has_thread(0)) {
      const auto known = threads_.find(call.thread);
      if (known == threads_.end()) return kNoEvent;
      thread = known->second;
    }
    return ranges.innermost(thread, call.start_ns, call.end_ns);
  }

  void add_kernels() {
    std::unordered_map<std::int64_t, const NvprofCall*> calls;
    // A runtime call and the driver call below it have one number.
    for (const auto* table : {&tables_.runtime_calls, &tables_.driver_calls}) {
      for (const NvprofCall& call : *table) {
        calls.emplace(call.correlation, &call);
      }
    }
    const RangeIndex ranges(events_);
    std::vector<FunctionEvent> work;
    for (const NvprofKernel& kernel : tables_.kernels) {
      FunctionEvent event;
      event.id = kernel.correlation;
      event.name = name_of(kernel.name);
      event.trace_name = event.name;
      event.device = DeviceType::kCuda;
      event.device_index = static_cast<int>(kernel.device);
      event.stream = kernel.stream;
      event.start_ns = kernel.start_ns;
      event.end_ns = std::max(kernel.start_ns, kernel.end_ns);
      if (kernel.end_ns < kernel.start_ns) ++ends_before_begins_;
      const auto call = calls.find(kernel.correlation);
      if (call == calls.end()) {
        ++kernels_without_call_;
      } else if (const std::size_t range = range_around(ranges, *call->second);
                 range != kNoEvent) {
        events_[range].kernels.push_back({event.name, event.device,
                                          event.device_index, event.stream,
                                          event.duration_ns(), event.start_ns});
      }
      work.push_back(std::move(event));
    }
    std::move(work.begin(), work.end(), std::back_inserter(events_));
  }

  std::int64_t move_to_zero() {
    if (events_.empty()) return 0;
    std::int64_t first = events_.front().start_ns;
    for (const FunctionEvent& event : events_) {
      first = std::min(first, event.start_ns);
    }
    for (FunctionEvent& event : events_) {
      subtract_wrapping(event.start_ns, first);
      subtract_wrapping(event.end_ns, first);
      for (Kernel& kernel : event.kernels)
        subtract_wrapping(*kernel.start_ns, first);
    }
    return first;
  }

  void note(std::uint64_t count, const char* what) {
    if (count > 0) skipped_.push_back(fmt::format("{} {}", count, what));
  }

  void note_counts() {
    note(begins_alone_, "ranges without an end");
    note(ends_alone_, "range ends without a begin");
    note(begins_twice_, "ranges that began again before they ended");
    note(instants_, "instant markers");
    note(ends_before_begins_, "intervals that end before they begin, cut to 0");
    note(names_missing_, "names whose string is missing");
    note(kernels_without_call_, "kernels that no call in the file launched");
  }

  NvprofTables tables_;
  std::vector<std::string> skipped_;
  std::vector<FunctionEvent> events_;
  std::map<NvprofThread, std::int64_t> threads_;
  std::uint64_t begins_alone_ = 0;
  std::uint64_t ends_alone_ = 0;
  std::uint64_t begins_twice_ = 0;
  std::uint64_t instants_ = 0;
  std::uint64_t ends_before_begins_ = 0;
  std::uint64_t names_missing_ = 0;
  std::uint64_t kernels_without_call_ = 0;
};

}  // namespace

Result<NvprofImport> parse_nvprof_trace(const std::string& path,
                                        const NvprofOptions& options) {
  Result<NvprofTables> tables =
      profile::read_nvprof_tables(path, options.max_rows);
  if (!tables.ok()) return tables.error();
  if (options.rules == Rules::kReference) {
    return profile::join_nvprof_as_reference(*tables);
  }
  return Importer(std::move(*tables)).import();
}

Result<EventList> load_nvprof(const std::string& path,
                              const NvprofOptions& options) {
  Result<NvprofImport> import = parse_nvprof_trace(path, options);
  if (!import.ok()) return import.error();
  return std::move(import->events);
}

}  // namespace weft
