// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_NSYS_H_
#define WEFT_PROFILE_NSYS_H_

// Imports the SQLite databases that Nsight Systems exports.

#include <cstdint>
#include <string>
#include <vector>

#include "weft/profile/event_list.h"
#include "weft/result.h"

namespace weft {

struct NsysOptions {
  std::uint64_t max_rows = 20'000'000;  // of all tables together
};

struct NsysThread {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string name;  // empty: the file does not say
};

struct NsysImport {
  // NVTX ranges and CUDA calls as host rows on their threads; kernels, copies
  // and sets as device rows, which also belong to the innermost range around
  // their call. A call that two rows tell of, because call chains were on, is
  // one row. Ranges that may end on another thread are async rows. Times count
  // from the earliest row.
  EventList events;
  std::vector<NsysThread> threads;  // FunctionEvent::thread is 1 + position
  std::int64_t first_timestamp_ns = 0;  // since the start of the capture
  std::int64_t capture_start_unix_ns = 0;  // 0: the file does not say
  std::vector<std::string> skipped;  // what was not read and why
};

// Old and new schemas: tables and columns are looked up by name, and what is
// not there reads as empty.
//
// Errors: kIo           the file cannot be opened
//         kUnsupported  not a database, or not one of Nsight Systems
//         kLimit        more rows than allowed
[[nodiscard]] Result<NsysImport> import_nsys(const std::string& path,
                                             const NsysOptions& options = {});

// Whether an SQLite file is one of Nsight Systems, by the tables it has.
//
// Errors: kIo, kUnsupported  as above
[[nodiscard]] Result<bool> is_nsys_file(const std::string& path);

}  // namespace weft

#endif  // WEFT_PROFILE_NSYS_H_
