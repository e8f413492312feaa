// SPDX-License-Identifier: Apache-2.0
// What the drainer does with each slot before an exporter sees it: runs that
// are handed over whole, and runs that a filter looks through.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "export/fake_catalog.h"
#include "export/slot_builder.h"
#include "null_exporter.h"
#include "pipeline.h"

namespace weft {
namespace {

constexpr std::size_t kSlotsPerPass = 16'384;

void deliver(benchmark::State& state, const std::string& filter, bool track) {
  test::FakeCatalog catalog;
  const SiteId request = catalog.add_site(SiteKind::kSpan, "request", "net");
  const SiteId query = catalog.add_site(SiteKind::kSpan, "query", "db");
  test::SlotBuilder slots(ThreadIndex{1});
  Ticks tick = 1000;
  while (slots.slots().size() < kSlotsPerPass) {
    const auto outer = slots.begin(tick += 40, request);
    for (int i = 0; i < 3; ++i) {
      const auto inner = slots.begin(tick += 40, query);
      slots.end(tick += 40, inner);
    }
    slots.end(tick += 40, outer);
  }

  Pipeline pipeline(catalog);
  auto subscription = std::make_shared<SubscriptionState>();
  subscription->filter = *CategoryFilter::parse(filter);
  subscription->exporter = make_null_exporter();
  if (track) subscription->open.track();
  pipeline.add(subscription);
  Run run;
  run.thread = ThreadIndex{1};
  run.first = slots.slots().data();
  run.first_count = static_cast<std::uint32_t>(slots.slots().size());
  run.reference = tick + 1000;
  for (auto _ : state) pipeline.deliver(run);
  state.counters["a_slot"] = benchmark::Counter(
      static_cast<double>(state.iterations() * run.first_count),
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK_CAPTURE(deliver, whole, "", false);
BENCHMARK_CAPTURE(deliver, filtered_all_pass, "net,db", true);
BENCHMARK_CAPTURE(deliver, filtered_a_quarter_passes, "net", true);

}  // namespace
}  // namespace weft
