// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "quantity_text.h"
#include "text_table.h"
#include "trace_facts.h"
#include "trace_file.h"

namespace weft::tools {
namespace {

using exporters::TraceInfo;

constexpr std::size_t kLabelWidth = 12;
constexpr std::size_t kMostThreads = 50;
constexpr std::size_t kMostProblems = 20;

// "label       text", nothing if there is no text.
std::string field(std::string_view label, std::string_view text) {
  if (text.empty()) return {};
  return fmt::format("{:<{}}{}\n", label, kLabelWidth, printable(text));
}

std::string process_text(const TraceInfo& info) {
  const ProcessInfo& process = info.process;
  return field("program", process.executable) +
         field("command", process.command_line) +
         field("pid", process.pid == 0 ? "" : fmt::format("{}", process.pid)) +
         field("build id", process.build_id) +
         field("host", process.cpus == 0
                           ? process.host
                           : fmt::format("{}, {}, {}", process.host,
                                         plural(process.cpus, "CPU"),
                                         process.kernel)) +
         field("weft", process.weft_version);
}

std::string clock_text(const TraceInfo& info, const ClockLine& line) {
  std::string text = info.process.clock;
  if (!info.process.clock_reason.empty())
    text += fmt::format(" ({})", info.process.clock_reason);
  std::string out = field("clock", text);
  text = plural(info.anchors.size(), "anchor");
  if (const std::int64_t bound = line.max_bound_ns();
      bound != ClockLine::kNoBound)
    text += fmt::format(", times are right to ±{}",
                        duration_text(static_cast<std::uint64_t>(bound)));
  else
    text += ", error bound unknown";
  out += field("", text);
  for (const ClockCorrection& correction : line.corrections())
    out += field("", correction.text);
  return out;
}

std::string times_text(const TraceFacts& facts, const ClockLine& line) {
  const RecordingTimes times = recording_times(facts, line);
  if (!times.is_known) return {};
  const TraceInfo& info = facts.info();
  std::string ended = info.complete
                          ? fmt::format("ended by {}", info.end.reason)
                          : std::string("cut: up to the last record");
  return field("began", date_text(times.begin_unix_ns)) +
         field("lasted", fmt::format("{} ({} ns), {}",
                                     duration_text(times.duration_ns()),
                                     count_text(times.duration_ns()), ended));
}

std::string size_text(const TraceInfo& info) {
  std::string size = fmt::format(
      "{} in {}, format {}.{}, {}", bytes_text(info.file_bytes),
      plural(info.blocks, "block"), info.format_version >> 16,
      info.format_version & 0xffff,
      info.complete ? "complete" : "CUT: the file was not closed");
  std::string out = field("file", size);
  out += field("records", fmt::format("{} in {}", count_text(info.records),
                                      plural(info.slots, "slot")));
  const auto less_one = [](std::size_t size_with_none) {
    return size_with_none == 0 ? 0 : size_with_none - 1;
  };
  out += field("names",
               fmt::format("{}, {}", plural(less_one(info.strings.size()),
                                            "string"),
                           plural(less_one(info.sites.size()), "site")));
  if (info.subscription.filtered)
    out += field("filter", info.subscription.filter);
  return out;
}

std::string kinds_text(const TraceFacts& facts, std::size_t width) {
  TextTable table({{"kind", Align::kLeft}, {"records"}});
  for (unsigned i = 0; i < 128; ++i) {
    const auto kind = static_cast<RecordKind>(i);
    if (facts.of_kind(kind) == 0) continue;
    const std::string name = kind_text(kind);
    table.add_row({name.empty() ? fmt::format("kind {}", i) : name,
                   count_text(facts.of_kind(kind))});
  }
  return table.empty() ? std::string() : "\n" + table.text(width);
}

std::string threads_text(const TraceFacts& facts, std::size_t width) {
  const TraceInfo& info = facts.info();
  if (info.threads.empty()) return {};
  std::vector<ThreadInfo> threads = info.threads;
  std::stable_sort(threads.begin(), threads.end(),
                   [&](const ThreadInfo& a, const ThreadInfo& b) {
                     return facts.of_thread(a.index) > facts.of_thread(b.index);
                   });
  TextTable table({{"thread"}, {"tid"}, {"name", Align::kLeft}, {"records"}});
  for (std::size_t i = 0; i < std::min(threads.size(), kMostThreads); ++i)
    table.add_row(
        {fmt::format("{}", static_cast<std::uint32_t>(threads[i].index)),
         fmt::format("{}", threads[i].tid),
         printable(info.text(threads[i].name)),
         count_text(facts.of_thread(threads[i].index))});
  std::string out = "\n" + table.text(width);
  if (threads.size() > kMostThreads)
    out += fmt::format("... and {} more threads\n",
                       count_text(threads.size() - kMostThreads));
  return out;
}

std::string categories_text(const TraceFacts& facts, std::size_t width) {
  const TraceInfo& info = facts.info();
  std::set<StringId> categories;
  for (const SiteInfo& site : info.sites)
    if (site.number != SiteId::kNone) categories.insert(site.category);
  if (categories.empty()) return {};
  TextTable table({{"category", Align::kLeft}, {"begins and points"}});
  for (const StringId category : categories) {
    const std::string name = printable(info.text(category));
    table.add_row({name.empty() ? "(none)" : name,
                   count_text(facts.of_category(category))});
  }
  return "\n" + table.text(width);
}

std::string losses_text(const TraceInfo& info, std::size_t width) {
  if (lost_records(info) == 0) return {};
  TextTable table({{"lost", Align::kLeft}, {"records"}});
  for (const LossSum& sum : losses_by_reason(info))
    table.add_row({drop_reason_text(sum.reason), count_text(sum.records)});
  std::string out = "\n" + table.text(width);
  TextTable threads({{"lost by", Align::kLeft},
                     {"reason", Align::kLeft},
                     {"records"}});
  const auto sums = losses_by_thread(info);
  for (std::size_t i = 0; i < std::min(sums.size(), kMostThreads); ++i)
    threads.add_row({thread_text(info, sums[i].thread),
                     drop_reason_text(sums[i].reason),
                     count_text(sums[i].records)});
  out += "\n" + threads.text(width);
  if (sums.size() > kMostThreads)
    out += fmt::format("... and {} more\n",
                       count_text(sums.size() - kMostThreads));
  return out;
}

std::string metadata_text(const TraceInfo& info) {
  std::string out;
  for (const auto& [key, value] : info.metadata)
    out += fmt::format("  {} = {}\n", printable(key), printable(value));
  return out.empty() ? out : "\nmetadata\n" + out;
}

std::string problems_text(const TraceInfo& info) {
  if (info.problems.empty()) return {};
  std::string out = "\nproblems\n";
  for (std::size_t i = 0; i < std::min(info.problems.size(), kMostProblems);
       ++i)
    out += fmt::format("  at byte {}: {}\n", info.problems[i].offset,
                       printable(info.problems[i].what));
  if (info.problems.size() > kMostProblems)
    out += fmt::format("  ... and {} more; `weft check` lists all\n",
                       count_text(info.problems.size() - kMostProblems));
  return out;
}

}  // namespace

std::string facts_text(const std::string& path, const TraceFacts& facts,
                       const ClockLine& line, std::size_t width) {
  const TraceInfo& info = facts.info();
  return printable(path) + "\n\n" + process_text(info) +
         times_text(facts, line) + clock_text(info, line) + size_text(info) +
         losses_text(info, width) + kinds_text(facts, width) +
         threads_text(facts, width) + categories_text(facts, width) +
         metadata_text(info) + problems_text(info);
}

}  // namespace weft::tools
