// SPDX-License-Identifier: Apache-2.0

// Prints the budgets of weft and what this machine makes of them, a line each:
//
//   metric <tab> value <tab> budget <tab> ok|OVER <tab> note
//
// A figure without a budget has "-" for both.
//
// Everything is compared with the floor (floor.h) measured in the same run.
// bench/README.md tells how to read it.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "call_costs.h"
#include "floor.h"
#include "held_drainer.h"
#include "quantiles.h"
#include "reading.h"
#include "service_cpu.h"
#include "weft/export/chrome_json.h"
#include "weft/export/trace_reader.h"
#include "weft/internal/tick_counter.h"
#include "weft/subscription.h"
#include "weft/weft.h"

namespace {

using namespace weft;
using namespace weft::bench;

constexpr std::uint64_t kBurst = 1000;  // spans; the drainer rests in between
constexpr auto kPause = std::chrono::microseconds(400);

struct Options {
  bool quick = false;
  std::string json;
  std::string directory = ".";
};

struct Line {
  std::string metric;
  double value;
  double budget;
  bool at_least;  // the budget is a lower bound
  std::string note;
  bool ok() const { return at_least ? value >= budget : value <= budget; }
};

std::vector<Line> lines;

void report(std::string metric, double value, double budget,
            std::string note = {}, bool at_least = false) {
  lines.push_back({std::move(metric), value, budget, at_least, std::move(note)});
  const Line& line = lines.back();
  std::printf("%s\t%.4g\t%s%.4g\t%s%s%s\n", line.metric.c_str(), line.value,
              at_least ? ">= " : "<= ", line.budget, line.ok() ? "ok" : "OVER",
              line.note.empty() ? "" : "\t", line.note.c_str());
  std::fflush(stdout);
}

// A figure without a budget.
void inform(const std::string& metric, double value, const std::string& note) {
  std::printf("%s\t%.4g\t-\t-\t%s\n", metric.c_str(), value, note.c_str());
  std::fflush(stdout);
}

double ns_of(Ticks ticks) {
  return static_cast<double>(ticks) / ticks_per_ns();
}

template <class F>
double time_ns(F f) {
  const Ticks begin = internal::read_ticks_fenced();
  f();
  return ns_of(internal::read_ticks_fenced() - begin);
}

__attribute__((noinline)) void spans(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    WEFT_SPAN("span");
    asm volatile("" ::: "memory");
  }
}

__attribute__((noinline)) void spans_with_argument(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    WEFT_SPAN("span_with_argument", {"i", i});
    asm volatile("" ::: "memory");
  }
}

std::string path_in(const Options& options, const char* name) {
  return options.directory + "/" + name;
}

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

// The middle of the best tenth: what the code costs when the machine lets it.
double clean(const std::vector<double>& values) {
  return quantile(values, 0.05);
}

double ratio(const std::vector<double>& values,
             const std::vector<double>& floor) {
  return clean(values) / clean(floor);
}

std::string beside(const std::vector<double>& values,
                   const std::vector<double>& floor) {
  char text[128];
  std::snprintf(text, sizeof text, "%.1f ns, floor %.1f ns; medians %.1f, %.1f",
                clean(values), clean(floor), median(values), median(floor));
  return text;
}

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
         costs.shape_slots, 4, note);
  inform("call with an empty callback, no session, ns", clean(costs.callback),
         "");
  std::snprintf(note, sizeof note, "%.0f ns a call, %.0f frames",
                clean(costs.stack), costs.frames);
  inform("stack of a call, ns a frame",
         (clean(costs.stack) - clean(costs.call)) / std::max(1.0, costs.frames),
         note);
}

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

// A program of some shape: nested spans of 20 ns to 100 us.
void record_workload(std::uint64_t spans_wanted) {
  std::uint64_t state = 88172645463325252u;
  std::uint64_t made = 0;
  while (made < spans_wanted) {
    WEFT_SPAN("request");
    const std::uint64_t children = 2 + (state >> 20) % 6;
    for (std::uint64_t c = 0; c < children; ++c) {
      WEFT_SPAN("parse");
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      // Mostly short, sometimes long: 2^(0..12) turns of some ns.
      volatile std::uint64_t turns = std::uint64_t{1} << (state % 13);
      while (turns != 0) turns = turns - 1;
    }
    made += 1 + children;
  }
}

void report_export(const Options& options) {
  const std::string path = path_in(options, "weft_report_work.weft");
  const std::string json = path_in(options, "weft_report_work.json");
  const std::uint64_t wanted = options.quick ? 400'000 : 2'000'000;
  if (!init(path).ok() || !thread_init().ok()) std::exit(1);
  record_workload(wanted);
  (void)shutdown();
  auto reader = exporters::TraceReader::open(path);
  if (!reader.ok()) {
    std::fprintf(stderr, "%s\n", reader.error().message.c_str());
    std::exit(1);
  }
  const auto records = static_cast<double>(reader->info().records);
  report("file, bytes a span (nested, 20 ns to 100 us)",
         static_cast<double>(reader->info().file_bytes) / (records / 2), 8);
  timespec cpu_begin, cpu_end;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu_begin);
  auto files = exporters::convert_to_chrome_json(*reader, json);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu_end);
  const double seconds =
      static_cast<double>(cpu_end.tv_sec - cpu_begin.tv_sec) +
      static_cast<double>(cpu_end.tv_nsec - cpu_begin.tv_nsec) / 1e9;
  if (!files.ok()) std::exit(1);
  char note[96];
  std::snprintf(note, sizeof note, "%.1f M records a s (two a span)",
                records / seconds / 1e6);
  report("JSON export, M events/s CPU",
         static_cast<double>((*files)[0].events) / seconds / 1e6, 3, note, true);
  std::filesystem::remove(path);
  std::filesystem::remove(json);
}

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

