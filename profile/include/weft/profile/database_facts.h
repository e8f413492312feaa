// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_DATABASE_FACTS_H_
#define WEFT_PROFILE_DATABASE_FACTS_H_

// What the SQLite files of nvprof and Nsight Systems hold, counted. A table
// that is not there reads as one without rows.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/profile/chrome_facts.h"
#include "weft/result.h"

namespace weft {

struct DatabaseWork {
  std::uint64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t time_ns = 0;
};

struct MarkerFacts {
  std::uint64_t rows = 0;
  std::uint64_t ranges = 0;
  std::uint64_t instants = 0;
  std::uint64_t starts_alone = 0;
  std::uint64_t ends_alone = 0;
  std::int64_t total_ns = 0;
  std::uint64_t threads = 0;
  struct Thread {
    std::int64_t pid = 0;
    std::uint64_t tid = 0;  // as the markers have it; calls have its low half
    std::uint64_t ranges = 0;
    std::uint64_t max_depth = 0;
    std::uint64_t partial_overlaps = 0;
  };
  std::optional<Thread> main_thread;  // with most ranges
  std::vector<NameCount> top_names;
  std::map<std::string, std::uint64_t> domains;
};

enum class DatabaseKind : std::uint8_t { kNvprof, kNsys };

struct DatabaseFacts {
  DatabaseKind kind = DatabaseKind::kNvprof;
  std::uint64_t tables = 0;
  std::map<std::string, std::uint64_t> rows;  // of tables that have some
  DatabaseWork kernels;
  std::vector<NameCount> top_kernels_ns;  // names as the file has them
  std::vector<std::pair<std::int64_t, std::int64_t>> streams;  // of devices
  std::map<std::string, DatabaseWork> copies;  // "HtoD"
  DatabaseWork sets;
  DatabaseWork runtime_calls;
  bool has_runtime_calls = false;  // whether there is a table of them
  std::vector<std::string> devices;
  std::optional<std::int64_t> first_ns;
  std::optional<std::int64_t> last_ns;

  // nvprof only.
  std::int64_t page_bytes = 0;
  std::optional<std::int64_t> schema_version;
  DatabaseWork driver_calls;
  std::uint64_t kernels_with_runtime_call = 0;
  std::uint64_t kernels_with_driver_call = 0;
  std::uint64_t kernels_with_any_call = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> top_callbacks;  // by count
  std::uint64_t call_threads = 0;
  MarkerFacts markers;

  // Nsight Systems only.
  std::string meta_table;  // empty: none
  std::map<std::string, std::string> export_information;
  std::optional<std::int64_t> capture_start_unix_ns;
  std::uint64_t kernels_with_launch = 0;
  std::vector<NameCount> top_calls;  // by count
  bool has_ranges = false;           // whether there is a table of them
  std::map<std::string, std::uint64_t> ranges_by_type;
  DatabaseWork push_pop_ranges;
  std::vector<NameCount> top_ranges;
  std::uint64_t ranges_named_by_id = 0;
  bool has_system_calls = false;
  DatabaseWork system_calls;
  std::uint64_t texts_not_utf8 = 0;
  std::uint64_t texts_with_nul = 0;

  std::vector<std::string> skipped;  // what was not read and why
};

// Errors: kIo           the file cannot be opened
//         kUnsupported  it is no SQLite database
//         kLimit        it has more than `max_rows` rows
[[nodiscard]] Result<DatabaseFacts> database_facts(
    const std::string& path, std::uint64_t max_rows = 100'000'000);

}  // namespace weft

#endif  // WEFT_PROFILE_DATABASE_FACTS_H_
