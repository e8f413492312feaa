// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_BENCH_REPORT_QUANTILES_H_
#define WEFT_BENCH_REPORT_QUANTILES_H_

#include <cstdint>
#include <vector>

namespace weft::bench {

// Of repetitions of one measurement. Sorts; `q` from 0 to 1.
double quantile(std::vector<double> values, double q);
inline double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

// Ticks per ns, measured against CLOCK_MONOTONIC over 20 ms.
double ticks_per_ns();
// The smallest difference that two reads of the counter can show, in ns.
double timer_step_ns();

}  // namespace weft::bench

#endif  // WEFT_BENCH_REPORT_QUANTILES_H_
