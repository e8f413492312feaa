// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_BENCH_REPORT_READING_H_
#define WEFT_BENCH_REPORT_READING_H_

#include <cstdint>
#include <string>

namespace weft::bench {

// What `weft summary FILE` used. Its peak is not less than the caller's at the
// time: measure it before anything large.
struct SummaryUse {
  bool ok = false;
  double cpu_seconds = 0;
  std::uint64_t peak_bytes = 0;
};
SummaryUse summarize(const std::string& path);

// Writes a Chrome trace of at least that size as PyTorch writes them:
// operators in operators, calls, kernels and arrows. Returns its events.
std::uint64_t write_chrome_trace(const std::string& path, std::uint64_t bytes);

// CPU time that simdjson needs to parse a file that is in memory already.
// In a process of its own, so that its memory is not the caller's. Negative: it
// cannot.
double parse_seconds(const std::string& path);

}  // namespace weft::bench

#endif  // WEFT_BENCH_REPORT_READING_H_
