// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets of the importers do, for a fixed set of mutations and
// any compiler.

#include <gtest/gtest.h>

#include <random>

#include "fuzz/byte_mutation.h"
#include "fuzz/import_exercise.h"
#include "fuzz/import_seeds.h"

namespace weft::test {
namespace {

constexpr int kMutations = 500;

TEST(ImportMutation, NoChromeTraceHarmsTheReader) {
  std::mt19937_64 random(20240602);
  InputFile file;
  for (const Bytes& seed : chrome_seeds()) {
    for (int i = 0; i < kMutations; ++i) {
      Bytes bytes = seed;
      mutate(&bytes, &random, 0);
      exercise_chrome(file.hold(bytes.data(), bytes.size()));
    }
  }
}

TEST(ImportMutation, NoDatabaseHarmsTheReader) {
  std::mt19937_64 random(20240603);
  InputFile file;
  for (const Bytes& seed : database_seeds()) {
    for (int i = 0; i < kMutations; ++i) {
      Bytes bytes = seed;
      mutate(&bytes, &random, 16);  // past the magic number
      exercise_database(file.hold(bytes.data(), bytes.size()));
    }
  }
}

TEST(ImportMutation, SeedsAreWhole) {
  InputFile file;
  for (const Bytes& seed : chrome_seeds()) {
    const auto import =
        import_chrome_trace(file.hold(seed.data(), seed.size()));
    ASSERT_TRUE(import.ok()) << import.error().message;
    EXPECT_GE(import->events.size(), 2u);
  }
  const auto databases = database_seeds();
  const auto nvprof = parse_nvprof_trace(
      file.hold(databases[0].data(), databases[0].size()));
  ASSERT_TRUE(nvprof.ok()) << nvprof.error().message;
  EXPECT_EQ(nvprof->events.size(), 2u);
  const auto nsys =
      import_nsys(file.hold(databases[1].data(), databases[1].size()));
  ASSERT_TRUE(nsys.ok()) << nsys.error().message;
  EXPECT_EQ(nsys->events.size(), 7u);
}

}  // namespace
}  // namespace weft::test
