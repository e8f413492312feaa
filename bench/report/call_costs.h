// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_BENCH_REPORT_CALL_COSTS_H_
#define WEFT_BENCH_REPORT_CALL_COSTS_H_

#include <vector>

namespace weft::bench {

// What instrumented calls cost, beside what spans do. ns a call; each element is
// one burst, of spans and of calls in turn.
struct CallCosts {
  std::vector<double> off_span, off_call;    // nobody listens
  std::vector<double> span, call;            // a session without options
  std::vector<double> shapes;                // of two arrays of four dimensions
  std::vector<double> callback;              // an empty one, no session
  std::vector<double> stack;                 // with_stack
  double frames = 0;                         // of each of those stacks
  double shape_slots = 0;                    // what the inputs take of a record
};

CallCosts measure_call_costs(int repetitions);

}  // namespace weft::bench

#endif  // WEFT_BENCH_REPORT_CALL_COSTS_H_
