// SPDX-License-Identifier: Apache-2.0
// What the fuzz target does, for a fixed set of mutations and any compiler.

#include <gtest/gtest.h>

#include <random>

#include "fuzz/byte_mutation.h"
#include "fuzz/trace_exercise.h"
#include "fuzz/trace_seeds.h"

namespace weft::exporters {
namespace {

TEST(TraceMutation, NoInputHarmsTheReader) {
  std::mt19937_64 random(20240601);
  for (const test::Bytes& seed : test::trace_seeds()) {
    exercise(seed.data(), seed.size());
    for (int i = 0; i < 3000; ++i) {
      test::Bytes bytes = seed;
      test::mutate(&bytes, &random, sizeof(FileHeader));
      exercise(bytes.data(), bytes.size());
      reseal_blocks(&bytes);
      exercise(bytes.data(), bytes.size());
    }
  }
}

TEST(TraceMutation, SeedsAreWholeTraces) {
  for (const test::Bytes& seed : test::trace_seeds()) {
    auto reader = TraceReader::open_bytes(seed.data(), seed.size());
    ASSERT_TRUE(reader);
    EXPECT_TRUE(reader->info().complete);
    EXPECT_EQ(test::words(reader->info().problems), "");
  }
}

}  // namespace
}  // namespace weft::exporters
