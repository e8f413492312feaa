// SPDX-License-Identifier: Apache-2.0

// What weft adds to a launch of CUDA on the thread that makes it: the four
// callbacks that a call of the runtime leads to, two of the runtime's and two
// of the driver's below it, beside two recorded spans. CUPTI's own part, which
// finds out whom to call, is not in it.
//
// Bursts of a thousand, and a rest in which the drainer empties the ring.

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>

#include "cupti/callbacks.h"
#include "null_exporter.h"
#include "weft/subscription.h"
#include "weft/weft.h"

namespace weft {
namespace {

constexpr int kBurst = 1000;

struct CallbackData {
  alignas(8) std::uint8_t bytes[72] = {};
  void set(std::uint32_t site, std::uint32_t correlation) {
    std::memcpy(bytes + cupti::callback_data::kSite.offset, &site,
                sizeof(site));
    std::memcpy(bytes + cupti::callback_data::kCorrelation.offset, &correlation,
                sizeof(correlation));
  }
};

template <class Once>
void measure(benchmark::State& state, const Once& once) {
  const Result<Subscription> recording = subscribe({}, make_null_exporter());
  if (!recording.ok())
    return state.SkipWithError(recording.error().message.c_str());
  (void)thread_init(1 << 20);
  using Clock = std::chrono::steady_clock;
  for (auto _ : state) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < kBurst; ++i) once();
    state.SetIterationTime(
        std::chrono::duration<double>(Clock::now() - begin).count());
  }
  state.counters["each"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * kBurst,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void launch_callbacks(benchmark::State& state) {
  if (!cupti::begin_callbacks(true))
    return state.SkipWithError("the callbacks are in use");
  std::uint32_t correlation = 0;
  CallbackData data;
  measure(state, [&] {
    constexpr auto kRuntime =
        static_cast<std::uint32_t>(cupti::Domain::kRuntime);
    constexpr auto kDriver = static_cast<std::uint32_t>(cupti::Domain::kDriver);
    ++correlation;
    data.set(cupti::kSiteEnter, correlation);
    cupti::on_callback(nullptr, kRuntime, 211, data.bytes);
    cupti::on_callback(nullptr, kDriver, 307, data.bytes);
    data.set(1, correlation);
    cupti::on_callback(nullptr, kDriver, 307, data.bytes);
    cupti::on_callback(nullptr, kRuntime, 211, data.bytes);
  });
  cupti::end_callbacks();
}
BENCHMARK(launch_callbacks)->UseManualTime()->MinTime(0.05);

void two_spans(benchmark::State& state) {
  measure(state, [] {
    { WEFT_SPAN("one"); }
    { WEFT_SPAN("two"); }
  });
}
BENCHMARK(two_spans)->UseManualTime()->MinTime(0.05);

}  // namespace
}  // namespace weft
