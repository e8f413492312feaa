// SPDX-License-Identifier: Apache-2.0
#include "quantiles.h"

#include <algorithm>
#include <numeric>

#include "weft/internal/tick_counter.h"

namespace weft::bench {

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto last = static_cast<double>(values.size() - 1);
  return values[static_cast<std::size_t>(q * last + 0.5)];
}

double ticks_per_ns() {
  static const double ratio = [] {
    const Ticks tick = internal::read_ticks_fenced();
    const Ticks begin = internal::read_monotonic();
    Ticks end = begin;
    while (end - begin < 20'000'000) end = internal::read_monotonic();
    return static_cast<double>(internal::read_ticks_fenced() - tick) /
           static_cast<double>(end - begin);
  }();
  return ratio;
}

double timer_step_ns() {
  std::uint64_t step = 0;
  Ticks last = internal::read_ticks();
  for (int i = 0; i < 10'000; ++i) {
    const Ticks now = internal::read_ticks();
    step = std::gcd(step, now - last);
    last = now;
  }
  return static_cast<double>(step) / ticks_per_ns();
}

}  // namespace weft::bench
