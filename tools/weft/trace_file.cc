// SPDX-License-Identifier: Apache-2.0
#include "trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "quantity_text.h"
#include "terminal.h"

namespace weft::tools {
namespace {

using exporters::TraceInfo;
using exporters::TraceReader;

std::vector<LossSum> sorted(std::vector<LossSum> sums) {
  std::erase_if(sums, [](const LossSum& s) { return s.records == 0; });
  std::stable_sort(sums.begin(), sums.end(),
                   [](const LossSum& a, const LossSum& b) {
                     return a.records > b.records;
                   });
  return sums;
}

}  // namespace

std::optional<TraceReader> open_trace(const std::string& path) {
  auto reader = TraceReader::open(path);
  if (reader) return std::move(reader).value();
  refuse(path, reader.error());
  return std::nullopt;
}

ExitCode refuse(const std::string& path, const Error& error) {
  complain(error.message.starts_with(path)
               ? error.message
               : fmt::format("{}: {}", path, error.message));
  return ExitCode::kUnusable;
}

void remark(const std::string& path, const TraceInfo& info) {
  if (info.complete && info.problems.empty()) return;
  complain(fmt::format(
      "{}: note: {}; this is what its whole blocks hold", path,
      info.complete ? plural(info.problems.size(), "problem") +
                          ", see `weft check`"
                    : std::string("the file was not closed")));
}

std::string problem_text(const std::string& path,
                         const exporters::TraceProblem& problem) {
  return fmt::format("{}: at byte {}: {}", path, problem.offset, problem.what);
}

bool may_write(const std::string& from, const std::string& to,
               Overwrite overwrite) {
  std::error_code error;
  if (!std::filesystem::exists(to, error)) return true;
  if (std::filesystem::equivalent(from, to, error)) {
    complain(fmt::format("{}: is the file to read from", to));
    return false;
  }
  if (std::filesystem::is_directory(to, error)) {
    complain(fmt::format("{}: is a directory", to));
    return false;
  }
  if (overwrite == Overwrite::kAllow ||
      std::filesystem::is_character_file(to, error))
    return true;
  complain(fmt::format("{}: exists; --force replaces it", to));
  return false;
}

std::string drop_reason_text(DropReason reason) {
  switch (reason) {
    case DropReason::kRingFull: return "ring full";
    case DropReason::kNoRing: return "no memory for a ring";
    case DropReason::kSignalHandler: return "ring of signal handlers full";
    case DropReason::kSlowSink: return "writer too slow";
    case DropReason::kLimit: return "limit reached";
    case DropReason::kLatePublish: return "published too late";
    case DropReason::kForeignEnd: return "no room for an end on another thread";
    case DropReason::kNone: break;
  }
  return fmt::format("reason {}", static_cast<unsigned>(reason));
}

std::vector<LossSum> losses_by_reason(const TraceInfo& info) {
  std::map<DropReason, std::uint64_t> sums;
  for (const Loss& loss : info.losses) sums[loss.reason] += loss.records;
  std::vector<LossSum> out;
  for (const auto& [reason, records] : sums)
    out.push_back({reason, ThreadIndex::kNone, records});
  return sorted(std::move(out));
}

std::vector<LossSum> losses_by_thread(const TraceInfo& info) {
  std::map<std::pair<ThreadIndex, DropReason>, std::uint64_t> sums;
  for (const Loss& loss : info.losses)
    sums[{loss.thread, loss.reason}] += loss.records;
  std::vector<LossSum> out;
  for (const auto& [key, records] : sums)
    out.push_back({key.second, key.first, records});
  return sorted(std::move(out));
}

std::uint64_t lost_records(const TraceInfo& info) {
  std::uint64_t sum = 0;
  for (const Loss& loss : info.losses) sum += loss.records;
  return sum;
}

const ThreadInfo* find_thread(const TraceInfo& info, ThreadIndex thread) {
  const auto found = std::lower_bound(
      info.threads.begin(), info.threads.end(), thread,
      [](const ThreadInfo& t, ThreadIndex i) { return t.index < i; });
  return found == info.threads.end() || found->index != thread ? nullptr
                                                               : &*found;
}

std::string thread_text(const TraceInfo& info, ThreadIndex thread) {
  const auto index = static_cast<std::uint32_t>(thread);
  const ThreadInfo* known = find_thread(info, thread);
  if (known == nullptr) return fmt::format("thread {}", index);
  const std::string name = printable(info.text(known->name));
  if (name.empty()) return fmt::format("thread {} (tid {})", index, known->tid);
  return fmt::format("{} (thread {}, tid {})", name, index, known->tid);
}

}  // namespace weft::tools
