// SPDX-License-Identifier: Apache-2.0
// What files cost: writing, converting, reading.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include "reading.h"
#include "report.h"
#include "service_cpu.h"
#include "weft/export/chrome_json.h"
#include "weft/export/trace_reader.h"
#include "weft/weft.h"

namespace weft::bench {
namespace {

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

}  // namespace

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

}  // namespace weft::bench
