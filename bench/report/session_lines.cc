// SPDX-License-Identifier: Apache-2.0
// What sessions cost: their threads, their drops, their beginnings.

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "call_costs.h"
#include "held_drainer.h"
#include "report.h"
#include "service_cpu.h"
#include "weft/subscription.h"
#include "weft/weft.h"

namespace weft::bench {
namespace {

// How long 500 threads at once take that record ten spans each, from the moment
// that all of them are there.
double threads_at_once_us() {
  constexpr int kThreads = 500;
  std::barrier<> begin(kThreads + 1), end(kThreads + 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      begin.arrive_and_wait();
      spans(10);
      end.arrive_and_wait();
    });
  begin.arrive_and_wait();
  const double ns = time_ns([&] { end.arrive_and_wait(); });
  for (std::thread& thread : threads) thread.join();
  return ns / 1000;
}

// What the kernel charges for waking up alone, which on virtual machines is more
// than what is done then.
double sleeper_percent(double wake_ups_per_second) {
  constexpr double kSeconds = 2;
  const int count = std::max(1, static_cast<int>(wake_ups_per_second * kSeconds));
  const std::uint64_t before = own_cpu_ns();
  for (int i = 0; i < count; ++i)
    std::this_thread::sleep_for(std::chrono::duration<double>(kSeconds / count));
  return static_cast<double>(own_cpu_ns() - before) / (kSeconds * 1e9) * 100;
}

}  // namespace

// As fast as one thread can, to a file, with the drainer beside it.
void report_flat_out(const Options& options) {
  std::vector<double> solo;
  for (int i = 0; i < 300; ++i)
    solo.push_back(time_ns([] { floor_spans(kBurst); }) / kBurst);

  const std::string path = path_in(options, "weft_report_flat.weft");
  InitOptions init_options;
  init_options.output = path;
  init_options.categories = "-never";
  if (!init(init_options).ok() || !thread_init().ok()) std::exit(1);
  const double seconds = options.quick ? 3 : 10;
  std::vector<double> chunks;
  std::uint64_t count = 0;
  const ServiceUse before = service_use();
  const Ticks begin = internal::read_ticks();
  while (ns_of(internal::read_ticks() - begin) < seconds * 1e9) {
    for (int i = 0; i < 100; ++i) {
      chunks.push_back(time_ns([] { spans(kBurst); }) / kBurst);
      count += kBurst;
    }
  }
  const ServiceUse use = service_use() - before;
  (void)stop();
  const RuntimeStatus end = status();
  (void)shutdown();
  const double lost = static_cast<double>(end.total_dropped()) /
                      static_cast<double>(2 * count);
  char note[256];
  std::snprintf(note, sizeof note,
                "%.1f ns (p50 of 1000-span chunks), solo floor %.1f ns, %.1f M "
                "spans/s",
                median(chunks), clean(solo),
                static_cast<double>(count) / seconds / 1e6);
  report("flat out span / solo floor", median(chunks) / clean(solo), 1.25, note);
  std::snprintf(note, sizeof note,
                "%llu of %llu records; the drainer waited %.1f ms for a CPU",
                static_cast<unsigned long long>(end.total_dropped()),
                static_cast<unsigned long long>(2 * count),
                static_cast<double>(use.drainer_delay_ns) / 1e6);
  // What its run delay explains is the machine's: nobody can drain without a CPU.
  const double delay = static_cast<double>(use.drainer_delay_ns) /
                       (seconds * 1e9);
  report("flat out, dropped beyond the drainer's run delay, %",
         std::max(0.0, lost - delay) * 100, 0.1, note);
  const double slots = 2 * static_cast<double>(count) * (1 - lost);
  std::snprintf(note, sizeof note, "and %.2f ns of the helper's writing",
                static_cast<double>(use.helper_cpu_ns) / slots);
  report("drain and encode, ns CPU a slot",
         static_cast<double>(use.drainer_cpu_ns) / slots, 4, note);
  report("file, bytes a span (spans of 20 ns, flat out)",
         static_cast<double>(end.bytes_written) / (slots / 2), 8);
  std::filesystem::remove(path);
}

// K6-03: whether the drainer's polling costs its writer anything. Both times the
// same spans, as many as a ring holds, in a warm ring.
void report_polling(const Options& options) {
  constexpr std::uint64_t kSpans = 100'000;
  const auto exporter = std::make_shared<HeldDrainer>();
  Result<Subscription> running = subscribe({}, exporter);
  if (!running.ok() || !thread_init().ok()) std::exit(1);
  std::vector<double> polling, stopped;
  const auto drained = [] { std::this_thread::sleep_for(10 * kPause); };
  spans(kSpans);
  for (int i = 0; i < (options.quick ? 30 : 150); ++i) {
    drained();
    polling.push_back(time_ns([] { spans(kSpans); }) / kSpans);
    drained();
    exporter->hold();
    stopped.push_back(time_ns([] { spans(kSpans); }) / kSpans);
    exporter->release();
  }
  char note[96];
  std::snprintf(note, sizeof note, "%.1f ns a span, %.1f ns; medians %.1f, %.1f",
                clean(polling), clean(stopped), median(polling),
                median(stopped));
  report("K6-03 span, drainer polling / stopped",
         clean(polling) / clean(stopped), 1.1, note);
  (void)running->stop();
}

