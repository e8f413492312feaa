// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_NVPROF_DATABASE_H_
#define WEFT_PROFILE_SRC_NVPROF_DATABASE_H_

// The tables of an nvprof database that the importer uses, as they are.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "weft/result.h"

namespace weft::profile {

struct NvprofThread {
  std::int64_t process = 0;
  // 32 bits, as calls have it; markers have the low half of 64.
  std::int32_t thread = 0;

  auto operator<=>(const NvprofThread&) const = default;
};

struct NvprofMarker {
  std::int64_t id;
  std::int64_t name;  // of StringTable; 0: the end of a range
  std::int64_t timestamp_ns;
  bool has_thread;
  NvprofThread thread;
  bool instant;
};

// Of the runtime or the driver API.
struct NvprofCall {
  std::int64_t row_id;
  std::int64_t cbid;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::int64_t correlation;
  bool has_thread;
  NvprofThread thread;
};

struct NvprofKernel {
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::int64_t name;
  std::int64_t correlation;
  std::int64_t device;
  std::int64_t stream;
};

struct NvprofTables {
  std::map<std::int64_t, std::string> strings;
  std::vector<NvprofMarker> markers;
  std::vector<NvprofCall> runtime_calls;
  std::vector<NvprofCall> driver_calls;
  std::vector<NvprofKernel> kernels;
  std::vector<std::string> skipped;
};

// Errors: as parse_nvprof_trace
Result<NvprofTables> read_nvprof_tables(const std::string& path,
                                        std::uint64_t max_rows);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_NVPROF_DATABASE_H_
