// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_EMIT_MARKERS_H_
#define WEFT_PROFILE_EMIT_MARKERS_H_

// Shows instrumented calls to other tools while they run: as NVTX ranges to
// NVIDIA's, as ITT tasks to Intel's.
//
//   weft::EmitNvtx emit({.record_shapes = true});
//   if (auto started = emit.start(); !started.ok()) ... started.error().message
//   serve(request);         // "matmul, seq = 7, sizes = [[2, 3], [3, 4]]"
//   emit.stop();            // or where it is destroyed
//
// A label is
//
//   NAME[, seq = N | , fwd_seq = N][, op_id = H][, sizes = SHAPES]
//
// with `seq` on forward calls that have a sequence number, `fwd_seq` on backward
// ones, which name that of the forward call; `op_id` where somebody numbers
// calls; `sizes` with record_shapes. Lists of arrays are flattened. Inputs have
// no identity in weft, so no label tells where they come from.
//
// Every range that was begun is ended, on its own thread, also when emission
// stops in between. While no tool is attached, nothing is installed, and calls
// cost what they cost without.

#include <cstdint>
#include <functional>
#include <memory>
#include <set>

#include "weft/internal/api.h"
#include "weft/profile/profiler_options.h"
#include "weft/profile/record_scope.h"
#include "weft/result.h"

namespace weft {

struct MarkerOptions {
  bool enabled = true;  // false: does nothing, and start() succeeds
  bool record_shapes = false;
  // Unlike a profiler session's, markers of kThisThread are inherited as well:
  // work that takes a thread's state with it shows as it did there.
  ThreadCoverage coverage = ThreadCoverage::kInherited;
  std::set<RecordScope> scopes{};  // empty: all
  // Called by start() and stop() before anything else, so that work of the
  // device does not reach over the edges; empty: nothing waits.
  std::function<void()> synchronize{};
  // Markers have no place for these: asking for them is an error.
  bool profile_memory = false;
  bool with_stack = false;
  bool with_flops = false;
  bool with_modules = false;
};

// Of one emission, from start to stop.
struct MarkerStatistics {
  bool attached = false;         // a tool was there at start()
  std::uint64_t begun = 0;       // ranges
  std::uint64_t ended = 0;
  std::uint64_t not_ended = 0;   // their calls ended on another thread
};

// What both have. One thread at a time; an emission of one thread is stopped by
// that thread, else its callback stays there, idle, until the thread ends.
class WEFT_API MarkerEmission {
 public:
  MarkerEmission(const MarkerEmission&) = delete;
  MarkerEmission& operator=(const MarkerEmission&) = delete;

  // Errors: kBusy         it runs already, or a profiler session or another
  //                       emission covers the same threads
  //         kUnsupported  an option that markers cannot honour, or this build of
  //                       weft cannot emit them; the message says which
  // After an error nothing has changed. Cold.
  Result<void> start();
  // Errors: kNotRunning. Cold.
  Result<void> stop();
  bool running() const noexcept;
  MarkerStatistics statistics() const noexcept;

 protected:
  struct State;
  explicit MarkerEmission(std::unique_ptr<State> state);
  ~MarkerEmission();

 private:
  std::unique_ptr<State> state_;
};

// Needs NVTX's headers when weft is built. NVTX itself looks for a tool, by
// NVTX_INJECTION64_PATH, when its first function is called in a process. Ranges
// are in its default domain.
class WEFT_API EmitNvtx : public MarkerEmission {
 public:
  explicit EmitNvtx(MarkerOptions options = {});
  // Whether this build of weft can do it.
  static bool available() noexcept;
};

// Needs Intel's ittapi when weft is built (WEFT_ITTAPI_DIR). ITT looks for a
// collector, by INTEL_LIBITTNOTIFY64, likewise. Tasks are in the domain "weft".
// ITT keeps each label until the process ends: calls that are numbered one by one
// take memory without bound.
class WEFT_API EmitItt : public MarkerEmission {
 public:
  explicit EmitItt(MarkerOptions options = {});
  static bool available() noexcept;
};

}  // namespace weft

#endif  // WEFT_PROFILE_EMIT_MARKERS_H_
