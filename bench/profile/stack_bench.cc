// SPDX-License-Identifier: Apache-2.0

// What a stack costs, and each frame of it. Divide by the depth that the label
// names: frames above the recursion are in it too.
//
//   stack_bench --benchmark_counters_tabular=true

#include <benchmark/benchmark.h>

#include <cstdint>

#include "call_stack.h"
#include "weft/session.h"

namespace {

using weft::profile::WalkedStack;
using weft::profile::WalkStart;
using weft::profile::walk_start;

// Keeps each of its frames, since it has something to do afterwards.
volatile std::int64_t depth_left = 0;
template <class F>
__attribute__((noinline)) void at_depth(std::int64_t depth, const F& call) {
  if (depth > 0) {
    at_depth(depth - 1, call);
  } else {
    call();
  }
  depth_left = depth;
}

__attribute__((noinline)) weft::StringId known_stack() {
  return weft::profile::call_stack(walk_start());
}

// Runs `once` on a stack that has `range(0)` more frames than here, and shows
// the time a frame.
template <class F>
void measure(benchmark::State& state, const F& once) {
  weft::init("/dev/null");
  if (!weft::profile::prepare_call_stacks().ok())
    return state.SkipWithError("stacks cannot be had");
  weft::profile::know_this_stack();
  WalkedStack stack;
  at_depth(state.range(0), [&] {
    weft::profile::unwind(walk_start(), stack);
    for (auto _ : state) once();
  });
  state.counters["frames"] = static_cast<double>(stack.count);
  state.counters["s_per_frame"] = benchmark::Counter(
      static_cast<double>(stack.count) * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void BM_Unwind(benchmark::State& state) {
  WalkedStack stack;
  measure(state, [&] { weft::profile::unwind(walk_start(), stack); });
}
BENCHMARK(BM_Unwind)->Arg(4)->Arg(16)->Arg(40);

void BM_FramePointers(benchmark::State& state) {
  WalkedStack stack;
  measure(state,
          [&] { weft::profile::walk_frame_pointers(walk_start(), stack); });
}
BENCHMARK(BM_FramePointers)->Arg(4)->Arg(16)->Arg(40);

// As calls have it: walked in the way that holds here, hashed, looked up.
void BM_KnownStack(benchmark::State& state) {
  measure(state, [] { benchmark::DoNotOptimize(known_stack()); });
}
BENCHMARK(BM_KnownStack)->Arg(4)->Arg(16)->Arg(40);

}  // namespace
