// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/database_facts.h"

#include <algorithm>
#include <utility>

#include "database_counts.h"
#include "weft/profile/nsys.h"
#include "weft/profile/wrapping_sum.h"

namespace weft {
namespace profile {

void add_time(DatabaseFacts& facts, std::int64_t ns) {
  facts.first_ns = std::min(facts.first_ns.value_or(ns), ns);
  facts.last_ns = std::max(facts.last_ns.value_or(ns), ns);
}

void add_interval(DatabaseFacts& facts, DatabaseWork& work,
                  std::int64_t start_ns, std::int64_t end_ns) {
  ++work.count;
  std::int64_t length = end_ns;
  subtract_wrapping(length, start_ns);
  add_wrapping(work.time_ns, length);
  add_time(facts, start_ns);
  add_time(facts, end_ns);
}

std::string copy_kind_text(std::int64_t kind) {
  constexpr const char* kKinds[] = {"Unknown", "HtoD", "DtoH", "HtoA",
                                    "AtoH",    "AtoA", "AtoD", "DtoA",
                                    "DtoD",    "HtoH", "PtoP"};
  constexpr std::int64_t kEnd = sizeof kKinds / sizeof kKinds[0];
  return kind >= 0 && kind < kEnd ? kKinds[kind] : std::to_string(kind);
}

std::vector<NameCount> largest(const std::map<std::string, std::int64_t>& sums,
                               std::size_t limit) {
  std::vector<NameCount> all(sums.begin(), sums.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const NameCount& a, const NameCount& b) {
                     return a.second > b.second;
                   });
  all.resize(std::min(limit, all.size()));
  return all;
}

Result<void> count_copies(SqliteTables& tables, DatabaseFacts& facts) {
  const Result<void> done = tables.read_if_there(
      "CUPTI_ACTIVITY_KIND_MEMCPY",
      {{"copyKind", false}, {"bytes", false}, {"start", true}, {"end", true}},
      [&](const SqliteRow& row) {
        DatabaseWork& work = facts.copies[copy_kind_text(row.integer(0))];
        add_wrapping(work.bytes, row.integer(1));
        add_interval(facts, work, row.integer(2), row.integer(3));
      });
  if (!done.ok()) return done;
  return tables.read_if_there(
      "CUPTI_ACTIVITY_KIND_MEMSET",
      {{"bytes", false}, {"start", true}, {"end", true}},
      [&](const SqliteRow& row) {
        add_wrapping(facts.sets.bytes, row.integer(0));
        add_interval(facts, facts.sets, row.integer(1), row.integer(2));
      });
}

}  // namespace profile

Result<DatabaseFacts> database_facts(const std::string& path,
                                     std::uint64_t max_rows) {
  DatabaseFacts facts;
  Result<profile::SqliteTables> tables = profile::SqliteTables::open(
      path, "an SQLite database", max_rows, facts.skipped);
  if (!tables.ok()) return tables.error();
  facts.tables = tables->names().size();
  const Result<bool> is_nsys = is_nsys_file(path);
  if (!is_nsys.ok()) return is_nsys.error();
  facts.kind = *is_nsys ? DatabaseKind::kNsys : DatabaseKind::kNvprof;
  const Result<void> done = *is_nsys ? profile::count_nsys(*tables, facts)
                                     : profile::count_nvprof(*tables, facts);
  if (!done.ok()) {
    return Error{done.error().code, path + ": " + done.error().message};
  }
  return facts;
}

}  // namespace weft
