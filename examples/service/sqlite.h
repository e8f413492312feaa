// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXAMPLES_SERVICE_SQLITE_H_
#define WEFT_EXAMPLES_SERVICE_SQLITE_H_

// As much of SQLite as the service needs. Failures are thrown as
// std::runtime_error with SQLite's own words.

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace service {

// One connection to a database file. One thread at a time.
class Connection {
 public:
  explicit Connection(const std::filesystem::path& file);

  void execute(const char* sql);
  // Rows that the last statement changed.
  std::int64_t changed_rows() const noexcept;
  sqlite3* handle() const noexcept { return handle_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const noexcept { sqlite3_close(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

// A statement that is prepared once and run many times. Outlived by its
// connection. One thread at a time.
class Statement {
 public:
  Statement(Connection& connection, std::string_view sql);

  // Parameters count from 1. Text must stay until the statement is reset.
  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, std::string_view text);
  // True: there is a row to read. False: the statement has run to its end.
  bool step();
  // Columns count from 0.
  std::int64_t integer(int column) const noexcept;
  std::string text(int column) const;
  // Ready to be bound again; releases what the run held.
  void reset() noexcept;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const noexcept {
      sqlite3_finalize(handle);
    }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

}  // namespace service

#endif  // WEFT_EXAMPLES_SERVICE_SQLITE_H_
