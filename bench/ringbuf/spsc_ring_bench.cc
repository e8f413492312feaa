// SPDX-License-Identifier: Apache-2.0
//
// The ring alone, without the clock reads that hide most of it: what a record
// costs its thread, and what a slot costs the drainer. One thread plays both
// sides, a half full ring at a time; only one side is timed.

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "weft/ringbuf/spsc_ring.h"

namespace weft::ringbuf {
namespace {

constexpr std::uint64_t kCapacity = 1 << 16;     // 1 MiB of slots
constexpr std::uint64_t kBatch = kCapacity / 2;  // slots

class BenchRing {
 public:
  BenchRing() {
    const Segment segment{slots_.data(), kCapacity, 0};
    writer_.attach(&control_, segment, 0);
    reader_.attach(&control_, segment, 0);
  }

  // Producer. A record of `slots`, as a span's begin or end writes it.
  void record(std::uint32_t slots) {
    RingWriter::Claim claim;
    while (!writer_.claim(slots, 0, claim)) {
      if (!writer_.enter()) return;  // nobody else works on this ring
      writer_.refill(slots, 0);
      writer_.leave();
    }
    for (std::uint32_t i = 0; i < slots; ++i) writer_.put(claim, i, i, slots);
    writer_.publish(claim, slots);
  }

  // Consumer. Reads both words of every slot and gives them back.
  std::uint64_t drain() {
    const RingReader::Slots slots = reader_.peek();
    std::uint64_t sum = 0;
    const auto add = [&sum](const Slot* first, std::uint32_t count) {
      for (std::uint32_t i = 0; i < count; ++i)
        sum += Platform::load(first[i].word0) ^ Platform::load(first[i].word1);
    };
    add(slots.first, slots.first_count);
    add(slots.second, slots.second_count);
    reader_.release(slots.size());
    return sum;
  }

 private:
  RingControl control_;
  std::vector<Slot> slots_ = std::vector<Slot>(kCapacity);
  RingWriter writer_;
  RingReader reader_;
};

template <class Work>
void time_once(benchmark::State& state, Work work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - begin;
  state.SetIterationTime(elapsed.count());
}

void write_batch(BenchRing& ring, std::uint32_t slots) {
  for (std::uint64_t i = 0; i < kBatch; i += slots) ring.record(slots);
}

// Time per record of range(0) slots: claim, put, publish.
void SpscRing_Record(benchmark::State& state) {
  BenchRing ring;
  const auto slots = static_cast<std::uint32_t>(state.range(0));
  for (auto _ : state) {
    time_once(state, [&] { write_batch(ring, slots); });
    benchmark::DoNotOptimize(ring.drain());
  }
  state.counters["per_record"] =
      benchmark::Counter(static_cast<double>(kBatch / slots),
                         benchmark::Counter::kIsIterationInvariantRate |
                             benchmark::Counter::kInvert);
}
BENCHMARK(SpscRing_Record)->Arg(1)->Arg(2)->Arg(4)->UseManualTime();

// Time per slot of a pass: peek, read, release.
void SpscRing_Drain(benchmark::State& state) {
  BenchRing ring;
  for (auto _ : state) {
    write_batch(ring, 1);
    time_once(state, [&] { benchmark::DoNotOptimize(ring.drain()); });
  }
  state.counters["per_slot"] =
      benchmark::Counter(static_cast<double>(kBatch),
                         benchmark::Counter::kIsIterationInvariantRate |
                             benchmark::Counter::kInvert);
}
BENCHMARK(SpscRing_Drain)->UseManualTime();

}  // namespace
}  // namespace weft::ringbuf
