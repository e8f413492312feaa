// SPDX-License-Identifier: Apache-2.0
#include "latency_histogram.h"

#include <algorithm>
#include <cmath>

namespace weft {

std::uint64_t LatencyHistogram::quantile(
    double share, const CounterPages& pages) const noexcept {
  // A copy first, so that the total and the walk agree while values come.
  std::array<std::array<std::uint32_t, CounterPages::kCounters>, kOctaves>
      counts{};
  std::uint64_t total = 0;
  for (unsigned octave = 0; octave < kOctaves; ++octave) {
    const std::uint16_t page = octaves_[octave].load(std::memory_order_relaxed);
    if (page == 0) continue;
    for (unsigned i = 0; i < CounterPages::kCounters; ++i) {
      counts[octave][i] =
          pages.page(page).counters[i].load(std::memory_order_relaxed);
      total += counts[octave][i];
    }
  }
  if (total == 0) return 0;
  const auto wanted = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(
             std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(total))));
  std::uint64_t seen = 0;
  for (unsigned octave = 0; octave < kOctaves; ++octave)
    for (unsigned i = 0; i < CounterPages::kCounters; ++i) {
      seen += counts[octave][i];
      if (seen >= wanted)
        return std::clamp(middle_of(octave, i), least(),
                          std::max(least(), greatest()));
    }
  return greatest();
}

void LatencyHistogram::halve(CounterPages& pages) noexcept {
  for (const std::atomic<std::uint16_t>& octave : octaves_) {
    const std::uint16_t page = octave.load(std::memory_order_relaxed);
    if (page == 0) continue;
    for (std::atomic<std::uint32_t>& counter : pages.page(page).counters)
      counter.store(counter.load(std::memory_order_relaxed) / 2,
                    std::memory_order_relaxed);
  }
}

}  // namespace weft
