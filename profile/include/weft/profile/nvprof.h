// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_NVPROF_H_
#define WEFT_PROFILE_NVPROF_H_

// Imports the SQLite databases that nvprof wrote (.nvprof, .nvvp, .sql).

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "weft/profile/event_list.h"
#include "weft/profile/rules.h"
#include "weft/result.h"

namespace weft {

struct NvprofOptions {
  // kReference answers as PyTorch 2.2.2: marker ranges only, times taken for
  // microseconds, kernels named by number, no tree, and an error for what it
  // does not expect.
  Rules rules = Rules::kWeft;
  std::uint64_t max_rows = 20'000'000;  // of all tables together
};

struct NvprofImport {
  // Ranges as host rows on their threads, kernels as device rows; a kernel also
  // belongs to the innermost range that its launch lies in. Times count from
  // the earliest of them.
  EventList events;
  std::int64_t first_timestamp_ns = 0;  // in the file's clock; 0: no events
  // What was not read and why, a sentence each: missing tables, ends without
  // begins, kernels that no call launched, a database that breaks off, ...
  std::vector<std::string> skipped;
};

// Errors: kIo           the file cannot be opened
//         kUnsupported  not a database: the message has its first bytes
//         kLimit        more rows than allowed
// Under Rules::kReference also:
//         kCorrupt      a range that ends twice, a call with two kernels,
//                       a name without a string
//         kUnsupported  a kernel whose call is not cudaLaunchKernel
[[nodiscard]] Result<NvprofImport> parse_nvprof_trace(
    const std::string& path, const NvprofOptions& options = {});

// The rows alone.
[[nodiscard]] Result<EventList> load_nvprof(const std::string& path,
                                            const NvprofOptions& options = {});

}  // namespace weft

#endif  // WEFT_PROFILE_NVPROF_H_
