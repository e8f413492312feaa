// SPDX-License-Identifier: Apache-2.0
// What the fuzz target does, for a fixed set of mutations and any compiler.

#include <gtest/gtest.h>

#include <random>

#include "fuzz/trace_exercise.h"
#include "fuzz/trace_seeds.h"

namespace weft::exporters {
namespace {

// Bytes of a block's content, or anything, become something else; pieces are
// doubled, taken out, or replaced by numbers that are often wrong.
void mutate(test::Bytes* bytes, std::mt19937_64* random) {
  const auto below = [&](std::size_t end) { return (*random)() % end; };
  for (auto n = 1 + below(4); n > 0 && bytes->size() > 16; --n) {
    const auto at = static_cast<std::ptrdiff_t>(16 + below(bytes->size() - 16));
    switch (below(5)) {
      case 0:
        (*bytes)[static_cast<std::size_t>(at)] ^=
            static_cast<std::uint8_t>(1u << below(8));
        break;
      case 1:
        (*bytes)[static_cast<std::size_t>(at)] =
            static_cast<std::uint8_t>((*random)());
        break;
      case 2:
        (*bytes)[static_cast<std::size_t>(at)] = 0;  // a 9-byte varint
        break;
      case 3: {
        const auto end = std::min<std::ptrdiff_t>(
            at + static_cast<std::ptrdiff_t>(below(20)), std::ssize(*bytes));
        bytes->erase(bytes->begin() + at, bytes->begin() + end);
        break;
      }
      default:
        bytes->insert(bytes->begin() + at, below(9),
                      static_cast<std::uint8_t>((*random)()));
        break;
    }
  }
}

TEST(TraceMutation, NoInputHarmsTheReader) {
  std::mt19937_64 random(20240601);
  for (const test::Bytes& seed : test::trace_seeds()) {
    exercise(seed.data(), seed.size());
    for (int i = 0; i < 3000; ++i) {
      test::Bytes bytes = seed;
      mutate(&bytes, &random);
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
