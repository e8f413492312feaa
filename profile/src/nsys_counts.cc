// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "database_counts.h"
#include "json_text.h"
#include "nsys_database.h"
#include "weft/profile/wrapping_sum.h"

namespace weft::profile {
namespace {

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

class NsysCounter {
 public:
  NsysCounter(SqliteTables& tables, DatabaseFacts& facts)
      : tables_(tables), facts_(facts) {}

  Result<void> run() {
    for (const auto step :
         {&NsysCounter::count_rows, &NsysCounter::read_information,
          &NsysCounter::read_strings, &NsysCounter::count_calls,
          &NsysCounter::count_kernels, &NsysCounter::count_ranges,
          &NsysCounter::count_system_calls}) {
      const Result<void> done = (this->*step)();
      if (!done.ok()) return done;
    }
    return count_copies(tables_, facts_);
  }

 private:
  Result<void> count_rows() {
    for (const std::string& table : tables_.names()) {
      const Result<std::uint64_t> rows = tables_.rows_of(table);
      if (!rows.ok()) return rows.error();
      if (*rows > 0) facts_.rows[table] = *rows;
      const Result<void> texts =
          tables_.read_all(table, [&](std::string_view text) {
            if (!is_utf8(text)) ++facts_.texts_not_utf8;
            if (text.find('\0') != std::string_view::npos) {
              ++facts_.texts_with_nul;
            }
          });
      if (!texts.ok()) return texts;
    }
    return {};
  }

  Result<void> read_information() {
    for (const char* table : {"EXPORT_META_DATA", "META_DATA_EXPORT"}) {
      if (!tables_.has(table)) continue;
      facts_.meta_table = table;
      const Result<void> done = tables_.read(
          table, {{"name", true}, {"value", true}}, [&](const SqliteRow& row) {
            const std::string name(row.bytes(0));
            if (name == "EXPORT_PRODUCT_VERSION" ||
                name == "EXPORT_SCHEMA_VERSION") {
              facts_.export_information[name] = row.bytes(1);
            }
          });
      if (!done.ok()) return done;
    }
    Result<void> done = tables_.read_if_there(
        "TARGET_INFO_SESSION_START_TIME", {{"utcEpochNs", true}},
        [&](const SqliteRow& row) {
          facts_.capture_start_unix_ns = row.integer(0);
        });
    if (!done.ok()) return done;
    return tables_.read_if_there(
        "TARGET_INFO_GPU", {{"name", true}}, [&](const SqliteRow& row) {
          facts_.devices.emplace_back(row.bytes(0));
        });
  }

  Result<void> read_strings() {
    return tables_.read_if_there(
        "StringIds", {{"id", true}, {"value", true}},
        [&](const SqliteRow& row) {
          strings_.insert_or_assign(row.integer(0), std::string(row.bytes(1)));
        });
  }

  std::string text(std::int64_t id) const {
    const auto found = strings_.find(id);
    return found == strings_.end() ? "string " + std::to_string(id)
                                   : found->second;
  }

  Result<void> count_calls() {
    constexpr const char* kTable = "CUPTI_ACTIVITY_KIND_RUNTIME";
    facts_.has_runtime_calls = tables_.has(kTable);
    std::map<std::string, std::int64_t> names;
    const Result<void> done = tables_.read_if_there(
        kTable,
        {{"start", true},
         {"end", true},
         {"nameId", false},
         {"correlationId", false},
         {"globalTid", false}},
        [&](const SqliteRow& row) {
          add_interval(facts_, facts_.runtime_calls, row.integer(0),
                       row.integer(1));
          ++names[text(row.integer(2))];
          calls_.emplace(nsys_process(row.integer(4)), row.integer(3));
        });
    facts_.top_calls = largest(names, kTopNames);
    return done;
  }

  Result<void> count_kernels() {
    std::map<std::string, std::int64_t> times;
    std::set<std::pair<std::int64_t, std::int64_t>> streams;
    const Result<void> done = tables_.read_if_there(
        "CUPTI_ACTIVITY_KIND_KERNEL",
        {{"start", true},
         {"end", true},
         {"shortName", false},
         {"correlationId", false},
         {"globalPid", false},
         {"deviceId", false},
         {"streamId", false}},
        [&](const SqliteRow& row) {
          add_interval(facts_, facts_.kernels, row.integer(0), row.integer(1));
          std::int64_t length = row.integer(1);
          subtract_wrapping(length, row.integer(0));
          add_wrapping(times[text(row.integer(2))], length);
          if (calls_.count({nsys_process(row.integer(4)), row.integer(3)}) !=
              0) {
            ++facts_.kernels_with_launch;
          }
          streams.emplace(row.integer(5), row.integer(6));
        });
    facts_.top_kernels_ns = largest(times, kTopNames);
    facts_.streams.assign(streams.begin(), streams.end());
    return done;
  }

  Result<void> count_ranges() {
    constexpr const char* kTable = "NVTX_EVENTS";
    facts_.has_ranges = tables_.has(kTable);
    std::map<std::string, std::int64_t> names;
    const Result<void> done = tables_.read_if_there(
        kTable,
        {{"start", true},
         {"end", true},
         {"eventType", true},
         {"text", false},
         {"textId", false}},
        [&](const SqliteRow& row) {
          ++facts_.ranges_by_type[std::to_string(row.integer(2))];
          if (!row.has(3) && row.has(4)) ++facts_.ranges_named_by_id;
          add_time(facts_, row.integer(0));
          if (row.has(1)) add_time(facts_, row.integer(1));
          if (row.integer(2) != kNsysPushPop || !row.has(1)) return;
          add_interval(facts_, facts_.push_pop_ranges, row.integer(0),
                       row.integer(1));
          ++names[row.has(3) ? std::string(row.bytes(3))
                             : text(row.integer(4))];
        });
    facts_.top_ranges = largest(names, kTopNames);
    return done;
  }

  Result<void> count_system_calls() {
    facts_.has_system_calls = tables_.has("OSRT_API");
    return tables_.read_if_there("OSRT_API", {{"start", true}, {"end", true}},
                                 [&](const SqliteRow& row) {
                                   add_interval(facts_, facts_.system_calls,
                                                row.integer(0), row.integer(1));
                                 });
  }

  SqliteTables& tables_;
  DatabaseFacts& facts_;
  std::unordered_map<std::int64_t, std::string> strings_;
  std::set<std::pair<std::int64_t, std::int64_t>> calls_;
};

}  // namespace

Result<void> count_nsys(SqliteTables& tables, DatabaseFacts& facts) {
  return NsysCounter(tables, facts).run();
}

}  // namespace weft::profile
