// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_PROFILER_OPTIONS_H_
#define WEFT_PROFILE_PROFILER_OPTIONS_H_

// What a profiler session records, and what is wrong with wishes that cannot be
// met.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "weft/internal/api.h"
#include "weft/profile/flop_formulas.h"
#include "weft/profile/function_event.h"
#include "weft/profile/record_scope.h"
#include "weft/result.h"

namespace weft {

enum class Activity : std::uint8_t { kCpu, kCuda, kXpu, kMtia, kCustom };

// Whose calls a session records.
enum class ThreadCoverage : std::uint8_t {
  kThisThread,  // of the thread that starts it
  kInherited,   // and of what it hands its state to (thread_local_state.h)
  kAllThreads,
};

// What happens when the session's memory is full. Whatever is lost is counted.
enum class Overflow : std::uint8_t {
  kDropNewest,
  kDropOldest,   // a quarter of the memory, at most 16 MiB, is kept
  kStopSession,  // nothing more is recorded from there on
};

// What a device needs to be profiled without its tracer, and the like. No
// promise of compatibility.
struct ExperimentalOptions {
  std::vector<std::string> metrics{};            // of devices
  bool metrics_per_kernel = false;
  std::vector<std::string> performance_events{}; // hardware counters
  bool device_sync_events = false;  // rows for waiting for a device
  bool adjust_timestamps = false;
  bool trace_only = false;  // no events: queries of results are refused
  bool disable_external_correlation = false;  // device work owned by no call
  bool capture_overload_names = false;
};

// An event that the user may change before results are made of it.
struct PostProcessedEvent {
  const std::string& name;
  std::int64_t debug_handle;
  std::vector<std::string>& stack;    // innermost first
  std::vector<std::string>& modules;  // outermost first
};

// Every default is here.
struct ProfilerOptions {
  bool enabled = true;  // false: the profiler does nothing and has no rows
  std::set<Activity> activities{Activity::kCpu};
  // Name of a custom device, or "cuda", "xpu", "mtia" as words for those.
  std::string use_device{};
  bool record_shapes = false;
  bool with_flops = false;  // implies record_shapes
  bool profile_memory = false;
  bool with_stack = false;
  bool with_modules = false;
  // A device that cannot be traced is timed with pairs of device events.
  bool allow_device_event_fallback = true;
  // False: a device that is missing is an error instead of a warning.
  bool reduce_on_missing_device = true;
  std::set<RecordScope> scopes{};  // empty: all, and spans of other macros
  ThreadCoverage coverage = ThreadCoverage::kInherited;
  // Of records, while they come; when it is full, `overflow` holds. Results are
  // made beside the records, which are then given back, and grow with them: up
  // to 3 times the records' bytes (statistics: host_bytes) for memory reports
  // within ranges, 8 times for those of no range, which are rows, and 32 times
  // for the smallest records there are, calls that carry nothing under names
  // of up to 15 characters.
  std::size_t max_host_bytes = 256u << 20;    // 1 MiB to 64 GiB
  std::size_t max_device_bytes = 128u << 20;     // 4 KiB to 64 GiB, a device
  Overflow overflow = Overflow::kDropNewest;
  std::string trace_id{};  // empty: made up
  ExperimentalOptions experimental{};
  FlopFormulas formulas{};
  std::function<void(PostProcessedEvent)> post_process{};
};

// Options that can be met, and what was left out to get there.
struct FinalProfilerOptions {
  ProfilerOptions options;
  std::vector<std::string> warnings;
};

// Devices are those whose sources are registered now (weft/gpu/).
//
// Errors: kInvalidArgument  options that exclude each other or lie outside
//                           their limits
//         kUnavailable      a device is missing and may not be left out
//         kUnsupported      an experimental option that weft does not have
// Inert options are not looked at. Thread-safe. Cold.
[[nodiscard]] WEFT_API Result<FinalProfilerOptions> validate(
    const ProfilerOptions& options);

}  // namespace weft

#endif  // WEFT_PROFILE_PROFILER_OPTIONS_H_
