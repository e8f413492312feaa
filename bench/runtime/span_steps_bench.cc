// SPDX-License-Identifier: Apache-2.0
// A profile of the recorded span where no performance counters are to be had:
// the floor, and what each promise of the recording path adds to it, one after
// the other. The last step but one is what span.h does; the last is span.h.
//
//   --benchmark_enable_random_interleaving=true --benchmark_repetitions=40
//
// and compare minima.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstdint>
#include <memory>
#include <vector>

#include "null_exporter.h"
#include "weft/internal/tick_counter.h"
#include "weft/record.h"
#include "weft/ringbuf/spsc_ring.h"
#include "weft/subscription.h"
#include "weft/weft.h"

namespace weft {
namespace {

constexpr std::uint64_t kSpans = 1000;
constexpr std::size_t kSlots = (1 << 20) / sizeof(Slot);

// Each includes those above it.
enum Step {
  kFloor,      // two reads, two stores, the position in a register
  kIndexed,    // where the ring lies, and how large it is, out of memory
  kPublished,  // the position in shared memory, stored after each record
  kGuarded,    // a signal handler sees that a record is under way
  kRoomy,      // is there room, and a promise for the end
  kOwned,      // the thread's ring by its thread-local; the same at the end
  kSwitched,   // is the site on
};

struct Thread {
  Slot* slots;
  std::uint64_t mask;
  std::atomic<std::uint64_t> limit;
  std::uint64_t promised;
  std::atomic<std::uint64_t>* position;
  std::uint64_t tag;
};

std::vector<Slot> buffer(kSlots);
alignas(64) std::atomic<std::uint64_t> shared_position{0};
alignas(64) Thread own{buffer.data(), kSlots - 1, {~std::uint64_t{0}}, 0,
                       &shared_position, std::uint64_t{7} << 32};
thread_local Thread* this_thread __attribute__((tls_model("initial-exec"))) = &own;
std::atomic<std::uint8_t> site_state{1};
std::atomic<std::uint32_t> site_number{3};

std::uint64_t load(const std::atomic<std::uint64_t>& word) noexcept {
  return word.load(std::memory_order_relaxed);  // this thread's alone
}

template <Step kStep, bool kBegin>
__attribute__((always_inline)) inline std::uint64_t half(Thread* known,
                                                         std::uint64_t& local,
                                                         std::uint64_t ids,
                                                         std::uint64_t begun) {
  Thread& thread = kStep >= kOwned ? *this_thread : *known;
  if (kStep >= kOwned && !kBegin && (ids ^ thread.tag) >> 32 != 0) std::abort();
  std::uint64_t limit = 0;
  if constexpr (kStep >= kGuarded) {
    limit = load(thread.limit);
    if (limit == 0) std::abort();
    thread.limit.store(0, std::memory_order_relaxed);  // ordered by the fence
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  const std::uint64_t at = kStep >= kPublished ? load(*thread.position) : local;
  if constexpr (kStep >= kRoomy) {
    if (kBegin) {
      if (at + thread.promised + 2 > limit) std::abort();
      ++thread.promised;
    } else {
      --thread.promised;
    }
  }
  Slot& slot = kStep >= kIndexed ? thread.slots[at & thread.mask]
                                 : buffer[at % kSlots];
  slot.word0 = head_word(
      kBegin ? RecordKind::kSpanBegin : RecordKind::kSpanEnd, 0,
      internal::read_ticks());
  slot.word1 = kBegin ? ids & 0xffffffff : begun << 32 | (ids & 0xffffffff);
  if constexpr (kStep >= kPublished)
    thread.position->store(at + 1, std::memory_order_release);
  else
    local = at + 1;
  if constexpr (kStep >= kGuarded) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread.limit.store(limit, std::memory_order_release);
  }
  return at;
}

template <Step kStep>
void span(benchmark::State& state) {
  std::uint64_t local = 0;
  Thread* const known = &own;
  for (auto _ : state)
    for (std::uint64_t i = 0; i < kSpans; ++i) {
      if (kStep >= kSwitched &&
          site_state.load(std::memory_order_relaxed) != 1)  // a flag of its own
        std::abort();
      // Relaxed: stored before the site is switched on.
      const std::uint64_t ids =
          known->tag | site_number.load(std::memory_order_relaxed);
      const std::uint64_t begun = half<kStep, true>(known, local, ids, 0);
      asm volatile("" ::: "memory");
      half<kStep, false>(known, local, ids, begun);
    }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kSpans));
}

// The real one, into a ring that the drainer empties between the batches.
void weft_span(benchmark::State& state) {
  Result<Subscription> running = subscribe({}, make_null_exporter());
  if (!running.ok() || !thread_init().ok()) {
    state.SkipWithError("no session");
    return;
  }
  for (auto _ : state)
    for (std::uint64_t i = 0; i < kSpans; ++i) {
      WEFT_SPAN("span");
      asm volatile("" ::: "memory");
    }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kSpans));
  (void)running->stop();
}

void few_per_repetition(benchmark::internal::Benchmark* benchmark) {
  benchmark->Iterations(100)->ComputeStatistics(
      "min", [](const std::vector<double>& all) {
        return *std::min_element(all.begin(), all.end());
      });
}

BENCHMARK(span<kFloor>)->Apply(few_per_repetition);
BENCHMARK(span<kIndexed>)->Apply(few_per_repetition);
BENCHMARK(span<kPublished>)->Apply(few_per_repetition);
BENCHMARK(span<kGuarded>)->Apply(few_per_repetition);
BENCHMARK(span<kRoomy>)->Apply(few_per_repetition);
BENCHMARK(span<kOwned>)->Apply(few_per_repetition);
BENCHMARK(span<kSwitched>)->Apply(few_per_repetition);
BENCHMARK(weft_span)->Apply(few_per_repetition);

}  // namespace
}  // namespace weft
