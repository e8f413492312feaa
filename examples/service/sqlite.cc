// SPDX-License-Identifier: Apache-2.0
#include "sqlite.h"

#include <stdexcept>

namespace service {
namespace {

// Readers may meet a checkpoint, and the first reader a recovery.
constexpr int kBusyTimeoutMs = 2000;

[[noreturn]] void fail(sqlite3* connection, std::string_view doing) {
  throw std::runtime_error(std::string(doing) + ": " +
                           sqlite3_errmsg(connection));
}

}  // namespace

Connection::Connection(const std::filesystem::path& file) {
  sqlite3* handle = nullptr;
  const int result = sqlite3_open_v2(
      file.c_str(), &handle,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
      nullptr);
  handle_.reset(handle);
  if (result != SQLITE_OK) fail(handle, file.string());
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  execute("PRAGMA journal_mode=WAL");
  execute("PRAGMA synchronous=NORMAL");
}

void Connection::execute(const char* sql) {
  if (sqlite3_exec(handle(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail(handle(), sql);
  }
}

std::int64_t Connection::changed_rows() const noexcept {
  return sqlite3_changes64(handle());
}

Statement::Statement(Connection& connection, std::string_view sql) {
  sqlite3_stmt* handle = nullptr;
  const int result = sqlite3_prepare_v3(
      connection.handle(), sql.data(), static_cast<int>(sql.size()),
      SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
  handle_.reset(handle);
  if (result != SQLITE_OK) fail(connection.handle(), sql);
}

Statement& Statement::bind(int parameter, std::int64_t value) {
  if (sqlite3_bind_int64(handle_.get(), parameter, value) != SQLITE_OK) {
    fail(sqlite3_db_handle(handle_.get()), sqlite3_sql(handle_.get()));
  }
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  if (sqlite3_bind_text64(handle_.get(), parameter, text.data(), text.size(),
                          SQLITE_STATIC, SQLITE_UTF8) != SQLITE_OK) {
    fail(sqlite3_db_handle(handle_.get()), sqlite3_sql(handle_.get()));
  }
  return *this;
}

bool Statement::step() {
  const int result = sqlite3_step(handle_.get());
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  fail(sqlite3_db_handle(handle_.get()), sqlite3_sql(handle_.get()));
}

std::int64_t Statement::integer(int column) const noexcept {
  return sqlite3_column_int64(handle_.get(), column);
}

std::string Statement::text(int column) const {
  const unsigned char* const bytes = sqlite3_column_text(handle_.get(), column);
  const int size = sqlite3_column_bytes(handle_.get(), column);
  if (bytes == nullptr) return {};
  return std::string(reinterpret_cast<const char*>(bytes),
                     static_cast<std::size_t>(size));
}

void Statement::reset() noexcept { sqlite3_reset(handle_.get()); }

}  // namespace service
