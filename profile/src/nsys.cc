// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/nsys.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "database_counts.h"
#include "demangle.h"
#include "event_tree.h"
#include "nsys_database.h"
#include "sqlite_tables.h"

namespace weft {
namespace {

using profile::nsys_process;
using profile::SqliteRow;
using profile::SqliteTables;

// What no nvprof file has, and every export of Nsight Systems.
bool has_nsys_tables(const SqliteTables& tables) {
  return tables.has("StringIds") ||
         tables.has("TARGET_INFO_SESSION_START_TIME") ||
         tables.has("EXPORT_META_DATA") || tables.has("META_DATA_EXPORT");
}

// A process and a number that counts within it.
using Correlation = std::pair<std::int64_t, std::int64_t>;

class Importer {
 public:
  Importer(SqliteTables& tables, std::vector<std::string>& skipped)
      : tables_(tables), skipped_(skipped) {}

  Result<NsysImport> import() {
    for (const auto step : {&Importer::read_strings, &Importer::read_start,
                            &Importer::read_thread_names,
                            &Importer::read_ranges, &Importer::read_calls,
                            &Importer::read_work}) {
      const Result<void> done = (this->*step)();
      if (!done.ok()) return done.error();
    }
    profile::link_parents(events_, Rules::kWeft);
    own_work();
    note_counts();
    NsysImport result;
    result.capture_start_unix_ns = capture_start_unix_ns_;
    result.first_timestamp_ns = move_to_zero();
    std::stable_sort(events_.begin(), events_.end(),
                     [](const FunctionEvent& a, const FunctionEvent& b) {
                       return a.start_ns != b.start_ns ? a.start_ns < b.start_ns
                                                       : a.end_ns > b.end_ns;
                     });
    EventListOptions options;
    options.remove_duplicates = false;  // a row for every event of the file
    result.events = EventList(std::move(events_), options);
    result.threads = std::move(threads_);
    return result;
  }

 private:
  struct Work {
    FunctionEvent event;
    Correlation launch;
  };

  Result<void> read_strings() {
    return tables_.read(
        "StringIds", {{"id", true}, {"value", true}},
        [&](const SqliteRow& row) {
          strings_.insert_or_assign(row.integer(0), std::string(row.bytes(1)));
        });
  }

  Result<void> read_start() {
    return tables_.read_if_there(
        "TARGET_INFO_SESSION_START_TIME", {{"utcEpochNs", true}},
        [&](const SqliteRow& row) { capture_start_unix_ns_ = row.integer(0); });
  }

  Result<void> read_thread_names() {
    return tables_.read_if_there(
        "ThreadNames", {{"nameId", true}, {"globalTid", true}},
        [&](const SqliteRow& row) {
          thread_names_.emplace(row.integer(1), row.integer(0));
        });
  }

  std::string text(std::int64_t id) {
    const auto found = strings_.find(id);
    if (found == strings_.end()) {
      ++names_missing_;
      return fmt::format("string {}", id);
    }
    return found->second;
  }

  // Threads get small numbers in the order of their first row.
  std::int64_t thread_of(std::int64_t global_tid) {
    const auto next = static_cast<std::int64_t>(threads_.size()) + 1;
    const auto [place, added] = thread_numbers_.emplace(global_tid, next);
    if (added) {
      NsysThread thread;
      thread.pid = (global_tid >> profile::kNsysThreadBits) &
                   profile::kNsysThreadMask;
      thread.tid = global_tid & profile::kNsysThreadMask;
      if (const auto name = thread_names_.find(global_tid);
          name != thread_names_.end()) {
        thread.name = text(name->second);
      }
      threads_.push_back(std::move(thread));
    }
    return place->second;
  }