// Chrome JSON of other tools, against a parser that only parses.
void report_reading_json(const Options& options) {
  const std::string path = path_in(options, "weft_report_read.json");
  const std::uint64_t wanted = options.quick ? 40'000'000 : 200'000'000;
  const std::uint64_t events = write_chrome_trace(path, wanted);
  const auto bytes = static_cast<double>(std::filesystem::file_size(path));
  std::vector<double> parse, read;
  SummaryUse use;
  for (int i = 0; i < 3; ++i) {
    parse.push_back(parse_seconds(path));
    use = summarize(path);
    if (!use.ok || parse.back() <= 0) fail(path + " cannot be read");
    read.push_back(use.cpu_seconds);
  }
  std::filesystem::remove(path);
  const double best = *std::min_element(read.begin(), read.end());
  char note[128];
  std::snprintf(note, sizeof note, "%.0f MB, %.2f M events in %.2f s CPU",
                bytes / 1e6, static_cast<double>(events) / 1e6, best);
  report("summary of Chrome JSON / simdjson's parse",
         best / *std::min_element(parse.begin(), parse.end()), 1.5, note);
  report("summary of Chrome JSON, peak memory / file",
         static_cast<double>(use.peak_bytes) / bytes, 2,
         options.quick ? "a smaller file than the budget is meant for" : "");
}

void report_reading_weft(const Options& options) {
  const std::string path = path_in(options, "weft_report_read.weft");
  const std::uint64_t wanted = options.quick ? 1'000'000 : 10'000'000;
  if (!init(path).ok() || !thread_init().ok()) std::exit(1);
  // Bursts that the drainer keeps up with: nothing is dropped.
  for (std::uint64_t made = 0; made < wanted; made += 10 * kBurst) {
    record_workload(10 * kBurst);
    std::this_thread::sleep_for(kPause);
  }
  (void)shutdown();
  const auto reader = exporters::TraceReader::open(path);
  if (!reader.ok()) fail(reader.error().message);
  const auto spans = static_cast<double>(reader->info().records) / 2;
  const SummaryUse use = summarize(path);
  if (!use.ok) fail(path + " cannot be read");
  std::filesystem::remove(path);
  char note[128];
  std::snprintf(note, sizeof note, "%.2f M spans in %.2f s", spans / 1e6,
                use.cpu_seconds);
  report("summary of 10 M spans of a .weft, s CPU",
         use.cpu_seconds * 1e7 / spans, 3, note);
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

void write_json(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    std::perror(path.c_str());
    std::exit(1);
  }
  std::fputs("[\n", file);
  for (std::size_t i = 0; i < lines.size(); ++i)
    std::fprintf(file,
                 "  {\"metric\": \"%s\", \"value\": %.6g, \"budget\": %.6g, "
                 "\"ok\": %s, \"note\": \"%s\"}%s\n",
                 lines[i].metric.c_str(), lines[i].value, lines[i].budget,
                 lines[i].ok() ? "true" : "false", lines[i].note.c_str(),
                 i + 1 < lines.size() ? "," : "");
  std::fputs("]\n", file);
  std::fclose(file);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--quick") {
      options.quick = true;
    } else if (word == "--json" && i + 1 < argc) {
      options.json = argv[++i];
    } else if (word == "--directory" && i + 1 < argc) {
      options.directory = argv[++i];
    } else {
      std::fprintf(stderr,
                   "usage: weft_report [--quick] [--json FILE] "
                   "[--directory DIR]\n");
      std::exit(2);
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  report_reading_json(options);  // first: it measures memory
  const std::string paced = path_in(options, "weft_report_paced.weft");
  InitOptions init_options;
  init_options.output = paced;
  init_options.categories = "-never";
  const Result<void> started = init(init_options);
  if (!started.ok() || !thread_init().ok()) return 1;
  report_paced(options);
  report_threads(options);
  report_tail(options);
  report_cold(options);
  report_disabled(options);
  (void)shutdown();
  std::filesystem::remove(paced);
  // Before sessions with other filters: after those, one with a filter is
  // looked through record by record.
  report_flat_out(options);
  report_polling(options);
  report_refused(options);
  report_registration(options);
  report_calls(options);
  report_export(options);
  report_reading_weft(options);
  report_idle(options);
  if (!options.json.empty()) write_json(options.json);
  return std::all_of(lines.begin(), lines.end(),
                     [](const Line& line) { return line.ok(); })
             ? 0
             : 3;
}
