// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/nvprof.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "nvprof_fixture.h"

namespace weft {
namespace {

using testing_support::NvprofFile;

constexpr std::int64_t kOldLaunch = 13;
constexpr std::int64_t kLaunchKernel = 211;

// A range "render" around a range "gemm" with one launch of one kernel.
void fill(NvprofFile& file, std::int64_t cbid) {
  file.create_tables();
  file.add_string(1, "render");
  file.add_string(2, "gemm");
  file.add_string(3, "_Z6kernelv");
  file.add_marker(10, 1, 100);
  file.add_marker(11, 2, 200);
  file.add_marker(11, 0, 800);
  file.add_marker(10, 0, 1000);
  file.add_call(1, cbid, 300, 350, 77);
  file.add_kernel(400, 700, 3, 77);
}

bool says(const NvprofImport& import, const std::string& text) {
  for (const std::string& line : import.skipped) {
    if (line.find(text) != std::string::npos) return true;
  }
  return false;
}

const FunctionEvent* find(const EventList& list, const std::string& name) {
  for (const FunctionEvent& event : list) {
    if (event.name == name) return &event;
  }
  return nullptr;
}

NvprofImport import_of(NvprofFile& file) {
  file.close();
  auto import = parse_nvprof_trace(file.path());
  EXPECT_TRUE(import.ok()) << import.error().message;
  return import.ok() ? *std::move(import) : NvprofImport();
}

void expect_complete(const NvprofImport& import) {
  const FunctionEvent* gemm = find(import.events, "gemm");
  const FunctionEvent* render = find(import.events, "render");
  const FunctionEvent* kernel = find(import.events, "kernel()");
  ASSERT_TRUE(gemm != nullptr && render != nullptr && kernel != nullptr);
  EXPECT_EQ(import.first_timestamp_ns, 100);
  EXPECT_EQ(render->start_ns, 0);
  EXPECT_EQ(render->end_ns, 900);
  EXPECT_EQ(import.events[gemm->parent].name, "render");
  EXPECT_EQ(gemm->self_device_time_total_ns[DeviceFamily::kCuda], 300);
  EXPECT_EQ(render->self_device_time_total_ns[DeviceFamily::kCuda], 0);
  EXPECT_EQ(render->device_time_total_ns[DeviceFamily::kCuda], 300);
  EXPECT_EQ(kernel->duration_ns(), 300);
}

TEST(K8_07, OldLaunchesAreRead) {
  NvprofFile file("old.nvprof");
  fill(file, kOldLaunch);
  expect_complete(import_of(file));
}

TEST(K8_07, NewLaunchesAreRead) {
  NvprofFile file("new.nvprof");
  fill(file, kLaunchKernel);
  expect_complete(import_of(file));
}

TEST(K8_07, DriverLaunchesAreRead) {
  NvprofFile file("driver.nvprof");
  fill(file, kLaunchKernel);
  file.run(
      "ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME RENAME TO "
      "CUPTI_ACTIVITY_KIND_DRIVER");
  const NvprofImport import = import_of(file);
  expect_complete(import);
  EXPECT_TRUE(says(import, "no table CUPTI_ACTIVITY_KIND_RUNTIME"));
}

TEST(K8_07, WithoutCallsKernelsAreRowsOfNobody) {
  NvprofFile file("no_calls.nvprof");
  fill(file, kLaunchKernel);
  file.run("DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME");
  const NvprofImport import = import_of(file);
  EXPECT_NE(find(import.events, "kernel()"), nullptr);
  EXPECT_TRUE(find(import.events, "gemm")->kernels.empty());
  EXPECT_TRUE(says(import, "1 kernels that no call"));
}

TEST(K8_07, WithoutKernelTableRangesAreRead) {
  NvprofFile file("no_kernels.nvprof");
  fill(file, kLaunchKernel);
  file.run("DROP TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL");
  const NvprofImport import = import_of(file);
  EXPECT_EQ(import.events.size(), 2u);
  EXPECT_TRUE(says(import, "no table CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"));
}

TEST(K8_07, OrphanKernelIsARowAndIsCounted) {
  NvprofFile file("orphan.nvprof");
  fill(file, kLaunchKernel);
  file.add_kernel(900, 950, 3, 4711);
  const NvprofImport import = import_of(file);
  EXPECT_EQ(import.events.size(), 4u);
  EXPECT_TRUE(says(import, "1 kernels that no call"));
}

TEST(K8_07, OneCallMayOwnSeveralKernels) {
  NvprofFile file("graph.nvprof");
  fill(file, kLaunchKernel);
  file.add_kernel(700, 760, 3, 77);
  const NvprofImport import = import_of(file);
  EXPECT_EQ(find(import.events, "gemm")->kernels.size(), 2u);
}

TEST(K8_07, MalformedRangesAreCounted) {
  NvprofFile file("ranges.nvprof");
  fill(file, kLaunchKernel);
  file.add_marker(20, 1, 2000);  // never ends
  file.add_marker(21, 0, 2100);  // never begins
  file.add_marker(10, 0, 2200);  // ends again
  file.add_marker(22, 1, 2400);  // ends before it begins
  file.add_marker(22, 0, 2300);
  file.add_marker(23, 99, 2500);  // no such string
  file.add_marker(23, 0, 2600);
  file.add_marker(24, 1, 2700);
  file.add_marker(24, 1, 2800);  // begins again
  file.add_marker(24, 0, 2900);
  const NvprofImport import = import_of(file);
  EXPECT_TRUE(says(import, "1 ranges without an end"));
  EXPECT_TRUE(says(import, "2 range ends without a begin"));
  EXPECT_TRUE(says(import, "1 intervals that end before they begin"));
  EXPECT_TRUE(says(import, "1 ranges that began again before they ended"));
  EXPECT_TRUE(says(import, "1 names whose string is missing"));
  EXPECT_NE(find(import.events, "string 99"), nullptr);
}

// D-23: kernels launched by one thread inside another thread's range.
TEST(K8_07, D23_CallsBelongToRangesOfTheirOwnThread) {
  NvprofFile file("threads.nvprof");
  fill(file, kLaunchKernel);
  file.run("ALTER TABLE CUPTI_ACTIVITY_KIND_MARKER ADD COLUMN objectKind INT");
  file.run("ALTER TABLE CUPTI_ACTIVITY_KIND_MARKER ADD COLUMN objectId BLOB");
  // Process 5, thread -2 as 64 bits little endian.
  file.run(
      "UPDATE CUPTI_ACTIVITY_KIND_MARKER SET objectKind = 2, objectId = "
      "x'05000000feffffff00000000'");
  file.run("ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME ADD COLUMN processId INT");
  file.run("ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME ADD COLUMN threadId INT");
  file.run(
      "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET processId = 5, threadId = "
      "-2");
  file.run(
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (2, 211, 500, 510, "
      "78, 5, 6)");
  file.add_kernel(800, 810, 3, 78);
  const NvprofImport import = import_of(file);
  expect_complete(import);
  EXPECT_EQ(find(import.events, "gemm")->kernels.size(), 1u);
}

TEST(K8_07, InstantMarkersAreCounted) {
  NvprofFile file("instants.nvprof");
  fill(file, kLaunchKernel);
  file.run("ALTER TABLE CUPTI_ACTIVITY_KIND_MARKER ADD COLUMN flags INT");
  file.run("INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (30, 1, 500, 1)");
  const NvprofImport import = import_of(file);
  EXPECT_TRUE(says(import, "1 instant markers"));
  expect_complete(import);
}

TEST(K8_07, TableWithoutANeededColumnIsSkipped) {
  NvprofFile file("columns.nvprof");
  fill(file, kLaunchKernel);
  file.run(
      "ALTER TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL RENAME COLUMN "
      "correlationId TO somethingElse");
  const NvprofImport import = import_of(file);
  EXPECT_TRUE(says(import, "has no column correlationId"));
  EXPECT_EQ(import.events.size(), 2u);
}

TEST(K8_07, EmptyDatabaseAndEmptyFileAreEmptyLists) {
  NvprofFile database("empty.nvprof");
  database.create_tables();
  EXPECT_TRUE(import_of(database).events.empty());

  NvprofFile file("nothing.nvprof");
  file.close();
  std::ofstream(file.path(), std::ios::trunc).close();
  const NvprofImport import = import_of(file);
  EXPECT_TRUE(import.events.empty());
  EXPECT_TRUE(says(import, "the file is empty"));
}

TEST(K8_07, CutDatabaseGivesWhatCanBeRead) {
  NvprofFile file("cut.nvprof");
  file.create_tables();
  file.run("BEGIN");
  file.add_string(1, "request");
  constexpr std::int64_t kRanges = 2000;
  for (std::int64_t i = 0; i < kRanges; ++i) {
    file.add_marker(i, 1, 10 * i);
    file.add_marker(i, 0, 10 * i + 5);
  }
  file.run("COMMIT");
  file.close();
  const auto size = std::filesystem::file_size(file.path());
  for (const std::uintmax_t kept :
       {size / 2, size - 100, std::uintmax_t{100}}) {
    std::filesystem::resize_file(file.path(), kept);
    const auto import = parse_nvprof_trace(file.path());
    ASSERT_TRUE(import.ok()) << kept << ": " << import.error().message;
    EXPECT_LT(import->events.size(), static_cast<std::size_t>(kRanges));
    EXPECT_FALSE(import->skipped.empty());
    std::filesystem::resize_file(file.path(), size);
  }
}

TEST(K8_07, OtherFilesAreRefusedWithTheirFirstBytes) {
  NvprofFile file("xml.nvvp");
  file.close();
  std::ofstream(file.path()) << "<?xml version=\"1.0\"?><project/>";
  const auto import = parse_nvprof_trace(file.path());
  ASSERT_FALSE(import.ok());
  EXPECT_EQ(import.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(import.error().message.find("<?xml version=\""), std::string::npos);
  EXPECT_EQ(parse_nvprof_trace("/nowhere/at/all").error().code, ErrorCode::kIo);
}

TEST(NvprofImport, RowLimitIsAnError) {
  NvprofFile file("limit.nvprof");
  fill(file, kLaunchKernel);
  file.close();
  NvprofOptions options;
  options.max_rows = 5;
  EXPECT_EQ(parse_nvprof_trace(file.path(), options).error().code,
            ErrorCode::kLimit);
}

// A view can compute for ever; only tables are read.
TEST(NvprofImport, ViewsInPlaceOfTablesAreNotRun) {
  NvprofFile file("view.nvprof");
  file.run("CREATE TABLE StringTable (_id_ INT, value TEXT)");
  file.run(
      "CREATE VIEW CUPTI_ACTIVITY_KIND_MARKER AS WITH RECURSIVE n(id) AS "
      "(SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, 1 AS name, id "
      "AS timestamp FROM n");
  const NvprofImport import = import_of(file);
  EXPECT_TRUE(says(import, "no table CUPTI_ACTIVITY_KIND_MARKER"));
}

TEST(NvprofImport, D24_ImportedListsAreAveragedAndPrinted) {
  NvprofFile file("d24.nvprof");
  fill(file, kLaunchKernel);
  const NvprofImport import = import_of(file);
  EXPECT_EQ(import.events.key_averages().size(), 3u);
  EXPECT_NE(import.events.table().find("Self CUDA time total: 0.300us"),
            std::string::npos)
      << import.events.table();
}

}  // namespace
}  // namespace weft