  FunctionEvent row_of(std::string name, std::int64_t start_ns,
                       std::int64_t end_ns) {
    FunctionEvent event;
    event.id = ++last_id_;
    event.trace_name = name;
    event.name = std::move(name);
    event.start_ns = start_ns;
    event.end_ns = std::max(start_ns, end_ns);
    if (end_ns < start_ns) ++ends_before_begins_;
    return event;
  }

  Result<void> read_ranges() {
    return tables_.read_if_there(
        "NVTX_EVENTS",
        {{"start", true},
         {"end", true},
         {"eventType", true},
         {"text", false},
         {"textId", false},
         {"globalTid", false}},
        [&](const SqliteRow& row) {
          const std::int64_t type = row.integer(2);
          if (type == profile::kNsysMark) {
            ++instants_;
            return;
          }
          if (type != profile::kNsysPushPop && type != profile::kNsysStartEnd) {
            return;
          }
          if (!row.has(1)) {
            ++ranges_open_;
            return;
          }
          FunctionEvent event =
              row_of(row.has(3) ? std::string(row.bytes(3))
                                : text(row.integer(4)),
                     row.integer(0), row.integer(1));
          event.scope = RecordScope::kUserScope;
          event.thread = thread_of(row.integer(5));
          event.is_async = type == profile::kNsysStartEnd;
          events_.push_back(std::move(event));
        });
  }

  Result<void> read_calls() {
    return tables_.read_if_there(
        "CUPTI_ACTIVITY_KIND_RUNTIME",
        {{"start", true},
         {"end", true},
         {"nameId", true},
         {"correlationId", false},
         {"globalTid", false}},
        [&](const SqliteRow& row) {
          const std::int64_t thread = row.integer(4);
          FunctionEvent event =
              row_of(text(row.integer(2)), row.integer(0), row.integer(1));
          event.thread = thread_of(thread);
          const Correlation launch{nsys_process(thread), row.integer(3)};
          const auto [known, added] = calls_.emplace(launch, events_.size());
          if (added || !row.has(3)) {
            events_.push_back(std::move(event));
            return;
          }
          // The driver's row lies inside the runtime's: keep the outer one.
          ++calls_told_twice_;
          FunctionEvent& other = events_[known->second];
          if (event.start_ns <= other.start_ns && event.end_ns >= other.end_ns)
            other = std::move(event);
        });
  }

  void add_work(const SqliteRow& row, std::string name) {
    Work& work = work_.emplace_back();
    work.event = row_of(std::move(name), row.integer(0), row.integer(1));
    work.event.device = DeviceType::kCuda;
    constexpr std::int64_t kMostDevices = 1 << 16;
    const std::int64_t device = row.integer(2);
    if (device >= 0 && device < kMostDevices) {
      work.event.device_index = static_cast<int>(device);
    }
    work.event.stream = row.integer(3);
    work.launch = {nsys_process(row.integer(5)), row.integer(4)};
  }

  Result<void> read_work() {
    const auto columns = [](const char* name) {
      return std::vector<profile::SqliteColumn>{
          {"start", true},          {"end", true},        {"deviceId", false},
          {"streamId", false},      {"correlationId", false},
          {"globalPid", false},     {name, false}};
    };
    Result<void> done = tables_.read_if_there(
        "CUPTI_ACTIVITY_KIND_KERNEL", columns("demangledName"),
        [&](const SqliteRow& row) {
          add_work(row,
                   profile::demangle(text(row.integer(6)), Rules::kWeft));
        });
    if (!done.ok()) return done;
    done = tables_.read_if_there(
        "CUPTI_ACTIVITY_KIND_MEMCPY", columns("copyKind"),
        [&](const SqliteRow& row) {
          add_work(row,
                   "Memcpy " + profile::copy_kind_text(row.integer(6)));
        });
    if (!done.ok()) return done;
    return tables_.read_if_there(
        "CUPTI_ACTIVITY_KIND_MEMSET", columns("bytes"),
        [&](const SqliteRow& row) { add_work(row, "Memset"); });
  }

