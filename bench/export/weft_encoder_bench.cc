// SPDX-License-Identifier: Apache-2.0
// Cost and size of encoding slots into blocks, as the drainer does it: a pass
// over the slots of a ring, blocks finished (with their checksum) when full.

#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "block_encoder.h"
#include "export/slot_builder.h"

namespace weft::exporters {
namespace {

constexpr std::size_t kSlotsPerPass = 16'384;

// Spans of 20 ns to 100 us at 2 GHz, evenly in the logarithm.
class Workload {
 public:
  Ticks gap() { return 40 + (random_() % 200'000 >> (random_() % 12)); }
  SiteId site() { return static_cast<SiteId>(1 + random_() % 60); }
  std::int64_t value() {
    return static_cast<std::int64_t>(random_() % 1'000'000 >> (random_() % 20));
  }

  // One span after the other.
  test::SlotBuilder flat(bool argument) {
    test::SlotBuilder slots(ThreadIndex{1});
    while (slots.slots().size() < kSlotsPerPass) {
      const auto span = slots.begin(tick_ += gap(), site());
      if (argument) slots.int64(0, value());
      slots.end(tick_ += gap(), span);
    }
    return slots;
  }

  // A request with the same tree of spans below it, again and again.
  test::SlotBuilder nested() {
    test::SlotBuilder slots(ThreadIndex{1});
    while (slots.slots().size() < kSlotsPerPass) {
      const auto request = slots.begin(tick_ += gap(), SiteId{1});
      for (std::uint32_t part = 0; part < 3; ++part) {
        const auto outer = slots.begin(tick_ += gap(), SiteId{2 + part});
        for (std::uint32_t leaf = 0; leaf < 3; ++leaf) {
          const auto inner = slots.begin(tick_ += gap(), SiteId{10 + leaf});
          slots.end(tick_ += gap(), inner);
        }
        slots.end(tick_ += gap(), outer);
      }
      slots.end(tick_ += gap(), request);
    }
    return slots;
  }

  // Calls and returns without a pattern: branch prediction fails.
  test::SlotBuilder irregular() {
    test::SlotBuilder slots(ThreadIndex{1});
    std::vector<test::OpenSpan> open;
    while (slots.slots().size() < kSlotsPerPass) {
      if (open.empty() || (random_() % 2 == 0 && open.size() < 30)) {
        open.push_back(slots.begin(tick_ += gap(), site()));
      } else {
        slots.end(tick_ += gap(), open.back());
        open.pop_back();
      }
    }
    return slots;
  }

 private:
  std::mt19937_64 random_{1};
  Ticks tick_ = 1ull << 45;
};

void encode_passes(benchmark::State& state, const test::SlotBuilder& slots) {
  std::vector<std::uint8_t> memory(kMaxBlockBytes);
  BlockEncoder encoder;
  encoder.start(memory.data(), memory.size());
  const Run run = slots.run();
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    std::uint32_t done = 0;
    while (!encoder.encode(run, &done)) {
      bytes += encoder.finish(0);
      encoder.start(memory.data(), memory.size());
    }
    benchmark::ClobberMemory();
  }
  bytes += encoder.content_bytes();
  const double total = static_cast<double>(state.iterations()) *
                       static_cast<double>(run.first_count);
  double heads = 0;
  for (const Slot& slot : slots.slots())
    heads += kind_of(slot) == RecordKind::kSpanBegin ? 1 : 0;
  state.counters["ns/slot"] = benchmark::Counter(
      total / 1e9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["bytes/span"] =
      static_cast<double>(bytes) /
      (heads * static_cast<double>(state.iterations()));
}

void BM_FlatSpans(benchmark::State& state) {
  encode_passes(state, Workload().flat(false));
}
void BM_FlatSpansWithInteger(benchmark::State& state) {
  encode_passes(state, Workload().flat(true));
}
void BM_NestedSpans(benchmark::State& state) {
  encode_passes(state, Workload().nested());
}
void BM_IrregularSpans(benchmark::State& state) {
  encode_passes(state, Workload().irregular());
}
BENCHMARK(BM_FlatSpans);
BENCHMARK(BM_FlatSpansWithInteger);
BENCHMARK(BM_NestedSpans);
BENCHMARK(BM_IrregularSpans);

}  // namespace
}  // namespace weft::exporters
