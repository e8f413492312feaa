// SPDX-License-Identifier: Apache-2.0
#include "nvprof_reference.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "demangle.h"
#include "weft/profile/enforce_unique.h"

namespace weft::profile {
namespace {

constexpr std::int64_t kLaunchKernel = 211;  // cudaLaunchKernel since CUDA 9.2

// The file's nanoseconds, which the reference takes for microseconds.
bool as_microseconds(std::int64_t value, std::int64_t& ns) {
  return !__builtin_mul_overflow(value, std::int64_t{1000}, &ns);
}

Error too_late(std::int64_t value) {
  return {ErrorCode::kUnsupported,
          "timestamp " + std::to_string(value) +
              " cannot be taken for microseconds: too large"};
}

struct Range {
  std::int64_t start;
  std::int64_t end;
  FunctionEvent event;
};

Result<std::vector<Range>> join_ranges(const NvprofTables& tables) {
  std::multimap<std::int64_t, std::int64_t> ends;  // id to timestamp
  for (const NvprofMarker& marker : tables.markers) {
    if (marker.name == 0) ends.emplace(marker.id, marker.timestamp_ns);
  }
  std::vector<Range> ranges;
  EnforceUnique<std::int64_t> unique;
  for (const NvprofMarker& marker : tables.markers) {
    if (marker.name == 0) continue;
    const auto [first, last] = ends.equal_range(marker.id);
    for (auto end = first; end != last; ++end) {
      if (!unique.see(marker.id)) {
        return Error{
            ErrorCode::kCorrupt,
            "marker " + std::to_string(marker.id) + " begins or ends twice"};
      }
      const auto name = tables.strings.find(marker.name);
      if (name == tables.strings.end()) {
        return Error{ErrorCode::kCorrupt,
                     "no string has the number " + std::to_string(marker.name)};
      }
      Range range{marker.timestamp_ns, end->second, {}};
      FunctionEvent& event = range.event;
      event.id = marker.id;
      event.node_id = 0;
      event.name = demangle(name->second, Rules::kReference);
      event.trace_name = event.name;
      if (!as_microseconds(range.start, event.start_ns) ||
          !as_microseconds(range.end, event.end_ns)) {
        return too_late(std::max(range.start, range.end));
      }
      ranges.push_back(std::move(range));
    }
  }
  return ranges;
}

Result<void> add_kernels(
    Range& range, const NvprofTables& tables,
    const std::multimap<std::int64_t, const NvprofKernel*>& kernels) {
  EnforceUnique<std::int64_t> unique;
  for (const NvprofCall& call : tables.runtime_calls) {
    if (range.start >= call.start_ns || call.end_ns >= range.end) continue;
    const auto [first, last] = kernels.equal_range(call.correlation);
    for (auto kernel = first; kernel != last; ++kernel) {
      if (!unique.see(call.row_id)) {
        return Error{ErrorCode::kCorrupt, "call " +
                                              std::to_string(call.row_id) +
                                              " has more than one kernel"};
      }
      if (call.cbid != kLaunchKernel) {
        return Error{ErrorCode::kUnsupported,
                     "call " + std::to_string(call.row_id) +
                         " launched a kernel with id " +
                         std::to_string(call.cbid) + ", expected " +
                         std::to_string(kLaunchKernel)};
      }
      const NvprofKernel& work = *kernel->second;
      std::int64_t elapsed = work.end_ns;
      subtract_wrapping(elapsed, work.start_ns);
      std::int64_t duration_ns = 0;
      if (!as_microseconds(elapsed, duration_ns)) {
        return too_late(work.end_ns);
      }
      range.event.kernels.push_back({std::to_string(work.name),
                                     DeviceType::kCuda, 0, 0, duration_ns,
                                     std::nullopt});
    }
  }
  return {};
}

}  // namespace

Result<NvprofImport> join_nvprof_as_reference(const NvprofTables& tables) {
  Result<std::vector<Range>> ranges = join_ranges(tables);
  if (!ranges.ok()) return ranges.error();
  std::multimap<std::int64_t, const NvprofKernel*> kernels;
  for (const NvprofKernel& kernel : tables.kernels) {
    kernels.emplace(kernel.correlation, &kernel);
  }
  std::vector<FunctionEvent> events;
  for (Range& range : *ranges) {
    const Result<void> added = add_kernels(range, tables, kernels);
    if (!added.ok()) return added.error();
    events.push_back(std::move(range.event));
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const FunctionEvent& a, const FunctionEvent& b) {
                     return a.start_ns < b.start_ns;
                   });
  EventListOptions options;
  options.rules = Rules::kReference;
  options.build_tree = false;
  NvprofImport import;
  import.events = EventList(std::move(events), options);
  import.skipped = tables.skipped;
  return import;
}

}  // namespace weft::profile
