// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_CHROME_IMPORT_H_
#define WEFT_PROFILE_CHROME_IMPORT_H_

// Reads Chrome JSON traces, those of PyTorch and Kineto above all, into rows.
//
// The file is read in pieces, plain or gzip, and one event at a time is parsed:
// memory grows with the rows, not with the file. A file that breaks off gives
// what stands before the break.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "weft/profile/event_list.h"
#include "weft/result.h"

namespace weft {

struct ChromeImportOptions {
  std::uint64_t max_events = 50'000'000;
  std::size_t max_event_bytes = std::size_t{64} << 20;
};

struct ChromeThread {
  std::string pid;
  std::string tid;
  std::string name;  // empty: the file does not say
};

struct ChromeImportStatistics {
  std::uint64_t event_objects = 0;
  std::map<std::string, std::uint64_t> by_phase;
  std::uint64_t complete_events = 0;  // "X" with a usable time and duration
  std::uint64_t complete_without_times = 0;
  std::int64_t total_complete_time_ns = 0;
  // Of all events but metadata; in the file's clock.
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
  std::uint64_t unattributed_device_rows = 0;
};

struct ChromeImport {
  // Host slices, begin/end pairs and async pairs, device work. Kernels belong
  // to the operation whose "External id" they carry if their launch lies in its
  // time, and no user's range in between holds it; else to the innermost range
  // around the launch. Times count from first_ns.
  EventList events;
  std::vector<ChromeThread> threads;  // FunctionEvent::thread is 1 + position
  ChromeImportStatistics statistics;
  std::vector<std::string> skipped;  // what was not read and why
};

// Errors: kIo           the file cannot be read
//         kUnsupported  it holds no list of events; the message says what it
//                       begins with
//         kLimit        too many events, or one too large
[[nodiscard]] Result<ChromeImport> import_chrome_trace(
    const std::string& path, const ChromeImportOptions& options = {});

}  // namespace weft

#endif  // WEFT_PROFILE_CHROME_IMPORT_H_
