// SPDX-License-Identifier: Apache-2.0
#include "nvprof_fixture.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <initializer_list>
#include <stdexcept>

namespace weft::testing_support {
namespace {

std::string values(std::initializer_list<std::int64_t> numbers) {
  std::string text = " VALUES (";
  const char* separator = "";
  for (const std::int64_t number : numbers) {
    text += separator + std::to_string(number);
    separator = ", ";
  }
  return text + ")";
}

}  // namespace

NvprofFile::NvprofFile(std::string_view name)
    : path_(testing::TempDir() + "weft_" + std::to_string(getpid()) + "_" +
            std::string(name)) {
  std::remove(path_.c_str());
  if (sqlite3_open(path_.c_str(), &database_) != SQLITE_OK) {
    throw std::runtime_error("cannot create " + path_);
  }
}

NvprofFile::~NvprofFile() {
  close();
  std::remove(path_.c_str());
}

void NvprofFile::close() {
  sqlite3_close(database_);
  database_ = nullptr;
}

void NvprofFile::run(const std::string& sql) {
  if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) !=
      SQLITE_OK) {
    throw std::runtime_error(sql + ": " + sqlite3_errmsg(database_));
  }
}

void NvprofFile::create_tables() {
  run("BEGIN; CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT)");
  run("CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (id INT, name INT, timestamp "
      "INT)");
  run("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (_id_ INT, cbid INT, start "
      "INT, end INT, correlationId INT)");
  run("CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start INT, end INT, "
      "name INT, correlationId INT); COMMIT");
}

void NvprofFile::add_string(std::int64_t id, std::string_view value) {
  run("INSERT INTO StringTable VALUES (" + std::to_string(id) + ", '" +
      std::string(value) + "')");
}

void NvprofFile::add_marker(std::int64_t id, std::int64_t name,
                            std::int64_t at) {
  run("INSERT INTO CUPTI_ACTIVITY_KIND_MARKER (id, name, timestamp)" +
      values({id, name, at}));
}

void NvprofFile::add_call(std::int64_t row, std::int64_t cbid,
                          std::int64_t start, std::int64_t end,
                          std::int64_t correlation) {
  run("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (_id_, cbid, start, end, "
      "correlationId)" +
      values({row, cbid, start, end, correlation}));
}

void NvprofFile::add_kernel(std::int64_t start, std::int64_t end,
                            std::int64_t name, std::int64_t correlation) {
  run("INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start, end, name, "
      "correlationId)" +
      values({start, end, name, correlation}));
}

}  // namespace weft::testing_support
