// SPDX-License-Identifier: Apache-2.0
// Budget: 3 M events/s a core from .weft to Chrome JSON (architecture, Budgets).
//
// One event is a span without arguments; a parent encloses nine leaves. Both
// passes over the file are measured, and formatting; not the disk.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "export/fake_catalog.h"
#include "export/slot_builder.h"
#include "weft/export/chrome_json.h"
#include "weft/export/trace_reader.h"

namespace weft::exporters {
namespace {

constexpr std::uint64_t kSpans = 400'000;

std::string record() {
  const std::string path =
      "chrome_json_bench_" + std::to_string(getpid()) + ".weft";
  OutputOptions options;
  options.path = path;
  std::unique_ptr<Exporter> exporter;
  Error error;
  weft_open_output(options, &exporter, &error);
  if (exporter == nullptr) std::abort();
  ProcessInfo process;
  process.pid = 42;
  process.tick_hz = 1e9;
  exporter->begin(process, {});
  test::FakeCatalog catalog;
  const SiteId outer = catalog.add_site(SiteKind::kSpan, "handle_request");
  const SiteId inner = catalog.add_site(SiteKind::kSpan, "decode");
  test::SlotBuilder slots(catalog.add_thread("main", 100));
  exporter->define(catalog);
  ClockAnchor anchor;
  anchor.half_width.fill(20);
  exporter->anchor(anchor);
  Ticks tick = 100;
  for (std::uint64_t i = 0; i < kSpans; i += 10) {
    const auto parent = slots.begin(tick, outer);
    for (int child = 0; child < 9; ++child, tick += 100)
      slots.end(tick + 60, slots.begin(tick + 10, inner));
    slots.end(tick, parent);
    if (slots.slots().size() < 2000) continue;
    if (!exporter->consume(slots.run())) std::abort();
    slots.drained();
    exporter->work();
  }
  if (!exporter->consume(slots.run())) std::abort();
  anchor.tick.fill(tick);
  anchor.ns.fill(static_cast<std::int64_t>(tick));
  exporter->anchor(anchor);
  SubscriptionEnd end;
  end.stop_tick = tick;
  exporter->end(end);
  while (exporter->work()) {
  }
  return path;
}

void convert(benchmark::State& state, const char* to) {
  const std::string from = record();
  auto reader = TraceReader::open(from);
  if (!reader) std::abort();
  for (auto _ : state) {
    auto reports = convert_to_chrome_json(*reader, to);
    if (!reports) std::abort();
    benchmark::DoNotOptimize(reports);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(kSpans) *
                          state.iterations());
  std::remove(from.c_str());
}

void read_only(benchmark::State& state) {
  const std::string from = record();
  auto reader = TraceReader::open(from);
  if (!reader) std::abort();
  DecodedRecord record;
  for (auto _ : state) {
    reader->rewind();
    while (reader->next(&record)) benchmark::DoNotOptimize(record);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(kSpans) *
                          state.iterations());
  std::remove(from.c_str());
}

BENCHMARK_CAPTURE(convert, to_json, "/dev/null");
BENCHMARK(read_only);

}  // namespace
}  // namespace weft::exporters

BENCHMARK_MAIN();
