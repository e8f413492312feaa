// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_DURATION_HISTOGRAM_H_
#define WEFT_TOOLS_WEFT_DURATION_HISTOGRAM_H_

// How durations are spread: count, sum, least and greatest exactly; percentiles
// exactly while there are few, and within 0.4 % when there are many.
//
//   2^e            2^(e+1)                  2^(e+2)
//    | 128 buckets  | 128 buckets, twice as  | ...
//    | of 2^(e-7)   | wide                   |
//
// A bucket is at most 1/128 of its lower end wide and answers with its middle,
// so no answer is further than 1/256 from the duration that it stands for.
// Buckets of an octave come into being with its first duration: a name that
// takes 1 to 2 ms pays for one octave, 1 KiB.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace weft::tools {

class DurationHistogram {
 public:
  DurationHistogram() = default;
  DurationHistogram(DurationHistogram&&) = default;
  DurationHistogram& operator=(DurationHistogram&&) = default;

  void add(std::uint64_t ns);
  // As if every duration of `other` had been added here.
  void merge(const DurationHistogram& other);

  std::uint64_t count() const noexcept { return count_; }
  std::uint64_t sum() const noexcept { return sum_; }
  std::uint64_t min() const noexcept { return count_ == 0 ? 0 : min_; }
  std::uint64_t max() const noexcept { return max_; }
  std::uint64_t mean() const noexcept;  // to the nearest ns

  // The least duration that `per_10000` of 10,000 are not above; 9990: p99.9.
  // 0 when empty.
  std::uint64_t percentile(std::uint32_t per_10000) const;

 private:
  static constexpr unsigned kBucketBits = 7;
  static constexpr std::size_t kBuckets = std::size_t{1} << kBucketBits;
  // Durations below 2^7 share the first "octave", a bucket each.
  static constexpr std::size_t kOctaves = 64 - kBucketBits + 1;
  static constexpr std::size_t kFew = 64;  // kept one by one up to here

  using Octave = std::array<std::uint64_t, kBuckets>;
  using Octaves = std::array<std::unique_ptr<Octave>, kOctaves>;

  void count_in_bucket(std::uint64_t ns);
  std::uint64_t nth_of_few(std::uint64_t rank) const;
  std::uint64_t nth_of_buckets(std::uint64_t rank) const;

  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t min_ = ~std::uint64_t{0};
  std::uint64_t max_ = 0;
  std::vector<std::uint64_t> few_;     // all of them while octaves_ is null
  std::unique_ptr<Octaves> octaves_;
};

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_DURATION_HISTOGRAM_H_