// K5-03: what a span costs that is refused, because nobody empties the ring,
// against one that is recorded. At the end as at the beginning.
void report_refused(const Options& options) {
  constexpr std::uint64_t kSpans = 1000;
  constexpr std::uint64_t kMoreThanARing = 1'000'000;
  const auto exporter = std::make_shared<HeldDrainer>();
  Result<Subscription> running = subscribe({}, exporter);
  if (!running.ok() || !thread_init().ok()) std::exit(1);
  const int times = options.quick ? 200 : 2000;
  std::vector<double> recorded, first, last;
  for (int i = 0; i < times; ++i) {
    if (i % 20 == 0) std::this_thread::sleep_for(kPause);
    recorded.push_back(time_ns([] { spans(kSpans); }) / kSpans);
  }
  exporter->hold();
  spans(kMoreThanARing);
  for (int i = 0; i < times; ++i)
    first.push_back(time_ns([] { spans(kSpans); }) / kSpans);
  spans(options.quick ? kMoreThanARing : 50 * kMoreThanARing);
  for (int i = 0; i < times; ++i)
    last.push_back(time_ns([] { spans(kSpans); }) / kSpans);
  exporter->release();
  char note[96];
  std::snprintf(note, sizeof note, "%.1f ns, later %.1f ns; recorded %.1f ns",
                clean(first), clean(last), clean(recorded));
  report("K5-03 span, refused / recorded", clean(last) / clean(recorded), 1.5,
         note);
  (void)running->stop();
}

// K6-03: what registration costs when everybody comes at once.
void report_registration(const Options& options) {
  std::vector<double> off, on;
  for (int i = 0; i < (options.quick ? 10 : 40); ++i) {
    off.push_back(threads_at_once_us());
    Result<Subscription> running =
        subscribe({}, std::make_shared<HeldDrainer>());
    if (!running.ok()) std::exit(1);
    on.push_back(threads_at_once_us());
    (void)running->stop();
  }
  char note[96];
  std::snprintf(note, sizeof note, "%.0f us, %.0f us with the site off",
                median(on), median(off));
  report("K6-03 500 threads at once, recorded / off", median(on) / median(off),
         2, note);
}

// Instrumented calls beside spans.
void report_calls(const Options& options) {
  const CallCosts costs = measure_call_costs(options.quick ? 200 : 1000);
  char note[160];
  std::snprintf(note, sizeof note, "%.3f ns a call, %.3f ns a span",
                clean(costs.off_call), clean(costs.off_span));
  report("call that nobody listens to, less a disabled span, ns",
         clean(costs.off_call) - clean(costs.off_span), timer_step_ns(), note);
  report("paced call in a session / paced span", ratio(costs.call, costs.span),
         1.05, beside(costs.call, costs.span));
  std::snprintf(note, sizeof note, "%.1f ns a call", clean(costs.shapes));
  report("slots that the inputs of a call take (two of four dimensions)",
         costs.shape_slots, 2, note);
  inform("call with an empty callback, no session, ns", clean(costs.callback),
         "");
  std::snprintf(note, sizeof note, "%.0f ns a call, %.0f frames",
                clean(costs.stack), costs.frames);
  inform("stack of a call, ns a frame",
         (clean(costs.stack) - clean(costs.call)) / std::max(1.0, costs.frames),
         note);
}

void report_idle(const Options& options) {
  const std::string path = path_in(options, "weft_report_idle.weft");
  if (!init(path).ok()) std::exit(1);
  { WEFT_SPAN("span"); }
  std::this_thread::sleep_for(std::chrono::milliseconds(12'500));
  const ServiceUse before = service_use();
  const double seconds = options.quick ? 4 : 20;
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const ServiceUse use = service_use() - before;
  (void)shutdown();
  char note[96];
  std::snprintf(note, sizeof note,
                "a thread that does nothing but sleep as often: %.3f %%",
                sleeper_percent(static_cast<double>(use.wake_ups) / seconds));
  report("idle session, % of a core",
         static_cast<double>(use.drainer_cpu_ns + use.helper_cpu_ns) /
             (seconds * 1e9) * 100,
         0.1, note);
  report("idle session, wake-ups/s",
         static_cast<double>(use.wake_ups) / seconds, 20);
  std::filesystem::remove(path);
}

}  // namespace weft::bench
