// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_PROFILER_H_
#define WEFT_PROFILE_PROFILER_H_

// A profiler session: what the program's calls did between start and stop.
//
//   weft::Profiler profiler({.record_shapes = true});
//   {
//     weft::ProfilerScope recording(profiler);
//     serve(request);                         // results also when it throws
//   }
//   std::cout << profiler.str();              // averages by name
//   profiler.export_chrome_trace("request.json.gz");
//
// It is a subscription of the same records that files get: it needs no file,
// runs beside a trace and beside other sessions, and disturbs none.
//
//   idle --start--> recording --stop--> finished --start--> recording ...
//                    |      ^             (results stay valid
//                  pause  resume           for who holds them)
//                    v      |
//                    paused
//
// One thread at a time may use a Profiler, but it need not be the same thread.
// One that was moved from may only be assigned to or destroyed.

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/internal/api.h"
#include "weft/profile/device_statistics.h"
#include "weft/profile/event_list.h"
#include "weft/profile/key_averages.h"
#include "weft/profile/memory_record.h"
#include "weft/profile/memory_timeline.h"
#include "weft/profile/profiler_options.h"
#include "weft/profile/raw_event.h"
#include "weft/record.h"
#include "weft/result.h"

namespace weft {

// Of one session. Records are what threads wrote; rows are made of them.
struct ProfilerStatistics {
  std::int64_t window_ns = 0;      // recorded time, without pauses
  std::uint64_t events = 0;        // rows
  std::int64_t prepare_ns = 0;     // of the calls
  std::int64_t start_ns = 0;
  std::int64_t stop_ns = 0;
  std::int64_t parse_ns = 0;       // records to rows
  std::int64_t build_tree_ns = 0;
  std::uint64_t records_kept = 0;
  std::uint64_t records_outside_coverage = 0;  // other threads', left out
  std::uint64_t records_dropped = 0;     // for any reason; by reason below
  std::uint64_t dropped[kDropReasons] = {};
  std::size_t host_bytes = 0;            // of max_host_bytes
  std::uint64_t unfinished = 0;          // ranges that outlast the session
  std::uint64_t started_before = 0;      // ends of ranges that began before it
  std::uint64_t incomplete_inputs = 0;   // calls with more than a record holds
  EventListStatistics list;
  RawEventStatistics device;
  DeviceStatistics devices;
};

// Immutable, and independent of the Profiler it comes from.
class WEFT_API ProfilerResult {
 public:
  const EventList& events() const noexcept { return events_; }
  const ProfilerStatistics& statistics() const noexcept { return statistics_; }
  // Allocations, releases and failures in the order of time, with profile_memory.
  const std::vector<MemoryRecord>& memory_records() const noexcept {
    return memory_records_;
  }
  // Keys, and values as JSON text, as trace files have them.
  const std::vector<std::pair<std::string, std::string>>& metadata()
      const noexcept {
    return events_.options().metadata;
  }

 private:
  friend class ProfilerSession;
  EventList events_;
  ProfilerStatistics statistics_;
  std::vector<MemoryRecord> memory_records_;
};

class WEFT_API Profiler {
 public:
  // What is wrong with the options is told by start(), or at once by create().
  explicit Profiler(ProfilerOptions options = {});
  [[nodiscard]] static Result<Profiler> create(ProfilerOptions options);
  Profiler(Profiler&&) noexcept;
  Profiler& operator=(Profiler&&) noexcept;
  ~Profiler();  // stops

  // Gets everything ready that start() would take time for. Not needed.
  // Errors: as of start(), but for kBusy. Cold.
  Result<void> prepare();

  // Errors: kBusy         it is running; or the coverage has a session already,
  //                       which the message names: two of one thread, or two of
  //                       all threads, exclude each other
  //         kInvalidArgument, kUnavailable, kUnsupported  by the options
  //         kLimit        the thread gets no ring
  //         kOutOfMemory, kThreadFailed
  // After an error nothing has changed. Cold.
  Result<void> start();

