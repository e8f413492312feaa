// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "foreign_facts.h"
#include "quantity_text.h"

namespace weft::tools {
namespace {

constexpr std::size_t kLabelWidth = 14;

std::string field(std::string_view label, std::string_view text) {
  return fmt::format("{:<{}}{}\n", label, kLabelWidth, printable(text));
}

std::string time_text(std::int64_t ns) {
  return ns < 0 ? microseconds_text(ns) + "µs"
                : duration_text(static_cast<std::uint64_t>(ns));
}

std::string work_text(std::uint64_t count, std::int64_t ns) {
  return fmt::format("{}, {}", count_text(count), time_text(ns));
}

std::string skipped_text(const std::vector<std::string>& skipped) {
  std::string out;
  for (const std::string& line : skipped)
    out += fmt::format("  {}\n", printable(line));
  return out.empty() ? out : "\nnot read\n" + out;
}

std::string span_text(std::int64_t first_ns, std::int64_t last_ns) {
  const std::uint64_t length = static_cast<std::uint64_t>(last_ns) -
                               static_cast<std::uint64_t>(first_ns);
  return fmt::format("{}, from {} us", duration_text(length),
                     microseconds_text(first_ns));
}

std::string pytorch_text(const PytorchFacts& facts) {
  std::string out = "\nPyTorch\n";
  out += field("operators", count_text(facts.operators));
  out += field("calls", work_text(facts.calls.count, facts.calls.total_ns));
  out += field("kernels", work_text(facts.kernels.count, facts.kernels.total_ns));
  out += field("copies", work_text(facts.copies.count, facts.copies.total_ns));
  for (const auto& [device, ns] : facts.busy_ns)
    out += field("device " + device, "busy for " + time_text(ns));
  if (!facts.device_name.empty()) out += field("is a", facts.device_name);
  return out;
}

}  // namespace

std::string chrome_facts_text(const std::string& path,
                              const FileDigest& digest,
                              const ChromeFacts& facts) {
  std::string out = printable(path) + "\n\n";
  out += field("file", fmt::format("Chrome JSON, {} ({} of JSON)",
                                   bytes_text(digest.bytes),
                                   bytes_text(facts.inflated_bytes)));
  if (!facts.is_trace) return out + field("", "no list of trace events");
  out += field("events", count_text(facts.event_objects));
  for (const auto& [phase, count] : facts.by_phase)
    out += field("  " + phase, count_text(count));
  out += field("slices",
               work_text(facts.complete_events, facts.total_complete_ns));
  if (facts.first_ns)
    out += field("lasted", span_text(*facts.first_ns, *facts.last_ns));
  out += field("threads", fmt::format("{} in {} {}", count_text(facts.threads),
                                      count_text(facts.pids),
                                      facts.pids == 1 ? "process"
                                                      : "processes"));
  for (const auto& [name, count] : facts.top_names)
    out += field("", fmt::format("{} x {}", count, shortened(name, 70)));
  if (facts.pytorch) out += pytorch_text(*facts.pytorch);
  return out + skipped_text(facts.skipped);
}

std::string database_facts_text(const std::string& path,
                                const FileDigest& digest,
                                const DatabaseFacts& facts) {
  const bool nvprof = facts.kind == DatabaseKind::kNvprof;
  std::string out = printable(path) + "\n\n";
  out += field("file", fmt::format("{}, {} in {}",
                                   nvprof ? "nvprof" : "Nsight Systems",
                                   bytes_text(digest.bytes),
                                   plural(facts.tables, "table")));
  if (facts.first_ns)
    out += field("lasted", span_text(*facts.first_ns, *facts.last_ns));
  for (const std::string& device : facts.devices)
    out += field("device", device);
  out += field("kernels",
               work_text(facts.kernels.count, facts.kernels.time_ns));
  for (const auto& [kind, work] : facts.copies)
    out += field("copies " + kind,
                 work_text(work.count, work.time_ns) + ", " +
                     bytes_text(static_cast<std::uint64_t>(work.bytes)));
  out += field("calls", work_text(facts.runtime_calls.count,
                                  facts.runtime_calls.time_ns));
  if (nvprof) {
    out += field("ranges",
                 work_text(facts.markers.ranges, facts.markers.total_ns));
  } else {
    out += field("ranges", work_text(facts.push_pop_ranges.count,
                                     facts.push_pop_ranges.time_ns));
  }
  return out + skipped_text(facts.skipped);
}

}  // namespace weft::tools
