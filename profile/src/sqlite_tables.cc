// SPDX-License-Identifier: Apache-2.0
#include "sqlite_tables.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace weft::profile {
namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr int kLongestValueBytes = 16 << 20;

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

// As an SQL identifier.
std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text.append(c == '"' ? 2 : 1, c);
  return text + '"';
}

std::string_view column_bytes(sqlite3_stmt* statement, int column) {
  const void* data = sqlite3_column_blob(statement, column);
  if (data == nullptr) return {};
  const int size = sqlite3_column_bytes(statement, column);
  return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

}  // namespace

void SqliteTables::Close::operator()(sqlite3* database) const {
  sqlite3_close(database);
}

void SqliteTables::Finish::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

bool SqliteRow::has(std::size_t column) const {
  return places_[column] >= 0 &&
         sqlite3_column_type(statement_, places_[column]) != SQLITE_NULL;
}

bool SqliteRow::is_text(std::size_t column) const {
  return places_[column] >= 0 &&
         sqlite3_column_type(statement_, places_[column]) == SQLITE_TEXT;
}

std::int64_t SqliteRow::integer(std::size_t column) const {
  return has(column) ? sqlite3_column_int64(statement_, places_[column]) : 0;
}

std::string_view SqliteRow::bytes(std::size_t column) const {
  return has(column) ? column_bytes(statement_, places_[column])
                     : std::string_view();
}

Result<SqliteTables> SqliteTables::open(const std::string& path,
                                        const char* what,
                                        std::uint64_t max_rows,
                                        std::vector<std::string>& skipped) {
  const Result<std::string> begin = first_bytes(path);
  if (!begin.ok()) return begin.error();
  if (begin->empty()) {
    skipped.emplace_back("the file is empty");
    return SqliteTables(nullptr, max_rows, skipped);
  }
  if (*begin != kMagic) {
    return Error{ErrorCode::kUnsupported,
                 path + " is not " + what + ": it begins with \"" +
                     printable(*begin) + "\" instead of \"SQLite format 3\""};
  }
  sqlite3* raw = nullptr;
  const int status =
      sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READONLY, nullptr);
  Database database(raw);
  if (status != SQLITE_OK || !database) {
    return Error{ErrorCode::kIo,
                 "cannot open " + path + ": " +
                     (raw ? sqlite3_errmsg(raw) : sqlite3_errstr(status))};
  }
  // Nothing in the file may run.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, kLongestValueBytes);
  return SqliteTables(std::move(database), max_rows, skipped);
}

SqliteTables::SqliteTables(Database database, std::uint64_t max_rows,
                           std::vector<std::string>& skipped)
    : database_(std::move(database)), max_rows_(max_rows), skipped_(skipped) {
  if (database_ == nullptr) return;
  const Statement tables = prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' "
      "AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE 'sqlite!_%' "
      "ESCAPE '!'");
  int status = SQLITE_ERROR;
  while (tables && (status = sqlite3_step(tables.get())) == SQLITE_ROW) {
    names_.emplace(column_bytes(tables.get(), 0));
  }
  if (status != SQLITE_DONE) {
    skipped_.push_back(std::string("the list of tables breaks off: ") +
                       sqlite3_errmsg(database_.get()));
  }
}

SqliteTables::~SqliteTables() = default;
SqliteTables::SqliteTables(SqliteTables&&) noexcept = default;

SqliteTables::Statement SqliteTables::prepare(const std::string& query) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database_.get(), query.c_str(), -1, &statement, nullptr);
  return Statement(statement);
}

std::int64_t SqliteTables::number(const std::string& query) {
  if (database_ == nullptr) return 0;
  const Statement statement = prepare(query);
  if (!statement || sqlite3_step(statement.get()) != SQLITE_ROW) return 0;
  return sqlite3_column_int64(statement.get(), 0);
}

Result<std::uint64_t> SqliteTables::rows_of(const std::string& table) {
  std::uint64_t rows = 0;
  if (!has(table)) return rows;
  const Result<void> done = run(table, "SELECT 1 FROM " + quoted(table),
                                [&](sqlite3_stmt*) { ++rows; });
  if (!done.ok()) return done.error();
  return rows;
}

std::int64_t SqliteTables::page_bytes() { return number("PRAGMA page_size"); }

std::vector<std::string> SqliteTables::columns_of(const std::string& table) {
  std::vector<std::string> columns;
  if (!has(table)) return columns;
  const Statement info = prepare("PRAGMA table_info(" + quoted(table) + ")");
  while (info && sqlite3_step(info.get()) == SQLITE_ROW) {
    columns.emplace_back(column_bytes(info.get(), 1));
  }
  return columns;
}

Result<void> SqliteTables::read(const std::string& table,
                                const std::vector<SqliteColumn>& columns,
                                const Take& take) {
  if (!has(table)) {
    skipped_.push_back("there is no table " + table);
    return {};
  }
  const std::vector<std::string> present = columns_of(table);
  std::string query;
  std::vector<int> places;
  int next = 0;
  for (const SqliteColumn& column : columns) {
    if (std::find(present.begin(), present.end(), column.name) ==
        present.end()) {
      if (column.required) {
        skipped_.push_back(fmt::format("table {} has no column {}: not read",
                                       table, column.name));
        return {};
      }
      places.push_back(-1);
      continue;
    }
    query += (next == 0 ? "SELECT " : ", ") + quoted(column.name);
    places.push_back(next++);
  }
  if (next == 0) return {};
  query += " FROM " + quoted(table) + " ORDER BY rowid";
  return run(table, query, [&](sqlite3_stmt* statement) {
    take(SqliteRow(statement, places));
  });
}

Result<void> SqliteTables::read_if_there(
    const std::string& table, const std::vector<SqliteColumn>& columns,
    const Take& take) {
  if (!has(table)) return {};
  return read(table, columns, take);
}

Result<void> SqliteTables::read_all(
    const std::string& table,
    const std::function<void(std::string_view text)>& take) {
  if (!has(table)) return {};
  return run(table, "SELECT * FROM " + quoted(table),
             [&](sqlite3_stmt* statement) {
               const int columns = sqlite3_column_count(statement);
               for (int i = 0; i < columns; ++i) {
                 if (sqlite3_column_type(statement, i) == SQLITE_TEXT) {
                   take(column_bytes(statement, i));
                 }
               }
             });
}

Result<void> SqliteTables::run(
    const std::string& table, const std::string& query,
    const std::function<void(sqlite3_stmt*)>& take) {
  const Statement statement = prepare(query);
  std::uint64_t rows = 0;
  int status = SQLITE_ERROR;
  while (statement && (status = sqlite3_step(statement.get())) == SQLITE_ROW) {
    if (rows_ == max_rows_) {
      return Error{
          ErrorCode::kLimit,
          fmt::format("more than {} rows, the limit; reached in table {}",
                      max_rows_, table)};
    }
    ++rows_;
    ++rows;
    take(statement.get());
  }
  if (status != SQLITE_DONE) {
    skipped_.push_back(fmt::format("table {} breaks off after {} rows: {}",
                                   table, rows,
                                   sqlite3_errmsg(database_.get())));
  }
  return {};
}

}  // namespace weft::profile