  // On any thread. Results can be had from then on.
  // Errors: kNotRunning, kTimeout. Cold: waits for devices, then the drainer.
  Result<void> stop();

  // Stops collecting for a while; ranges open then are marked unfinished. A
  // device is waited for, outside of what is recorded.
  // Errors: kNotRunning, kBusy (is paused, or is not). Cold.
  Result<void> pause();
  Result<void> resume();

  // The same for some of the session's activities. While the host is paused and
  // a device is not, or the other way round, nothing tells which call device
  // work belongs to; warnings() says so.
  // Errors: also kInvalidArgument  the session does not record one of them.
  Result<void> pause(const std::set<Activity>& activities);
  Result<void> resume(const std::set<Activity>& activities);

  bool running() const noexcept;

  // The options that were started, after validate(); and what it left out.
  const ProfilerOptions& config() const noexcept;
  const std::vector<std::string>& warnings() const noexcept;

  // A member of trace files' top level. Text is escaped, JSON is checked; the
  // last value of a key wins. Before or during a session.
  // Errors: kInvalidArgument  the key is one that traces have anyway, or the
  //                           JSON is none
  Result<void> add_metadata(std::string_view key, std::string_view text);
  Result<void> add_metadata_json(std::string_view key, std::string_view json);

  // Made once, when first asked for; the same object from then on.
  // Errors: kNotFinished  before stop()
  //         kUnsupported  with trace_only
  [[nodiscard]] Result<std::shared_ptr<const ProfilerResult>> result() const;

  // Of result(); errors as there, and by name. An inert profiler answers with
  // what an empty session has.
  [[nodiscard]] Result<EventList> events() const;
  [[nodiscard]] Result<KeyAverages> key_averages(
      const KeyOptions& options = {}) const;
  [[nodiscard]] Result<FunctionEventAvg> total_average() const;
  [[nodiscard]] Result<std::int64_t> self_cpu_time_total_ns() const;
  // A row an event.
  [[nodiscard]] Result<std::string> table(const TableOptions& options = {}) const;
  Result<void> export_chrome_trace(const std::string& path) const;
  // Errors: also kNotRecorded without with_stack.
  Result<void> export_stacks(const std::string& path,
                             const StackOptions& options = {}) const;
  // Memory in use over time, in the form that the name asks for and of the
  // device that the session used first: see MemoryTimeline.
  // Errors: also kNotRecorded without profile_memory; kIo.
  Result<void> export_memory_timeline(
      const std::string& path,
      std::optional<MemoryDevice> device = std::nullopt,
      const MemoryTimeline::CategoryOf& category_of = {}) const;
  [[nodiscard]] Result<ProfilerStatistics> statistics() const;

  // For people: averages by self time; before stop() a placeholder.
  std::string str() const;
  // For debuggers: the rows, a line each.
  std::string repr() const;

 private:
  std::shared_ptr<class ProfilerSession> session_;
};

// Starts a profiler and stops it with its block, whatever leaves the block.
class WEFT_API ProfilerScope {
 public:
  explicit ProfilerScope(Profiler& profiler)
      : profiler_(profiler), started_(profiler.start()) {}
  ProfilerScope(const ProfilerScope&) = delete;
  ProfilerScope& operator=(const ProfilerScope&) = delete;
  ~ProfilerScope() {
    if (started_.ok()) (void)profiler_.stop();
  }
  const Result<void>& started() const noexcept { return started_; }

 private:
  Profiler& profiler_;
  Result<void> started_;
};

// Whether any profiler of the process records. Thread-safe. Hot.
WEFT_API bool profiling() noexcept;

// The node that this process is in a job of several; in the rows of sessions
// that end from then on.
// Errors: kInvalidArgument  negative
// Thread-safe.
WEFT_API Result<void> set_default_node_id(std::int64_t node);

}  // namespace weft

#endif  // WEFT_PROFILE_PROFILER_H_
