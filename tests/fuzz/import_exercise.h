// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_FUZZ_IMPORT_EXERCISE_H_
#define WEFT_TESTS_FUZZ_IMPORT_EXERCISE_H_

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "weft/profile/chrome_facts.h"
#include "weft/profile/chrome_import.h"
#include "weft/profile/database_facts.h"
#include "weft/profile/nsys.h"
#include "weft/profile/nvprof.h"

namespace weft::test {

// A file that holds one input after the other.
class InputFile {
 public:
  InputFile() {
    std::snprintf(path_, sizeof path_, "/dev/shm/weft_input_XXXXXX");
    file_ = mkstemp(path_);
    if (file_ < 0) std::abort();
  }
  ~InputFile() {
    close(file_);
    unlink(path_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::string hold(const std::uint8_t* data, std::size_t size) {
    if (ftruncate(file_, 0) != 0 ||
        pwrite(file_, data, size, 0) != static_cast<ssize_t>(size)) {
      std::abort();
    }
    return path_;
  }

 private:
  char path_[64];
  int file_ = -1;
};

// Everything that is done with rows; the rules that hold for any.
inline void exercise_rows(const EventList& events) {
  const KeyAverages averages = events.key_averages();
  std::uint64_t count = 0;
  for (const FunctionEventAvg& row : averages) count += row.count;
  if (count != events.size()) std::abort();
  for (std::size_t i = 0; i < events.size(); ++i) {
    const FunctionEvent& event = events[i];
    if (event.end_ns < event.start_ns) std::abort();
    if (event.parent != kNoEvent && event.parent >= events.size()) std::abort();
  }
  averages.table();
  std::ostringstream out;
  events.write_stacks(out);
  events.write_chrome_trace(out);
}

inline void exercise_chrome(const std::string& path) {
  ChromeImportOptions options;
  options.max_event_bytes = std::size_t{1} << 20;
  const auto import = import_chrome_trace(path, options);
  const auto facts = chrome_facts(path, options);
  // Both read the same.
  if (import.ok()) {
    if (!facts.ok() ||
        facts->event_objects != import->statistics.event_objects ||
        facts->complete_events != import->statistics.complete_events) {
      std::abort();
    }
    exercise_rows(import->events);
  }
}

inline void exercise_database(const std::string& path) {
  constexpr std::uint64_t kMostRows = 10'000;
  NvprofOptions options;
  options.max_rows = kMostRows;
  if (const auto import = parse_nvprof_trace(path, options); import.ok()) {
    exercise_rows(import->events);
  }
  options.rules = Rules::kReference;
  static_cast<void>(parse_nvprof_trace(path, options).ok());
  NsysOptions nsys;
  nsys.max_rows = kMostRows;
  if (const auto import = import_nsys(path, nsys); import.ok()) {
    exercise_rows(import->events);
  }
  static_cast<void>(database_facts(path, kMostRows).ok());
}

}  // namespace weft::test

#endif  // WEFT_TESTS_FUZZ_IMPORT_EXERCISE_H_
