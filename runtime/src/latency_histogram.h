// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_LATENCY_HISTOGRAM_H_
#define WEFT_SRC_LATENCY_HISTOGRAM_H_

// Durations counted in log-linear buckets, as HdrHistogram does (Gil Tene,
// hdrhistogram.org): 64 buckets an octave, so that a quantile is at most 0.8 %
// off, whatever the law. Count, sum, least and greatest are exact.
//
//   octaves  [ 0 | 0 | 7 | 3 | 9 | 0 ... ]     page numbers, 0: none yet
//                      |
//   pages    [ 64 counters | 64 counters | ... ]   one pool for all histograms
//
// One writer; any number of readers at the same time, who may see a record in
// the count and not yet in its bucket. Each word stands for itself, so all
// loads and stores are relaxed.

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "weft/ringbuf/ring_memory.h"

namespace weft {

// Pages of counters, given out one by one and never taken back. Writer only,
// but for page().
class CounterPages {
 public:
  static constexpr std::size_t kCounters = 64;
  struct Page {
    std::array<std::atomic<std::uint32_t>, kCounters> counters;
  };

  // At most 65,535 pages (16 MiB). False when the address space cannot be had.
  bool reserve(std::size_t bytes) noexcept {
    const std::size_t pages = bytes / sizeof(Page);
    if (pages < 2 || pages > 65'536 ||
        !memory_.reserve(bytes, ringbuf::RingMemory::Use::kWipedOnFork))
      return false;
    pages_ = static_cast<std::uint32_t>(pages);
    return true;
  }
  // 0 when there are no more.
  std::uint16_t take() noexcept {
    if (next_ == pages_) return 0;
    return static_cast<std::uint16_t>(next_++);
  }
  Page& page(std::uint16_t number) const noexcept {
    return reinterpret_cast<Page*>(memory_.at(0))[number];
  }

 private:
  ringbuf::RingMemory memory_;
  std::uint32_t pages_ = 0;
  std::uint32_t next_ = 1;
};

class LatencyHistogram {
 public:
  static constexpr unsigned kOctaves = 60;

  // Writer only. `times` at once.
  void add(std::uint64_t value, CounterPages& pages,
           std::uint32_t times = 1) noexcept {
    add_to(count_, times);
    add_to(sum_, value * times);
    if (value > greatest_.load(std::memory_order_relaxed))
      greatest_.store(value, std::memory_order_relaxed);
    if (~value > least_.load(std::memory_order_relaxed))
      least_.store(~value, std::memory_order_relaxed);
    const unsigned octave = octave_of(value);
    std::uint16_t page = octaves_[octave].load(std::memory_order_relaxed);
    if (page == 0) {
      page = pages.take();
      if (page == 0) {
        add_to(unplaced_, times);
        return;
      }
      octaves_[octave].store(page, std::memory_order_relaxed);
    }
    std::atomic<std::uint32_t>& counter =
        pages.page(page).counters[counter_of(value, octave)];
    while (counter.load(std::memory_order_relaxed) > kFull - times)
      halve(pages);
    counter.store(counter.load(std::memory_order_relaxed) + times,
                  std::memory_order_relaxed);
  }

  std::uint64_t count() const noexcept { return load(count_); }
  std::uint64_t sum() const noexcept { return load(sum_); }
  // Of an empty one: 0.
  std::uint64_t least() const noexcept { return count() == 0 ? 0 : ~load(least_); }
  std::uint64_t greatest() const noexcept { return load(greatest_); }
  // Values that found no page: they are in the figures above, not in quantiles.
  std::uint64_t unplaced() const noexcept { return load(unplaced_); }

  // The value below or at which `share` (0 to 1) of all lie: the middle of its
  // bucket, within the exact extremes. 0 of an empty one.
  std::uint64_t quantile(double share, const CounterPages& pages) const noexcept;

 private:
  // A program that runs for years fills a counter. Halving all of them keeps
  // the shares, which are all that quantiles need.
  static constexpr std::uint32_t kFull = ~std::uint32_t{0};
  void halve(CounterPages& pages) noexcept;

  static std::uint64_t load(const std::atomic<std::uint64_t>& word) noexcept {
    return word.load(std::memory_order_relaxed);
  }
  static void add_to(std::atomic<std::uint64_t>& word,
                     std::uint64_t more) noexcept {
    word.store(load(word) + more, std::memory_order_relaxed);
  }
  // Octave 0 holds 0 to 63 one by one; octave n the values from 32 << n on, in
  // steps of 1 << (n - 1).
  static constexpr unsigned octave_of(std::uint64_t value) noexcept {
    return value < 64 ? 0 : static_cast<unsigned>(std::bit_width(value)) - 6;
  }
  static constexpr unsigned counter_of(std::uint64_t value,
                                       unsigned octave) noexcept {
    return static_cast<unsigned>(
        (octave == 0 ? value : value >> (octave - 1)) & 63);
  }
  static constexpr std::uint64_t middle_of(unsigned octave,
                                           unsigned counter) noexcept {
    if (octave == 0) return counter;
    const std::uint64_t step = std::uint64_t{1} << (octave - 1);
    return (64 + std::uint64_t{counter}) * step + step / 2;
  }

  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::uint64_t> sum_{0};
  std::atomic<std::uint64_t> least_{0};  // inverted, so that 0 is empty
  std::atomic<std::uint64_t> greatest_{0};
  std::atomic<std::uint64_t> unplaced_{0};
  std::array<std::atomic<std::uint16_t>, kOctaves> octaves_{};
};

}  // namespace weft

#endif  // WEFT_SRC_LATENCY_HISTOGRAM_H_
