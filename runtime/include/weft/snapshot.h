// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SNAPSHOT_H_
#define WEFT_SNAPSHOT_H_

// The flight recorder: a session that writes nothing until it is asked.
//
//   weft::InitOptions options;
//   options.mode = weft::Mode::kFlightRecorder;
//   options.output = "service.weft";
//   weft::init(options);
//   ...
//   if (latency > budget)
//     weft::request_snapshot({.reason = "slow request"});  // service.1.weft
//
// The newest records are kept in `InitOptions::block_pool_bytes` of memory,
// encoded: some 3 bytes a span. A snapshot is a whole .weft file, with names,
// threads and clock pairs. Threads go on recording while it is written.

#include <chrono>
#include <cstdint>
#include <string>

#include "weft/internal/api.h"
#include "weft/result.h"

namespace weft {

struct SnapshotOptions {
  // At least the records of so long before the snapshot, as far as they are
  // kept; 0: all of them. Whole blocks are written, so a little more comes.
  std::chrono::nanoseconds before{0};
  // Goes on recording for so long first; at most 1 h.
  std::chrono::nanoseconds after{0};
  std::string reason = "requested";  // stands in the file
  // Empty: the session's output with a number before its suffix that is still
  // free. An existing file is never replaced.
  std::string output;
};

struct SnapshotInfo {
  std::string path;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
};

// Writes what the default session keeps and waits until that is done: for
// `after` and `timeout`.
// Errors: kNotRunning
//         kUnsupported      the session is no flight recorder
//         kInvalidArgument  `before` or `after` is outside its limits
//         kBusy             another snapshot is being written
//         kIo               the file cannot be written
//         kTimeout          it is not complete yet, and may still become so
// Thread-safe. Cold.
WEFT_API Result<SnapshotInfo> take_snapshot(
    const SnapshotOptions& options = {},
    std::chrono::milliseconds timeout = std::chrono::seconds(10));

// The same without waiting: what becomes of it is said in one line through
// InitOptions::on_message.
// Errors: kNotRunning, kInvalidArgument.
// Thread-safe. Cold: allocates and wakes the drainer, some 10 us.
WEFT_API Result<void> request_snapshot(const SnapshotOptions& options = {});

}  // namespace weft

#endif  // WEFT_SNAPSHOT_H_
