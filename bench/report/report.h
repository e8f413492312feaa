// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_BENCH_REPORT_REPORT_H_
#define WEFT_BENCH_REPORT_REPORT_H_

// The lines of the report, and what its parts share.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "floor.h"
#include "quantiles.h"
#include "weft/internal/tick_counter.h"
#include "weft/record.h"

namespace weft::bench {

inline constexpr std::uint64_t kBurst = 1000;  // spans; the drainer rests then
inline constexpr auto kPause = std::chrono::microseconds(400);

struct Options {
  bool quick = false;
  std::string json;
  std::string directory = ".";
};

// A figure with its budget: printed now, and kept for write_json().
void report(std::string metric, double value, double budget,
            std::string note = {}, bool at_least = false);
// A figure without a budget.
void inform(const std::string& metric, double value, const std::string& note);
void write_json(const std::string& path);
bool all_within_budget();
[[noreturn]] void fail(const std::string& what);

std::string path_in(const Options& options, const char* name);

inline double ns_of(Ticks ticks) {
  return static_cast<double>(ticks) / ticks_per_ns();
}

template <class F>
double time_ns(F f) {
  const Ticks begin = internal::read_ticks_fenced();
  f();
  return ns_of(internal::read_ticks_fenced() - begin);
}

// Never inlined: each is one loop around one site.
void spans(std::uint64_t count);
void spans_with_argument(std::uint64_t count);

// The middle of the best tenth: what the code costs when the machine lets it.
double clean(const std::vector<double>& values);
double ratio(const std::vector<double>& values,
             const std::vector<double>& floor);
std::string beside(const std::vector<double>& values,
                   const std::vector<double>& floor);

// Recording, with a session that the caller has begun.
void report_paced(const Options& options);
void report_threads(const Options& options);
void report_tail(const Options& options);
void report_cold(const Options& options);
void report_disabled(const Options& options);

// Recording, with sessions of their own.
void report_flat_out(const Options& options);
void report_polling(const Options& options);
void report_refused(const Options& options);
void report_registration(const Options& options);
void report_calls(const Options& options);
void report_idle(const Options& options);

// Files.
void report_export(const Options& options);
void report_reading_json(const Options& options);
void report_reading_weft(const Options& options);

}  // namespace weft::bench

#endif  // WEFT_BENCH_REPORT_REPORT_H_
