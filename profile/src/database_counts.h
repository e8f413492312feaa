// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_DATABASE_COUNTS_H_
#define WEFT_PROFILE_SRC_DATABASE_COUNTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sqlite_tables.h"
#include "weft/profile/database_facts.h"

namespace weft::profile {

inline constexpr std::size_t kTopNames = 3;

// Adds an interval to `work`, and its ends to the span of the whole file.
void add_interval(DatabaseFacts& facts, DatabaseWork& work,
                  std::int64_t start_ns, std::int64_t end_ns);
void add_time(DatabaseFacts& facts, std::int64_t ns);

// "HtoD", as CUPTI numbers the kinds.
std::string copy_kind_text(std::int64_t kind);

// The largest, equals by name.
std::vector<NameCount> largest(const std::map<std::string, std::int64_t>& sums,
                               std::size_t limit);

// Copies and sets, whose tables both tools call and shape alike.
Result<void> count_copies(SqliteTables& tables, DatabaseFacts& facts);

Result<void> count_nvprof(SqliteTables& tables, DatabaseFacts& facts);
Result<void> count_nsys(SqliteTables& tables, DatabaseFacts& facts);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_DATABASE_COUNTS_H_
