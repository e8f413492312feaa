// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_MODEL_SCENARIO_H_
#define WEFT_TESTS_MODEL_SCENARIO_H_

// A model program holds named scenarios; `program NAME` runs one of them.

#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <ostream>

#include "model/model_platform.h"

namespace weft::model {

struct Scenario {
  const char* name;
  bool (*holds)();  // explores; true when no failure was found
  bool expected;    // what `holds` must say
};

template <class Model>
bool explore(rl::test_params& params) {
  params.execution_depth_limit = 10000;
  // No buffer: the history of an expected failure is of no use, and a string
  // would grow inside a fiber, where Relacy replaces operator new.
  std::ostream quiet(nullptr);
  params.output_stream = &quiet;
  params.progress_stream = &quiet;
  const bool held = rl::simulate<Model>(params);
  std::printf("%s after %llu interleavings\n",
              rl::test_result_str(params.test_result),
              static_cast<unsigned long long>(params.stop_iteration));
  return held;
}

// Random interleavings, as many as asked for. Always the same ones.
template <class Model>
bool holds_at_random(rl::iteration_t iterations) {
  rl::test_params params;
  params.search_type = rl::sched_random;
  params.iteration_count = iterations;
  return explore<Model>(params);
}

// Every interleaving with at most `switches` forced switches of threads.
template <class Model>
bool holds_within(unsigned switches) {
  rl::test_params params;
  params.search_type = rl::sched_bound;
  params.context_bound = switches;
  return explore<Model>(params);
}

inline int run_scenario(int argc, char** argv,
                        std::initializer_list<Scenario> scenarios) {
  for (const Scenario& scenario : scenarios) {
    if (argc != 2 || std::strcmp(argv[1], scenario.name) != 0) continue;
    const bool held = scenario.holds();
    if (held == scenario.expected) return 0;
    std::printf("%s: %s\n", scenario.name,
                held ? "no failure was found, but one must exist"
                     : "an interleaving fails");
    return 1;
  }
  std::puts("usage: PROGRAM SCENARIO, one of");
  for (const Scenario& scenario : scenarios) std::puts(scenario.name);
  return 2;
}

}  // namespace weft::model

#endif  // WEFT_TESTS_MODEL_SCENARIO_H_