  // Device work belongs to the innermost range around its call, or to the call.
  void own_work() {
    for (Work& work : work_) {
      const FunctionEvent& event = work.event;
      const auto call = calls_.find(work.launch);
      if (call == calls_.end()) {
        ++work_without_call_;
      } else {
        const std::size_t parent = events_[call->second].parent;
        const std::size_t owner = parent != kNoEvent ? parent : call->second;
        events_[owner].kernels.push_back({event.name, event.device,
                                          event.device_index, event.stream,
                                          event.duration_ns(),
                                          event.start_ns});
      }
    }
    for (Work& work : work_) events_.push_back(std::move(work.event));
  }

  std::int64_t move_to_zero() {
    if (events_.empty()) return 0;
    const auto first =
        std::min_element(events_.begin(), events_.end(),
                         [](const FunctionEvent& a, const FunctionEvent& b) {
                           return a.start_ns < b.start_ns;
                         });
    const std::int64_t first_ns = first->start_ns;
    for (FunctionEvent& event : events_) {
      subtract_wrapping(event.start_ns, first_ns);
      subtract_wrapping(event.end_ns, first_ns);
      for (Kernel& kernel : event.kernels)
        subtract_wrapping(*kernel.start_ns, first_ns);
    }
    return first_ns;
  }

  void note(std::uint64_t count, const char* what) {
    if (count > 0) skipped_.push_back(fmt::format("{} {}", count, what));
  }

  void note_counts() {
    note(instants_, "instant marks");
    note(ranges_open_, "ranges without an end");
    note(calls_told_twice_, "calls that another row tells of already");
    note(ends_before_begins_, "intervals that end before they begin, cut to 0");
    note(names_missing_, "names whose string is missing");
    note(work_without_call_, "pieces of device work that no call launched");
  }

  SqliteTables& tables_;
  std::vector<std::string>& skipped_;
  std::unordered_map<std::int64_t, std::string> strings_;
  std::int64_t capture_start_unix_ns_ = 0;
  std::unordered_map<std::int64_t, std::int64_t> thread_names_;
  std::unordered_map<std::int64_t, std::int64_t> thread_numbers_;
  std::vector<NsysThread> threads_;
  std::vector<FunctionEvent> events_;
  std::vector<Work> work_;
  std::map<Correlation, std::size_t> calls_;
  std::int64_t last_id_ = 0;
  std::uint64_t instants_ = 0;
  std::uint64_t ranges_open_ = 0;
  std::uint64_t calls_told_twice_ = 0;
  std::uint64_t ends_before_begins_ = 0;
  std::uint64_t names_missing_ = 0;
  std::uint64_t work_without_call_ = 0;
};

constexpr const char* kWhat = "an Nsight Systems database";

}  // namespace

Result<bool> is_nsys_file(const std::string& path) {
  std::vector<std::string> skipped;
  const Result<SqliteTables> tables =
      SqliteTables::open(path, kWhat, 0, skipped);
  if (!tables.ok()) return tables.error();
  return has_nsys_tables(*tables);
}

Result<NsysImport> import_nsys(const std::string& path,
                               const NsysOptions& options) {
  std::vector<std::string> skipped;
  Result<SqliteTables> tables =
      SqliteTables::open(path, kWhat, options.max_rows, skipped);
  if (!tables.ok()) return tables.error();
  if (!has_nsys_tables(*tables) && !tables->is_empty_file()) {
    return Error{ErrorCode::kUnsupported,
                 path + " is not " + kWhat +
                     ": it has no table StringIds, EXPORT_META_DATA or "
                     "TARGET_INFO_SESSION_START_TIME"};
  }
  Result<NsysImport> import = Importer(*tables, skipped).import();
  if (!import.ok()) {
    return Error{import.error().code, path + ": " + import.error().message};
  }
  import->skipped = std::move(skipped);
  return import;
}

}  // namespace weft
