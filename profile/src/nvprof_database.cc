// SPDX-License-Identifier: Apache-2.0
#include "nvprof_database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

namespace weft::profile {
namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr int kLongestValueBytes = 16 << 20;

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinishStatement {
  void operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
  }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinishStatement>;

// One row of a query; columns that the table does not have read as null.
class Row {
 public:
  Row(sqlite3_stmt* statement, const std::vector<int>& places)
      : statement_(statement), places_(places) {}

  bool has(std::size_t column) const {
    return places_[column] >= 0 &&
           sqlite3_column_type(statement_, places_[column]) != SQLITE_NULL;
  }
  std::int64_t integer(std::size_t column) const {
    return has(column) ? sqlite3_column_int64(statement_, places_[column]) : 0;
  }
  std::string_view bytes(std::size_t column) const {
    if (!has(column)) return {};
    const void* data = sqlite3_column_blob(statement_, places_[column]);
    const int size = sqlite3_column_bytes(statement_, places_[column]);
    return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
  }

 private:
  sqlite3_stmt* statement_;
  const std::vector<int>& places_;
};

struct ColumnName {
  const char* name;
  bool required;
};

class Reader {
 public:
  Reader(Database database, std::uint64_t max_rows, NvprofTables& tables)
      : database_(std::move(database)), max_rows_(max_rows), tables_(tables) {}

  // Reads what is there of a table. What cannot be read is noted.
  //
  // Errors: kLimit  more rows than are left
  Result<void> read(const std::string& table,
                    const std::vector<ColumnName>& columns,
                    const std::function<void(const Row&)>& take) {
    const std::set<std::string> present = columns_of(table);
    if (present.empty()) {
      tables_.skipped.push_back("there is no table " + table);
      return {};
    }
    std::string query;
    std::vector<int> places;
    int next = 0;
    for (const ColumnName& column : columns) {
      if (present.count(column.name) == 0) {
        if (column.required) {
          tables_.skipped.push_back(fmt::format(
              "table {} has no column {}: not read", table, column.name));
          return {};
        }
        places.push_back(-1);
        continue;
      }
      query += (next == 0 ? "SELECT \"" : ", \"");
      query += std::string(column.name) + '"';
      places.push_back(next++);
    }
    query += " FROM \"" + table + "\" ORDER BY rowid";
    return run(table, query, places, take);
  }

 private:
  Statement prepare(const std::string& query) {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(database_.get(), query.c_str(), -1, &statement, nullptr);
    return Statement(statement);
  }

  // Empty unless it is a real table: a view could compute for ever.
  std::set<std::string> columns_of(const std::string& table) {
    std::set<std::string> columns;
    const Statement is_table = prepare(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '" +
        table + "' AND sql NOT LIKE 'CREATE VIRTUAL%'");
    if (!is_table || sqlite3_step(is_table.get()) != SQLITE_ROW) return columns;
    const Statement info = prepare("PRAGMA table_info(\"" + table + "\")");
    while (info && sqlite3_step(info.get()) == SQLITE_ROW) {
      const auto* name =
          reinterpret_cast<const char*>(sqlite3_column_text(info.get(), 1));
      if (name != nullptr) columns.insert(name);
    }
    return columns;
  }

  Result<void> run(const std::string& table, const std::string& query,
                   const std::vector<int>& places,
                   const std::function<void(const Row&)>& take) {
    const Statement statement = prepare(query);
    std::uint64_t rows = 0;
    int status = SQLITE_ERROR;
    while (statement &&
           (status = sqlite3_step(statement.get())) == SQLITE_ROW) {
      if (rows_ == max_rows_) {
        return Error{ErrorCode::kLimit,
                     fmt::format("more than {} rows, the limit; reached in "
                                 "table {}",
                                 max_rows_, table)};
      }
      ++rows_;
      ++rows;
      take(Row(statement.get(), places));
    }
    if (status != SQLITE_DONE) {
      tables_.skipped.push_back(
          fmt::format("table {} breaks off after {} rows: {}", table, rows,
                      sqlite3_errmsg(database_.get())));
    }
    return {};
  }

