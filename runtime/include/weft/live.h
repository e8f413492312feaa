// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_LIVE_H_
#define WEFT_LIVE_H_

// Latencies by span name while the program runs, and budgets that a span must
// not exceed. On with InitOptions::live or WEFT_LIVE=1; the drainer counts, so
// that recording threads pay nothing.
//
//   WEFT_SPAN_BUDGET("request", std::chrono::milliseconds(5));
//   ...
//   if (auto request = weft::latency("request")) export_gauge(request->p99_ns);
//
// Spans that ended on another thread than they began, async spans and those
// whose begin or end was dropped are not in these figures.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/internal/api.h"
#include "weft/result.h"
#include "weft/span.h"

namespace weft {

// Durations in ns since the session began. Count, total, least and greatest
// are exact; quantiles at most 0.8 % off.
struct Latency {
  std::string name;
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t least_ns = 0;
  std::int64_t greatest_ns = 0;
  std::int64_t p50_ns = 0;
  std::int64_t p90_ns = 0;
  std::int64_t p99_ns = 0;
  std::int64_t p999_ns = 0;
};

// Of the spans called `name`; nothing when none has ended yet or live figures
// are off. Up to a drainer's rest old (0.2 ms while spans come).
// Thread-safe. Cold: some 10 us.
WEFT_API std::optional<Latency> latency(std::string_view name);

// Of every name, in the order of their first span. Names beyond 10,000 are
// counted together as "(other names)".
// Thread-safe. Cold: some 10 us a name.
WEFT_API std::vector<Latency> latencies();

// The same as a page in Prometheus's text format, version 0.0.4: summaries
// `weft_span_seconds` by name, and the session's records delivered and dropped.
// Thread-safe. Cold.
WEFT_API std::string metrics_text();

// From now on a span called `name` that takes longer than `limit` makes the
// flight recorder write a snapshot, with what exceeded in its reason; not more
// than one a second. Without a flight recorder, or while it is writing, the
// excess is only counted. Works before and after init; a limit of 0 takes the
// budget away.
// Errors: kInvalidArgument (negative, or over 1 h), kLimit (more than 64 names).
// Thread-safe. Cold.
WEFT_API Result<void> set_span_budget(std::string_view name,
                                      std::chrono::nanoseconds limit);

// Spans that exceeded a budget since the session began.
// Thread-safe. Cold.
WEFT_API std::uint64_t spans_over_budget();

// A span to the end of the block, as WEFT_SPAN(name), with a budget that is set
// the first time the program comes here.
#if !defined(WEFT_DISABLED)
#define WEFT_SPAN_BUDGET(name, limit) \
  WEFT_INTERNAL_SPAN_BUDGET(__COUNTER__, name, limit)
#define WEFT_INTERNAL_SPAN_BUDGET(number, name, limit)                       \
  [[maybe_unused]] static const bool WEFT_INTERNAL_CONCAT(weft_budget_,      \
                                                          number) =          \
      (static_cast<void>(::weft::set_span_budget(name, limit)), true);       \
  WEFT_SPAN(name)
#else
#define WEFT_SPAN_BUDGET(...) static_assert(true, "")
#endif

}  // namespace weft

#endif  // WEFT_LIVE_H_
