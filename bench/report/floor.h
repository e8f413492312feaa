// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_BENCH_REPORT_FLOOR_H_
#define WEFT_BENCH_REPORT_FLOOR_H_

#include <cstdint>

namespace weft::bench {

// What no tracer with two stamps a span can beat: two reads of the cycle
// counter and two 16-byte stores into a buffer of 1 MiB that wraps.
void floor_spans(std::uint64_t count);

// A loop that the compiler may not remove, with nothing in it, and the same
// with a span whose site is off.
void empty_loop(std::uint64_t count);
void disabled_spans(std::uint64_t count);

}  // namespace weft::bench

#endif  // WEFT_BENCH_REPORT_FLOOR_H_
