// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_SQLITE_TABLES_H_
#define WEFT_PROFILE_SRC_SQLITE_TABLES_H_

// Reads the tables of an SQLite file that somebody else wrote, perhaps to harm:
// it is opened read-only, only real tables are read (a view could compute for
// ever), columns are looked up by name, and rows and values have limits.

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "weft/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace weft::profile {

// One row of a query; columns that the table does not have read as null.
class SqliteRow {
 public:
  SqliteRow(sqlite3_stmt* statement, const std::vector<int>& places)
      : statement_(statement), places_(places) {}

  // In the order of the columns asked for.
  bool has(std::size_t column) const;
  bool is_text(std::size_t column) const;
  std::int64_t integer(std::size_t column) const;  // 0 for null
  std::string_view bytes(std::size_t column) const;

 private:
  sqlite3_stmt* statement_;
  const std::vector<int>& places_;
};

struct SqliteColumn {
  const char* name;
  bool required;
};

class SqliteTables {
 public:
  using Take = std::function<void(const SqliteRow&)>;

  // `what` names the kind of file in errors. What cannot be read goes into
  // `skipped`, which must outlive this, as sentences.
  //
  // Errors: kIo           the file cannot be opened
  //         kUnsupported  not a database: the message has its first bytes
  static Result<SqliteTables> open(const std::string& path, const char* what,
                                   std::uint64_t max_rows,
                                   std::vector<std::string>& skipped);
  ~SqliteTables();
  SqliteTables(SqliteTables&&) noexcept;

  // A file of no bytes: a database without tables.
  bool is_empty_file() const noexcept { return database_ == nullptr; }

  // Names of the real tables, sorted; without SQLite's own.
  const std::set<std::string>& names() const noexcept { return names_; }
  bool has(const std::string& table) const { return names_.count(table) != 0; }

  // Reads what is there of a table, in the order of its rows.
  //
  // Errors: kLimit  more rows than are left
  Result<void> read(const std::string& table,
                    const std::vector<SqliteColumn>& columns, const Take& take);
  // The same of a table that need not be there.
  Result<void> read_if_there(const std::string& table,
                             const std::vector<SqliteColumn>& columns,
                             const Take& take);
  // All columns of all rows.
  Result<void> read_all(const std::string& table,
                        const std::function<void(std::string_view text)>& take);

  // Errors: kLimit
  Result<std::uint64_t> rows_of(const std::string& table);
  std::int64_t page_bytes();

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  struct Finish {
    void operator()(sqlite3_stmt* statement) const;
  };
  using Database = std::unique_ptr<sqlite3, Close>;
  using Statement = std::unique_ptr<sqlite3_stmt, Finish>;

  SqliteTables(Database database, std::uint64_t max_rows,
               std::vector<std::string>& skipped);
  Statement prepare(const std::string& query);
  std::int64_t number(const std::string& query);
  std::vector<std::string> columns_of(const std::string& table);
  Result<void> run(const std::string& table, const std::string& query,
                   const std::function<void(sqlite3_stmt*)>& take);

  Database database_;
  std::uint64_t max_rows_;
  std::uint64_t rows_ = 0;
  std::vector<std::string>& skipped_;
  std::set<std::string> names_;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_SQLITE_TABLES_H_
