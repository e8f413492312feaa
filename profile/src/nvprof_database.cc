// SPDX-License-Identifier: Apache-2.0
#include "nvprof_database.h"

#include <string_view>
#include <utility>

#include "sqlite_tables.h"

namespace weft::profile {
namespace {

std::uint32_t little_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value |= std::uint32_t{static_cast<std::uint8_t>(bytes[at + i])} << (8 * i);
  }
  return value;
}

// A marker's object is 4 bytes process, then 8 bytes thread.
constexpr std::size_t kObjectBytes = 8;

NvprofMarker marker_of(const SqliteRow& row) {
  constexpr std::int64_t kFlagInstant = 1;
  constexpr std::int64_t kObjectThread = 2;
  NvprofMarker marker{row.integer(0),
                      row.integer(1),
                      row.integer(2),
                      false,
                      {},
                      row.integer(3) == kFlagInstant};
  const std::string_view object = row.bytes(5);
  if (row.integer(4) == kObjectThread && object.size() >= kObjectBytes) {
    marker.has_thread = true;
    marker.thread = {little_endian(object, 0),
                     static_cast<std::int32_t>(little_endian(object, 4))};
  }
  return marker;
}

NvprofCall call_of(const SqliteRow& row) {
  return {row.integer(0),
          row.integer(1),
          row.integer(2),
          row.integer(3),
          row.integer(4),
          row.has(6),
          {row.integer(5), static_cast<std::int32_t>(row.integer(6))}};
}

Result<void> read_all(SqliteTables& reader, NvprofTables& tables) {
  const std::vector<SqliteColumn> call_columns = {
      {"_id_", true},      {"cbid", true},          {"start", true},
      {"end", true},       {"correlationId", true}, {"processId", false},
      {"threadId", false},
  };
  Result<void> done = reader.read(
      "StringTable", {{"_id_", true}, {"value", true}}, [&](const SqliteRow& row) {
        tables.strings.insert_or_assign(row.integer(0), row.bytes(1));
      });
  if (!done.ok()) return done;
  done = reader.read(
      "CUPTI_ACTIVITY_KIND_MARKER",
      {{"id", true},
       {"name", true},
       {"timestamp", true},
       {"flags", false},
       {"objectKind", false},
       {"objectId", false}},
      [&](const SqliteRow& row) { tables.markers.push_back(marker_of(row)); });
  if (!done.ok()) return done;
  done = reader.read(
      "CUPTI_ACTIVITY_KIND_RUNTIME", call_columns,
      [&](const SqliteRow& row) { tables.runtime_calls.push_back(call_of(row)); });
  if (!done.ok()) return done;
  done = reader.read(
      "CUPTI_ACTIVITY_KIND_DRIVER", call_columns,
      [&](const SqliteRow& row) { tables.driver_calls.push_back(call_of(row)); });
  if (!done.ok()) return done;
  for (const char* table : {"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
                            "CUPTI_ACTIVITY_KIND_KERNEL"}) {
    done = reader.read(table,
                       {{"start", true},
                        {"end", true},
                        {"name", true},
                        {"correlationId", true},
                        {"deviceId", false},
                        {"streamId", false}},
                       [&](const SqliteRow& row) {
                         tables.kernels.push_back(
                             {row.integer(0), row.integer(1), row.integer(2),
                              row.integer(3), row.integer(4), row.integer(5)});
                       });
    if (!done.ok()) return done;
  }
  return {};
}

}  // namespace

Result<NvprofTables> read_nvprof_tables(const std::string& path,
                                        std::uint64_t max_rows) {
  NvprofTables tables;
  Result<SqliteTables> database = SqliteTables::open(
      path, "an nvprof database", max_rows, tables.skipped);
  if (!database.ok()) return database.error();
  if (database->is_empty_file()) return tables;
  const Result<void> done = read_all(*database, tables);
  if (!done.ok()) {
    return Error{done.error().code, path + ": " + done.error().message};
  }
  return tables;
}

}  // namespace weft::profile
