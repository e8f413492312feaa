// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SESSION_H_
#define WEFT_SESSION_H_

// The default session: what `weft::init` opens and `weft::shutdown` closes.
//
//          init               stop              start
//   off  -------> recording -------> paused  -----------> recording
//    ^                |                 |
//    +----------------+----- shutdown --+        (also at normal exit)
//
// None of these throws or ends the program. When init fails, the program runs
// on untraced.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "weft/exporter.h"
#include "weft/internal/api.h"
#include "weft/result.h"

namespace weft {

enum class ClockChoice : std::uint8_t { kAuto = 0, kTsc = 1, kMonotonic = 2 };

// What becomes of records.
enum class Mode : std::uint8_t {
  kStream = 0,          // all of them are written to the output as they come
  kFlightRecorder = 1,  // the newest are kept in memory; weft/snapshot.h
};

// What happens to the records beyond a limit.
enum class LimitPolicy : std::uint8_t {
  kStop = 0,        // the first ones are kept, later ones counted as dropped
  kKeepNewest = 1,  // the last ones are kept: in memory, at most 16 MiB of
                    // them, and written when the session ends
};

// What a session may hold; 0: no limit.
struct Limits {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;          // of the output, before compression; with
                                    // kKeepNewest of the records in memory
  std::chrono::nanoseconds duration{0};
  LimitPolicy policy = LimitPolicy::kStop;
  // Called once, on weft's helper thread, with the limit in words.
  std::function<void(std::string_view)> on_reached;
};

// Every default is here. Environment variables win over what is set in code:
// the name behind each. In a process with AT_SECURE they are ignored.
struct InitOptions {
  // Where the trace goes: ".weft", ".json" or ".json.gz".       WEFT_OUT
  // Empty: no file; records are dropped until somebody subscribes.
  std::string output;
  // With the flight recorder, what snapshots are named after.
  Mode mode = Mode::kStream;      // WEFT_MODE=stream|flight-recorder
  // "net,-db": only net; "-db": all but db; empty: everything.  WEFT_CATEGORIES
  std::string categories;
  std::size_t ring_bytes = 64u << 20;       // of all threads.   WEFT_RING_KB
  std::size_t top_ring_bytes = 4u << 20;    // of one thread; 2^n
  // Between drainer and disk; of a flight recorder, what it keeps.
  std::size_t block_pool_bytes = 16u << 20;  //                  WEFT_BLOCK_KB
  std::chrono::milliseconds flush_after{250};  // latest writing of a record
  ClockChoice clock = ClockChoice::kAuto;   //                   WEFT_CLOCK
  bool start = true;       // record at once, or wait for start()  WEFT_START
  // An existing output is replaced; one that another process writes at the
  // moment never is: this process then writes "name.PID.weft" and says so.
  bool overwrite = true;
  // Of a .weft output: "name.1.weft", "name.2.weft" and so on, going on after the
  // highest number there is; each file is whole by itself.
  // bytes                      WEFT_ROTATE_MB   1 MiB at least; some MiB more are
  //                                             written when records come fast
  // after                      WEFT_ROTATE_S    1 s at least
  // keep_bytes                 WEFT_KEEP_MB     twice `bytes` at least; needs it
  Rotation rotation;
  bool live = false;       // latencies by name: weft/live.h        WEFT_LIVE
  // A Unix socket for `weft ctl` and `weft top`: "on", or a path. Empty: none.
  std::string control;     //                                   WEFT_CONTROL
  Limits limits;
  // Where one line of diagnostics goes; default: standard error, each kind
  // once.                                                       WEFT_QUIET
  std::function<void(std::string_view)> on_message;
};

// Begins the default session. `init("service.weft")` is all that is needed.
//
// Errors: kBusy                the session is running already
//         kInvalidArgument     an option is outside its limits
//         kInvalidEnvironment  a WEFT_* variable is
//         kNoExporter          an output is asked for, but the program is not
//                              linked with weft::export
//         kIo                  the output cannot be opened
//         kOutOfMemory, kThreadFailed
// After an error nothing runs and the process records nothing.
//
// Thread-safe. Cold: starts two threads. After fork() a child is silent until
// it calls init itself.
WEFT_API Result<void> init(const InitOptions& options);
WEFT_API Result<void> init(std::string_view output);
inline Result<void> init(const char* output) {
  return init(std::string_view(output));
}
// Takes everything from the environment; without WEFT_OUT, "%e.%p.weft" in the
// working directory: %e the program's name, %p its process id.
WEFT_API Result<void> init();

// Ends the running session, whoever began it and in whatever state it is, and
// begins another. For services whose operators start traces: no session that
// somebody forgot stands in the way.
// Errors: as of init. That the old output could not be completed is said once
// through on_message and is no error.
// Thread-safe. Cold.
WEFT_API Result<void> restart(const InitOptions& options);

// Goes on recording after stop(), or after init with `start = false`.
// Errors: kNotRunning (no init), kBusy (is recording).
// Thread-safe. Cold.
WEFT_API Result<void> start();

// Stops recording: when it returns, everything recorded before is on its way to
// the file, and all sites are off. Spans that are still open are marked.
// Errors: kNotRunning.
// Thread-safe. Cold: waits for the drainer's last pass.
WEFT_API Result<void> stop();

// Stops and completes the output. Waits at most `timeout` for a slow disk.
// Errors: kNotRunning, kTimeout (the output is cut, what was lost is counted).
// Thread-safe. Cold.
WEFT_API Result<void> shutdown(
    std::chrono::milliseconds timeout = std::chrono::seconds(10));

// Goes on in another file from the next pass of the drainer on, within a quarter
// of a second.
// Errors: kNotRunning, kInvalidArgument (the session has no rotation).
// Thread-safe. Cold.
WEFT_API Result<void> rotate();

// Prepares the calling thread, so that none of its records meets a system call,
// a lock, an allocation or a page fault. Takes the largest ring that is no
// larger than `ring_bytes`. Without it a thread is prepared by its first
// record and starts small.
// Errors: kNotRunning, kLimit (the memory bound leaves no ring).
// Thread-safe. Cold.
WEFT_API Result<void> thread_init(std::size_t ring_bytes = ~std::size_t{0});

// Names the calling thread in the trace. The text is copied. Thread-safe. Cold.
WEFT_API void set_thread_name(std::string_view name);

// Adds a key and value to the trace, such as the program's version. A key that
// is set again takes the new value. Thread-safe. Cold.
WEFT_API void set_metadata(std::string_view key, std::string_view value);

// Changes which categories are recorded, as InitOptions::categories.
// Errors: kNotRunning. Thread-safe. Cold.
WEFT_API Result<void> set_categories(std::string_view categories);

}  // namespace weft

#endif  // WEFT_SESSION_H_
