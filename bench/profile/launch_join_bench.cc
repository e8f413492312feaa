// SPDX-License-Identifier: Apache-2.0

// What it takes to find the launch of an activity, and to make its row, with a
// million of each. 0: in the order of their times; 1: shuffled.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <vector>

#include "device_rows.h"
#include "launch_index.h"
#include "weft/gpu/launch_word.h"

namespace weft::profile {
namespace {

constexpr std::uint32_t kCount = 1'000'000;

struct Records {
  explicit Records(bool shuffled) {
    for (std::uint32_t i = 0; i < kCount; ++i) {
      Launch& launch = launches.emplace_back();
      launch.correlation = i + 1;
      launch.call = launch_word(DeviceFamily::kCuda, 0x200d3);
      launch.ns = 1000 + std::int64_t{i} * 1000;
      launch.op = i + 1;
      DeviceActivity& activity = window.records.activities.emplace_back();
      activity.correlation = i + 1;
      activity.start = static_cast<std::uint64_t>(launch.ns) + 100;
      activity.end = activity.start + 500;
    }
    if (shuffled)
      std::shuffle(window.records.activities.begin(),
                   window.records.activities.end(), std::mt19937(7));
    window.from = 1;
    window.to = window.over = Ticks{kCount + 10} * 1000;
    window.records.abilities.clock = DeviceClock::kHostTicks;
    for (const Ticks tick : {Ticks{1}, window.over}) {
      ClockAnchor anchor;
      anchor.tick.fill(tick);
      anchor.ns.fill(static_cast<std::int64_t>(tick));
      line.add(anchor);
    }
  }
  std::vector<Launch> launches;
  DeviceWindow window;
  ClockLine line;
};

void an_activity(benchmark::State& state) {
  state.counters["an_activity"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * kCount,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void join(benchmark::State& state) {
  const Records records(state.range(0) != 0);
  const std::uint32_t family = launch_word(DeviceFamily::kCuda, 0) >> 24;
  for (auto _ : state) {
    LaunchIndex index(records.launches);
    std::int64_t sum = 0;
    for (const DeviceActivity& activity : records.window.records.activities)
      sum += index
                 .find(family, activity.correlation,
                       static_cast<std::int64_t>(activity.start))
                 ->launch->op;
    benchmark::DoNotOptimize(sum);
  }
  an_activity(state);
}
BENCHMARK(join)->Arg(0)->Arg(1);

void rows(benchmark::State& state) {
  const Records records(state.range(0) != 0);
  for (auto _ : state) {
    DeviceRows made(records.launches, {}, {});
    made.add(records.window, records.line);
    DeviceStatistics statistics;
    benchmark::DoNotOptimize(made.take(&statistics).size());
  }
  an_activity(state);
}
BENCHMARK(rows)->Arg(0)->Arg(1);

}  // namespace
}  // namespace weft::profile
