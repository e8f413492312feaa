// SPDX-License-Identifier: Apache-2.0
#include "call_costs.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "quantiles.h"
#include "weft/internal/tick_counter.h"
#include "weft/internal/packed_text.h"
#include "weft/profile/profiler.h"
#include "weft/profile/record_callback.h"
#include "weft/profile/record_function.h"
#include "weft/weft.h"

namespace weft::bench {
namespace {

constexpr std::uint64_t kBurst = 1000;
constexpr auto kPause = std::chrono::microseconds(400);

__attribute__((noinline)) void spans(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    WEFT_SPAN("span");
    asm volatile("" ::: "memory");
  }
}

__attribute__((noinline)) void calls(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    WEFT_RECORD_FUNCTION("call", i);
    asm volatile("" ::: "memory");
  }
}

__attribute__((noinline)) void calls_with_arrays(std::uint64_t count) {
  const std::int64_t sizes[] = {64, 3, 224, 224};
  const ArrayInput array{"float", sizes, 4};
  for (std::uint64_t i = 0; i < count; ++i) {
    WEFT_RECORD_FUNCTION("call_with_arrays", array, array);
    asm volatile("" ::: "memory");
  }
}

template <class Burst>
double ns_each(const Burst& burst, std::uint64_t count) {
  const Ticks begin = internal::read_ticks_fenced();
  burst(count);
  const Ticks ticks = internal::read_ticks_fenced() - begin;
  return static_cast<double>(ticks) / ticks_per_ns() /
         static_cast<double>(count);
}

template <class Burst>
void measure(std::vector<double>& into, const Burst& burst,
             std::uint64_t count) {
  std::this_thread::sleep_for(kPause);
  burst(100);
  into.push_back(ns_each(burst, count));
}

void must(const Result<void>& result) {
  if (result.ok()) return;
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

}  // namespace

CallCosts measure_call_costs(int repetitions) {
  CallCosts costs;
  calls(1);
  for (int i = 0; i < repetitions; ++i) {
    costs.off_span.push_back(ns_each(spans, 100'000));
    costs.off_call.push_back(ns_each(calls, 100'000));
  }
  {
    Profiler plain({.coverage = ThreadCoverage::kAllThreads});
    must(plain.start());
    must(thread_init());
    for (int i = 0; i < repetitions; ++i) {
      measure(costs.span, spans, kBurst);
      measure(costs.call, calls, kBurst);
    }
    must(plain.stop());
  }
  {
    Profiler shapes(
        {.record_shapes = true, .coverage = ThreadCoverage::kAllThreads});
    must(shapes.start());
    must(thread_init());
    for (int i = 0; i < repetitions; ++i)
      measure(costs.shapes, calls_with_arrays, kBurst);
    must(shapes.stop());
    // Headers of runs aside, two slots a call are its begin and end.
    InputWriter inputs;
    const std::int64_t sizes[] = {64, 3, 224, 224};
    inputs.array("float", sizes, 4);
    inputs.array("float", sizes, 4);
    std::array<std::uint8_t, InputWriter::kMaxBytes> packed;
    const std::size_t bytes =
        internal::pack_text(inputs.text(), packed.data(), packed.size());
    costs.shape_slots =
        1 + static_cast<double>((bytes - 12 + 13) / 14);  // see record.h
  }
  {
    Profiler stacks(
        {.with_stack = true, .coverage = ThreadCoverage::kAllThreads});
    must(stacks.start());
    for (int i = 0; i < repetitions; ++i) measure(costs.stack, calls, 100);
    must(stacks.stop());
    const auto events = stacks.events();
    if (events.ok() && !events->empty())
      costs.frames = static_cast<double>((*events)[0].stack.size());
  }
  const auto handle = add_global_callback(
      RecordCallback::at_start([](const FunctionCall&) {}));
  for (int i = 0; i < repetitions; ++i) measure(costs.callback, calls, kBurst);
  if (handle.ok()) remove_callback(*handle);
  return costs;
}

}  // namespace weft::bench
