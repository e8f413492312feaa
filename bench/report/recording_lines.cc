// SPDX-License-Identifier: Apache-2.0
// What a span costs, beside the floor.

#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "report.h"
#include "weft/weft.h"

namespace weft::bench {
namespace {

// Bursts of floor and of spans in turn, each after a pause in which the drainer
// takes what there is.
struct Paced {
  std::vector<double> floor, plain, argument;
};

Paced measure_paced(int repetitions) {
  Paced paced;
  for (int i = 0; i < repetitions; ++i) {
    std::this_thread::sleep_for(kPause);
    floor_spans(100);
    paced.floor.push_back(time_ns([] { floor_spans(kBurst); }) / kBurst);
    std::this_thread::sleep_for(kPause);
    spans(100);
    paced.plain.push_back(time_ns([] { spans(kBurst); }) / kBurst);
    std::this_thread::sleep_for(kPause);
    spans_with_argument(100);
    paced.argument.push_back(time_ns([] { spans_with_argument(kBurst); }) /
                             kBurst);
  }
  return paced;
}

}  // namespace

void report_paced(const Options& options) {
  const Paced paced = measure_paced(options.quick ? 400 : 2000);
  report("paced span / floor", ratio(paced.plain, paced.floor), 1.05,
         beside(paced.plain, paced.floor));
  report("paced span, one integer / floor", ratio(paced.argument, paced.floor),
         1.15, beside(paced.argument, paced.floor));
}

void report_threads(const Options& options) {
  const unsigned count = std::max(2u, std::thread::hardware_concurrency());
  std::vector<Paced> all(count);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      (void)thread_init();
      all[i] = measure_paced(options.quick ? 150 : 700);
    });
  for (std::thread& thread : threads) thread.join();
  std::vector<double> floor, plain;
  for (const Paced& one : all) {
    floor.insert(floor.end(), one.floor.begin(), one.floor.end());
    plain.insert(plain.end(), one.plain.begin(), one.plain.end());
  }
  report("paced span / floor, " + std::to_string(count) + " threads",
         ratio(plain, floor), 1.05, beside(plain, floor));
}

// Batches of 8, floor and spans in turn, so that both meet the same machine.
void report_tail(const Options& options) {
  const int rounds = options.quick ? 150 : 600;
  std::vector<double> floor, plain;
  for (int round = 0; round < rounds; ++round) {
    std::this_thread::sleep_for(kPause);
    // After a pause code and data are cold, which report_cold() measures.
    floor_spans(100);
    spans(100);
    for (int i = 0; i < 200; ++i) {
      floor.push_back(time_ns([] { floor_spans(8); }));
      plain.push_back(time_ns([] { spans(8); }));
    }
  }
  const double step = timer_step_ns();
  char note[160];
  std::snprintf(note, sizeof note,
                "batches of 8: floor p50 %.0f p99.9 %.0f ns, span p50 %.0f "
                "p99.9 %.0f ns; timer step %.2f ns",
                median(floor), quantile(floor, 0.999), median(plain),
                quantile(plain, 0.999), step);
  report("span p99.9 less the floor's, ns a span",
         (quantile(plain, 0.999) - quantile(floor, 0.999)) / 8, step, note);
}

// A few spans in a program that does something else in between: 2 MiB of its own
// data push weft's code and ring out of the near caches. No budget, since the
// floor says nothing of cold caches; in ns.
void report_cold(const Options& options) {
  std::vector<std::uint64_t> host((2u << 20) / sizeof(std::uint64_t), 1);
  std::vector<double> floor, plain;
  const int repetitions = options.quick ? 200 : 1000;
  std::uint64_t sum = 0;
  const auto work = [&] {
    for (std::uint64_t& word : host) sum += word++;
  };
  for (int i = 0; i < repetitions; ++i) {
    work();
    floor.push_back(time_ns([] { floor_spans(10); }) / 10);
    work();
    plain.push_back(time_ns([] { spans(10); }) / 10);
  }
  char note[128];
  std::snprintf(note, sizeof note,
                "floor %.0f ns likewise (checksum %llu)", median(floor),
                static_cast<unsigned long long>(sum % 1000));
  inform("10-span bursts after 2 MiB of host work, ns a span", median(plain),
         note);
}

void report_disabled(const Options& options) {
  constexpr std::uint64_t kLoops = 1'000'000;
  const int repetitions = options.quick ? 100 : 400;
  std::vector<double> empty, off;
  disabled_spans(1);  // registers the site
  for (int i = 0; i < repetitions; ++i) {
    empty.push_back(time_ns([] { empty_loop(kLoops); }) / kLoops);
    off.push_back(time_ns([] { disabled_spans(kLoops); }) / kLoops);
  }
  char note[96];
  std::snprintf(note, sizeof note, "%.3f ns a span, %.3f ns an empty turn",
                clean(off), clean(empty));
  report("disabled span less an empty loop, ns", clean(off) - clean(empty),
         timer_step_ns(), note);
}

}  // namespace weft::bench
