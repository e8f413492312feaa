// SPDX-License-Identifier: Apache-2.0
#include "duration_histogram.h"

#include <algorithm>
#include <bit>

namespace weft::tools {

void DurationHistogram::add(std::uint64_t ns) {
  ++count_;
  sum_ += ns;
  min_ = std::min(min_, ns);
  max_ = std::max(max_, ns);
  if (octaves_ == nullptr && few_.size() < kFew)
    few_.push_back(ns);
  else
    count_in_bucket(ns);
}

void DurationHistogram::count_in_bucket(std::uint64_t ns) {
  if (octaves_ == nullptr) {
    octaves_ = std::make_unique<Octaves>();
    for (const std::uint64_t earlier : few_) count_in_bucket(earlier);
    few_ = {};
  }
  const auto width = static_cast<std::size_t>(std::bit_width(ns));
  const std::size_t octave = width <= kBucketBits ? 0 : width - kBucketBits;
  const std::size_t shift = octave == 0 ? 0 : octave - 1;
  auto& buckets = (*octaves_)[octave];
  if (buckets == nullptr) buckets = std::make_unique<Octave>();
  ++(*buckets)[(ns >> shift) & (kBuckets - 1)];
}

void DurationHistogram::merge(const DurationHistogram& other) {
  if (other.octaves_ == nullptr) {
    for (const std::uint64_t ns : other.few_) add(ns);
    return;
  }
  if (octaves_ == nullptr) {
    octaves_ = std::make_unique<Octaves>();
    for (const std::uint64_t ns : few_) count_in_bucket(ns);
    few_ = {};
  }
  for (std::size_t i = 0; i < kOctaves; ++i) {
    const auto& from = (*other.octaves_)[i];
    if (from == nullptr) continue;
    auto& to = (*octaves_)[i];
    if (to == nullptr) to = std::make_unique<Octave>();
    for (std::size_t b = 0; b < kBuckets; ++b) (*to)[b] += (*from)[b];
  }
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

std::uint64_t DurationHistogram::mean() const noexcept {
  if (count_ == 0) return 0;
  return sum_ / count_ + (sum_ % count_ >= count_ - count_ / 2 ? 1 : 0);
}

std::uint64_t DurationHistogram::percentile(std::uint32_t per_10000) const {
  if (count_ == 0) return 0;
  // Rounded up, in two steps because count * 10,000 may not fit.
  const std::uint64_t rank = count_ / 10'000 * per_10000 +
                             (count_ % 10'000 * per_10000 + 9'999) / 10'000;
  const std::uint64_t nth = std::clamp<std::uint64_t>(rank, 1, count_);
  return octaves_ == nullptr ? nth_of_few(nth) : nth_of_buckets(nth);
}

std::uint64_t DurationHistogram::nth_of_few(std::uint64_t rank) const {
  std::vector<std::uint64_t> sorted = few_;
  std::sort(sorted.begin(), sorted.end());
  return sorted[static_cast<std::size_t>(rank - 1)];
}

std::uint64_t DurationHistogram::nth_of_buckets(std::uint64_t rank) const {
  if (rank == count_) return max_;
  std::uint64_t below = 0;
  for (std::size_t octave = 0; octave < kOctaves; ++octave) {
    const auto& buckets = (*octaves_)[octave];
    if (buckets == nullptr) continue;
    for (std::size_t b = 0; b < kBuckets; ++b) {
      below += (*buckets)[b];
      if (below < rank) continue;
      if (octave == 0) return b;
      const std::size_t shift = octave - 1;
      const std::uint64_t low = (kBuckets + std::uint64_t{b}) << shift;
      const std::uint64_t middle = low + (std::uint64_t{1} << shift) / 2;
      return std::clamp(middle, min_, max_);
    }
  }
  return max_;
}

}  // namespace weft::tools
