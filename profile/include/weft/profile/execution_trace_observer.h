// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_EXECUTION_TRACE_OBSERVER_H_
#define WEFT_PROFILE_EXECUTION_TRACE_OBSERVER_H_

// Writes the execution graph (execution_graph.h) of a program while it runs:
// what instrumented call ran inside what, with inputs and outputs.
//
//   weft::ExecutionTraceObserver observer;
//   observer.register_callback("graph.json");
//   observer.start();  ...  observer.stop();     // as often as is wanted
//   observer.unregister_callback();              // the file is complete
//
// No profiler session is needed. Calls are noted by a callback
// (record_callback.h) and written by a thread of the observer's own: the
// program waits for neither the file nor a lock.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "weft/internal/api.h"
#include "weft/result.h"

namespace weft {

struct ExecutionTraceOptions {
  // For calls that are open or not yet written; further ones are counted as
  // dropped. 64 KiB to 64 GiB.
  std::size_t memory_bytes = std::size_t{64} << 20;
};

// nodes + dropped + late is the number of calls that began between start() and
// stop(), once the file is complete.
struct ExecutionTraceStatistics {
  std::uint64_t nodes = 0;       // written
  std::uint64_t unfinished = 0;  // of those: not ended when they were written
  std::uint64_t dropped = 0;     // there was no memory
  std::uint64_t late = 0;        // began before stop(), noted after the end
  std::uint64_t cut_lists = 0;   // inputs or outputs with too many elements
};

// One thread at a time, which need not be the same. One observer of a process
// may be registered.
class WEFT_API ExecutionTraceObserver {
 public:
  ExecutionTraceObserver() noexcept;
  ExecutionTraceObserver(const ExecutionTraceObserver&) = delete;
  ExecutionTraceObserver& operator=(const ExecutionTraceObserver&) = delete;
  ~ExecutionTraceObserver();  // unregisters

  // Opens the file, which appears under its name when it is complete; ".gz"
  // compresses. With the same path once more nothing happens.
  // Errors: kIo               the file cannot be opened
  //         kBusy             it is registered with another path, or another
  //                           observer is registered; the message has the path
  //         kInvalidArgument  memory_bytes is outside its limits
  // Cold: starts a thread.
  Result<void> register_callback(const std::string& output_file_path,
                                 const ExecutionTraceOptions& options = {});
  // Stops, and completes the file. When not registered nothing happens.
  // Errors: kIo  something could not be written; there is no file then
  // Cold: waits for the file.
  Result<void> unregister_callback();

  // Errors: kNotRunning  not registered. Cold: turns sites.
  Result<void> start();
  // Calls open now are written as unfinished when they end, or with the file's
  // end. When not started nothing happens.
  void stop();

  bool is_registered() const noexcept { return recorder_ != nullptr; }
  bool is_running() const noexcept { return callback_ != 0; }
  // Errors: kNotRunning  not registered
  [[nodiscard]] Result<std::string> get_output_file_path() const;
  // Of the present file, or of the last one.
  ExecutionTraceStatistics statistics() const;

 private:
  std::shared_ptr<class ExecutionTraceRecorder> recorder_;
  std::uint64_t callback_ = 0;  // CallbackHandle
  ExecutionTraceStatistics last_;
};

}  // namespace weft

#endif  // WEFT_PROFILE_EXECUTION_TRACE_OBSERVER_H_
