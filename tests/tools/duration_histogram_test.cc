// SPDX-License-Identifier: Apache-2.0
#include "duration_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace weft::tools {
namespace {

constexpr std::uint32_t kPercentiles[] = {5000, 9000, 9900, 9990};

std::vector<std::uint64_t> log_normal(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> law(std::log(50'000.0), 1.5);
  std::vector<std::uint64_t> out(count);
  for (auto& ns : out) ns = static_cast<std::uint64_t>(law(random));
  return out;
}

// By definition: the least value that this share is not above.
std::uint64_t exact_percentile(const std::vector<std::uint64_t>& sorted,
                               std::uint32_t per_10000) {
  const std::uint64_t rank = (sorted.size() * per_10000 + 9'999) / 10'000;
  return sorted[std::max<std::uint64_t>(rank, 1) - 1];
}

void expect_agreement(const DurationHistogram& histogram,
                      std::vector<std::uint64_t> values, double tolerance) {
  std::sort(values.begin(), values.end());
  for (const std::uint32_t p : kPercentiles) {
    const auto exact = static_cast<double>(exact_percentile(values, p));
    EXPECT_NEAR(static_cast<double>(histogram.percentile(p)), exact,
                exact * tolerance)
        << p;
  }
  EXPECT_EQ(histogram.max(), values.back());
  EXPECT_EQ(histogram.percentile(10'000), values.back());
  EXPECT_EQ(histogram.min(), values.front());
  EXPECT_EQ(histogram.count(), values.size());
  EXPECT_EQ(histogram.sum(),
            std::accumulate(values.begin(), values.end(), std::uint64_t{0}));
}

// People decide on these numbers, so they must hold for a skewed law too.
TEST(K8_05, PercentilesOfAMillionLogNormalDurationsAreWithinOnePercent) {
  const auto values = log_normal(1'000'000, 1);
  DurationHistogram histogram;
  for (const auto ns : values) histogram.add(ns);
  expect_agreement(histogram, values, 0.005);
}

TEST(K8_05, MergedHistogramsAnswerAsOne) {
  std::vector<std::uint64_t> all;
  DurationHistogram whole;
  DurationHistogram merged;
  for (unsigned seed = 0; seed < 10; ++seed) {
    // Both forms: few values kept one by one, and buckets.
    const auto values = log_normal(seed % 2 == 0 ? 20 : 30'000, seed);
    DurationHistogram part;
    for (const auto ns : values) {
      part.add(ns);
      whole.add(ns);
    }
    merged.merge(part);
    all.insert(all.end(), values.begin(), values.end());
  }
  expect_agreement(merged, all, 0.005);
  for (const std::uint32_t p : kPercentiles)
    EXPECT_EQ(merged.percentile(p), whole.percentile(p));
}

TEST(DurationHistogram, FewDurationsAreExact) {
  const auto values = log_normal(60, 3);
  DurationHistogram histogram;
  for (const auto ns : values) histogram.add(ns);
  expect_agreement(histogram, values, 0);
}

TEST(DurationHistogram, EveryMagnitudeIsWithinHalfAPercent) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    for (const std::uint64_t low_bits : {0u, 1u, 12345u, 0xffffffffu}) {
      const std::uint64_t ns =
          std::uint64_t{1} << bit |
          (low_bits & ((std::uint64_t{1} << bit) - 1));
      DurationHistogram histogram;
      for (int i = 0; i < 100; ++i) histogram.add(ns);
      // The extremes would pin the answer to the exact value.
      histogram.add(0);
      histogram.add(~std::uint64_t{0});
      EXPECT_NEAR(static_cast<double>(histogram.percentile(5000)),
                  static_cast<double>(ns), static_cast<double>(ns) / 256)
          << ns;
    }
  }
}

TEST(DurationHistogram, EmptyIsAllZero) {
  const DurationHistogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.min(), 0u);
  EXPECT_EQ(histogram.max(), 0u);
  EXPECT_EQ(histogram.mean(), 0u);
  EXPECT_EQ(histogram.percentile(9990), 0u);
}

TEST(DurationHistogram, MeanIsRoundedToTheNearest) {
  DurationHistogram histogram;
  histogram.add(1);
  histogram.add(2);
  EXPECT_EQ(histogram.mean(), 2u);
  histogram.add(1);
  EXPECT_EQ(histogram.mean(), 1u);
}

}  // namespace
}  // namespace weft::tools
