// SPDX-License-Identifier: Apache-2.0

// A program whose units were compiled in different ways.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "mixed/unit.h"
#include "weft/export/trace_reader.h"
#include "weft/weft.h"

namespace {

using weft::exporters::DecodedRecord;
using weft::exporters::TraceReader;

// A header that means something else in each unit gives spans that begin one
// way and end another.
TEST(K7_01, EachUnitDoesWhatItWasBuiltFor) {
  const std::string path =
      (std::filesystem::path(testing::TempDir()) / "mixed_units.weft").string();
  ASSERT_TRUE(weft::init(path).ok());
  recorded_with_cxx17();
  compiled_out();
  recorded_with_cxx20_and_ndebug();
  ASSERT_TRUE(weft::shutdown().ok());

  auto reader = TraceReader::open(path);
  ASSERT_TRUE(reader.ok());
  std::map<std::string, int> begun;
  std::map<weft::RecordKind, int> kinds;
  DecodedRecord record;
  while (reader->next(&record)) {
    ++kinds[record.kind];
    if (record.kind == weft::RecordKind::kSpanBegin)
      ++begun[std::string(reader->info().name_of(record))];
  }
  EXPECT_EQ(begun["recorded_with_cxx17"], 1);
  EXPECT_EQ(begun["recorded_with_cxx20_and_ndebug"], 1);
  EXPECT_EQ(begun["compiled_out"], 0);
  EXPECT_EQ(begun["here"], 2);
  EXPECT_EQ(kinds[weft::RecordKind::kSpanEnd], 4);
  EXPECT_EQ(kinds[weft::RecordKind::kInstant], 2);
  EXPECT_EQ(kinds[weft::RecordKind::kArgument], 2);
  // Not macros: they do the same in every unit.
  EXPECT_EQ(kinds[weft::RecordKind::kAsyncBegin], 3);
  EXPECT_EQ(kinds[weft::RecordKind::kAsyncEnd], 3);
  std::filesystem::remove(path);
}

}  // namespace
