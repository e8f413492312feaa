// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SCHEDULED_PROFILER_H_
#define WEFT_PROFILE_SCHEDULED_PROFILER_H_

// Profiles some steps of a long run, by a schedule.
//
//   weft::ScheduledProfiler profiler(
//       {.record_shapes = true},
//       *weft::Schedule::create({.wait = 100, .warmup = 1, .active = 3}),
//       weft::trace_file_handler("/var/traces"));
//   profiler.start();
//   for (;;) { serve_one(); profiler.step(); }
//   profiler.stop();
//
// Each window of active steps is handed over when it is complete, and belongs
// to who gets it.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/internal/api.h"
#include "weft/profile/profiler.h"
#include "weft/profile/profiler_options.h"
#include "weft/profile/schedule.h"
#include "weft/profile/step_tracker.h"
#include "weft/result.h"

namespace weft {

// One window: what was recorded, and in which steps.
struct ProfiledWindow {
  std::shared_ptr<const ProfilerResult> result;
  std::uint64_t number = 0;  // of the windows of this run, from 0
  std::uint64_t first_step = 0;
  std::uint64_t last_step = 0;
};

// Called on the thread that steps. What it throws is caught and told by step().
using OnTraceReady = std::function<Result<void>(const ProfiledWindow&)>;

struct ScheduledRun {
  std::uint64_t steps = 0;    // calls of step()
  std::uint64_t windows = 0;  // handed over
  std::string advice;  // what a person should know when there is none; or empty
};

// One thread at a time.
class WEFT_API ScheduledProfiler {
 public:
  // Without a schedule every step is recorded into one window, and steps have
  // no ranges.
  explicit ScheduledProfiler(ProfilerOptions options,
                             OnTraceReady on_trace_ready = {});
  ScheduledProfiler(ProfilerOptions options, const Schedule& schedule,
                    OnTraceReady on_trace_ready = {});
  ScheduledProfiler(const ScheduledProfiler&) = delete;
  ScheduledProfiler& operator=(const ScheduledProfiler&) = delete;
  ~ScheduledProfiler();  // stops

  // Counts each step there as one of `requester`, which is known there until
  // this is destroyed. `tracker` must outlive it. Before start().
  void count_steps_in(StepTracker& tracker,
                      std::string requester = "ProfilerStep");

  // Errors: as of Profiler::start(); kBusy when it runs. Cold.
  Result<void> start();

  // Ends a step and begins the next: a range "ProfilerStep#<n>".
  // Errors: kNotRunning; those of a window's session, or of the handler, after
  // which stepping goes on. Warm; cold where the schedule changes.
  Result<void> step();

  // Errors: kNotRunning; as of step(). Cold.
  Result<ScheduledRun> stop();

  std::uint64_t step_num() const noexcept;
  // Whether the present step is recorded.
  bool recording() const noexcept;

  // The last window's rows, also after the next one has begun. None before.
  std::shared_ptr<const ProfilerResult> last_result() const noexcept;

  // As of Profiler; in the files of windows that end from then on.
  Result<void> add_metadata(std::string_view key, std::string_view text);
  Result<void> add_metadata_json(std::string_view key, std::string_view json);

 private:
  struct Run;
  std::unique_ptr<Run> run_;
};

// A handler that writes each window to "<directory>/<worker>.<ns since
// 1970>.pt.trace.json[.gz]". The directory is made if there is none; the worker
// is "<host>_<process>" if it is empty.
//
// Errors of the handler: kIo, with path and reason
enum class TraceFileForm : std::uint8_t { kPlain, kGzip };
[[nodiscard]] WEFT_API OnTraceReady trace_file_handler(
    std::string directory, std::string worker = {},
    TraceFileForm form = TraceFileForm::kPlain);

}  // namespace weft

#endif  // WEFT_PROFILE_SCHEDULED_PROFILER_H_
