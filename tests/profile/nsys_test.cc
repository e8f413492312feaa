// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/nsys.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fuzz/import_seeds.h"
#include "weft/profile/database_facts.h"

namespace weft {
namespace {

class NsysFile : public testing::Test {
 protected:
  NsysImport import(const std::string& sql) {
    test::write_file(path_.str(), test::database_of(sql));
    auto imported = import_nsys(path_.str());
    EXPECT_TRUE(imported.ok()) << imported.error().message;
    return imported.ok() ? *std::move(imported) : NsysImport();
  }
  const std::string& path() const { return path_.str(); }

 private:
  test::TempPath path_{".sqlite"};
};

const FunctionEvent* find(const NsysImport& import, const std::string& name) {
  for (const FunctionEvent& event : import.events) {
    if (event.name == name) return &event;
  }
  return nullptr;
}

bool says(const NsysImport& import, const std::string& text) {
  return std::any_of(import.skipped.begin(), import.skipped.end(),
                     [&](const std::string& line) {
                       return line.find(text) != line.npos;
                     });
}

TEST_F(NsysFile, RangesCallsAndWorkAreRows) {
  const NsysImport trace = import(test::nsys_sql());
  // Named by text, and by an id of the string table.
  const FunctionEvent* outer = find(trace, "outer");
  const FunctionEvent* registered = find(trace, "registered");
  ASSERT_NE(outer, nullptr);
  ASSERT_NE(registered, nullptr);
  EXPECT_EQ(outer->duration_ns(), 800);
  EXPECT_EQ(outer->start_ns, 0);
  EXPECT_EQ(trace.first_timestamp_ns, 100);
  EXPECT_EQ(trace.capture_start_unix_ns, 1700000000000);
  EXPECT_EQ(trace.events[registered->parent].name, "outer");
  EXPECT_TRUE(find(trace, "async")->is_async);
  // The kernel and the copy that the call started belong to the range around.
  EXPECT_EQ(registered->kernels.size(), 2u);
  EXPECT_FALSE(find(trace, "gemm(int)")->is_host());
  EXPECT_EQ(find(trace, "gemm(int)")->stream, 7);
  EXPECT_NE(find(trace, "Memcpy HtoD"), nullptr);
  ASSERT_EQ(trace.threads.size(), 1u);
  EXPECT_EQ(trace.threads[0].pid, 1);
  EXPECT_EQ(trace.threads[0].tid, 2);
  EXPECT_EQ(trace.threads[0].name, "main thread");
}

// Call chains double every call: time must not double.
TEST_F(NsysFile, CallOfTwoRowsIsOneCall) {
  const NsysImport trace = import(test::nsys_sql());
  const auto calls = std::count_if(
      trace.events.begin(), trace.events.end(),
      [](const FunctionEvent& e) { return e.name == "cudaLaunchKernel"; });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(find(trace, "cudaLaunchKernel")->duration_ns(), 100);
  EXPECT_TRUE(says(trace, "1 calls that another row tells of already"));
}

TEST_F(NsysFile, WhatIsLeftOutIsSaid) {
  const NsysImport trace = import(test::nsys_sql());
  EXPECT_TRUE(says(trace, "1 instant marks"));
  EXPECT_TRUE(says(trace, "1 ranges without an end"));
  EXPECT_TRUE(says(trace, "1 pieces of device work that no call launched"));
}

// Old exports lack tables and columns; a failed run has hardly any.
TEST_F(NsysFile, OldSchemasReadAsFarAsTheyGo) {
  const NsysImport failed = import(
      "CREATE TABLE StringIds(id INT, value TEXT);"
      "CREATE TABLE TARGET_INFO_GPU(name TEXT);");
  EXPECT_TRUE(failed.events.empty());
  const NsysImport old = import(
      "CREATE TABLE StringIds(id INT, value TEXT);"
      "INSERT INTO StringIds VALUES(1,'k');"
      "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text TEXT);"
      "INSERT INTO NVTX_EVENTS VALUES(5,9,59,'r');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, "
      "demangledName INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(6,8,1);");
  EXPECT_EQ(old.events.size(), 2u);
  const NsysImport other = import(
      "CREATE TABLE StringIds(id INT, value TEXT);"
      "CREATE TABLE NVTX_EVENTS(begin INT, finish INT);");
  EXPECT_TRUE(says(other, "table NVTX_EVENTS has no column start: not read"));
}

TEST_F(NsysFile, OtherFilesAreRefusedInWords) {
  test::write_file(path(), test::database_of(test::nvprof_sql()));
  EXPECT_EQ(import_nsys(path()).error().code, ErrorCode::kUnsupported);
  EXPECT_FALSE(*is_nsys_file(path()));
  test::write_file(path(), {'{', '}'});
  EXPECT_EQ(import_nsys(path()).error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(import_nsys("/nonexistent").error().code, ErrorCode::kIo);
  test::write_file(path(), test::database_of(test::nsys_sql()));
  EXPECT_TRUE(*is_nsys_file(path()));
  EXPECT_EQ(import_nsys(path(), {3}).error().code, ErrorCode::kLimit);
}

// A view could compute for ever: it is no table.
TEST_F(NsysFile, ViewsAreNotRead) {
  const NsysImport trace = import(
      "CREATE TABLE StringIds(id INT, value TEXT);"
      "CREATE VIEW NVTX_EVENTS AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL "
      "SELECT x FROM n) SELECT x AS start, x AS end, 59 AS eventType FROM n;");
  EXPECT_TRUE(trace.events.empty());
  EXPECT_TRUE(database_facts(path()).ok());
}

}  // namespace
}  // namespace weft
