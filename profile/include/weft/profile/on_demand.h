// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_ON_DEMAND_H_
#define WEFT_PROFILE_ON_DEMAND_H_

// Traces that somebody outside of the program asks for, as a text:
//
//   ACTIVITIES_LOG_FILE = /tmp/service.json
//   ACTIVITIES_DURATION_MSECS = 2000
//   PROFILE_REPORT_INPUT_SHAPES = true
//
// It is off until a program makes an OnDemandProfiler. It takes no signal and
// opens no socket: a program hands it the texts that it trusts, or names a file
// that it looks at. Where traces may go, and how long and large they get, is the
// program's decision, not the text's.
//
//   waiting --submit--> pending --> warming --> collecting --> writing --> waiting
//
// A trace covers all threads and is streamed to its file; it runs beside every
// other session, so that neither has to give way.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/internal/api.h"
#include "weft/result.h"

namespace weft {

// What a text says; defaults for what it does not.
struct OnDemandConfig {
  bool activities_enabled = true;
  std::vector<std::string> activity_types;
  std::string log_file;  // empty: the default one
  std::chrono::milliseconds duration{500};
  bool has_duration = false;  // the text names one
  std::int64_t iterations = 0;
  std::chrono::seconds warmup{5};
  std::int64_t warmup_iterations = 0;
  std::int64_t start_time_ms = 0;  // since 1970; 0: soon
  std::int64_t start_iteration = -1;
  std::int64_t start_iteration_roundup = -1;
  bool record_shapes = false;
  bool profile_memory = false;
  bool with_stack = false;
  bool with_flops = false;
  bool with_modules = false;
  std::string trace_id;
  std::string group_trace_id;
  std::vector<std::string> warnings;  // unknown keys, values that are ignored
};

// Lines "KEY = VALUE"; '#' begins a comment.
// Errors: kInvalidArgument  a line without exactly one '=', or a value that
//                           its key cannot have; the message has both
// Thread-safe.
[[nodiscard]] WEFT_API Result<OnDemandConfig> parse_on_demand_config(
    std::string_view text);

struct OnDemandOptions {
  // Where traces may be written; links in paths are followed before they are
  // compared. The first one is the default.
  std::vector<std::string> directories{"/tmp"};
  std::chrono::milliseconds max_duration = std::chrono::minutes(10);
  std::uint64_t max_bytes = std::uint64_t{1} << 30;  // of a trace
  // Milliseconds since 1970; for tests.
  std::function<std::int64_t()> clock{};
};

enum class OnDemandState : std::uint8_t {
  kWaiting,
  kPending,     // accepted, its time has not come
  kWarming,     // recorded and thrown away
  kCollecting,
  kWriting,
};

struct OnDemandStatus {
  OnDemandState state = OnDemandState::kWaiting;
  std::uint64_t traces = 0;       // written
  std::string last_file;          // of the last one
  std::string last_error;         // why one failed; empty: none did
  std::int64_t iteration = -1;    // calls of step() so far, less one
};

// Who was reached by a request, as its sender wants to know it.
struct OnDemandAnswer {
  std::uint32_t processes_matched = 1;
  std::uint32_t triggered = 0;
  std::uint32_t busy = 0;
  std::string file;                   // where the trace will be
  std::vector<std::string> warnings;
};

// Thread-safe.
class WEFT_API OnDemandProfiler {
 public:
  explicit OnDemandProfiler(OnDemandOptions options = {});
  OnDemandProfiler(const OnDemandProfiler&) = delete;
  OnDemandProfiler& operator=(const OnDemandProfiler&) = delete;
  ~OnDemandProfiler();  // ends what is being collected

  // Errors: kInvalidArgument  the text; a start that lies in the past or closer
  //                           than the warm-up; a start by iterations where
  //                           nobody calls step(); nothing that may be traced
  //         kBusy             a trace is being collected, or one is pending;
  //                           the message says which
  // Cold.
  Result<OnDemandAnswer> submit(std::string_view text);

  // Looks at this file whenever poll() is called: a text that is new there is
  // submitted.
  void watch_file(std::string path);

  // The program begins its next iteration. Cold only where a trace begins or
  // ends; a trace is never written here.
  void step();

  // Does what is due now: begins and ends traces by time, writes what was
  // collected, looks at the file. From a thread of the program's own, about
  // once a second.
  // Errors: of a text in the file, or of a trace that failed
  Result<void> poll();

  // Throws away what is pending or being collected.
  // Errors: kNotRunning  there is nothing
  Result<void> cancel();

  OnDemandStatus status() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft

#endif  // WEFT_PROFILE_ON_DEMAND_H_