  const Database database_;
  const std::uint64_t max_rows_;
  std::uint64_t rows_ = 0;
  NvprofTables& tables_;
};

std::uint32_t little_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value |= std::uint32_t{static_cast<std::uint8_t>(bytes[at + i])} << (8 * i);
  }
  return value;
}

// A marker's object is 4 bytes process, then 8 bytes thread.
constexpr std::size_t kObjectBytes = 8;

NvprofMarker marker_of(const Row& row) {
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

NvprofCall call_of(const Row& row) {
  return {row.integer(0),
          row.integer(1),
          row.integer(2),
          row.integer(3),
          row.integer(4),
          row.has(6),
          {row.integer(5), static_cast<std::int32_t>(row.integer(6))}};
}

Result<void> read_all(Reader& reader, NvprofTables& tables) {
  const std::vector<ColumnName> call_columns = {
      {"_id_", true},      {"cbid", true},          {"start", true},
      {"end", true},       {"correlationId", true}, {"processId", false},
      {"threadId", false},
  };
  Result<void> done = reader.read(
      "StringTable", {{"_id_", true}, {"value", true}}, [&](const Row& row) {
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
      [&](const Row& row) { tables.markers.push_back(marker_of(row)); });
  if (!done.ok()) return done;
  done = reader.read(
      "CUPTI_ACTIVITY_KIND_RUNTIME", call_columns,
      [&](const Row& row) { tables.runtime_calls.push_back(call_of(row)); });
  if (!done.ok()) return done;
  done = reader.read(
      "CUPTI_ACTIVITY_KIND_DRIVER", call_columns,
      [&](const Row& row) { tables.driver_calls.push_back(call_of(row)); });
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
                       [&](const Row& row) {
                         tables.kernels.push_back(
                             {row.integer(0), row.integer(1), row.integer(2),
                              row.integer(3), row.integer(4), row.integer(5)});
                       });
    if (!done.ok()) return done;
  }
  return {};
}

// The first bytes of the file, fewer if it is shorter.
Result<std::string> first_bytes(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kMagic.size(), '\0');
  if (file) file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file && !file.eof()) {
    return Error{ErrorCode::kIo,
                 "cannot read " + path + ": " +
                     (errno != 0 ? std::strerror(errno) : "not a file")};
  }
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '.');
  return text;
}

Result<Database> open(const std::string& path) {
  sqlite3* raw = nullptr;
  const int status =
      sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READONLY, nullptr);
  Database database(raw);
  if (status != SQLITE_OK || !database) {
    return Error{ErrorCode::kIo,
                 "cannot open " + path + ": " +
                     (raw ? sqlite3_errmsg(raw) : sqlite3_errstr(status))};
  }
  // The file may be made to harm: nothing in it may run.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, kLongestValueBytes);
  return database;
}

}  // namespace

Result<NvprofTables> read_nvprof_tables(const std::string& path,
                                        std::uint64_t max_rows) {
  NvprofTables tables;
  const Result<std::string> begin = first_bytes(path);
  if (!begin.ok()) return begin.error();
  if (begin->empty()) {
    tables.skipped.push_back("the file is empty");
    return tables;
  }
  if (*begin != kMagic) {
    return Error{ErrorCode::kUnsupported,
                 path + " is not an nvprof database: it begins with \"" +
                     printable(*begin) + "\" instead of \"SQLite format 3\""};
  }
  Result<Database> database = open(path);
  if (!database.ok()) return database.error();
  Reader reader(std::move(*database), max_rows, tables);
  const Result<void> done = read_all(reader, tables);
  if (!done.ok()) {
    return Error{done.error().code, path + ": " + done.error().message};
  }
  return tables;
}

}  // namespace weft::profile
