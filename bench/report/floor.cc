// SPDX-License-Identifier: Apache-2.0
#include "floor.h"

#include <array>

#include "weft/internal/tick_counter.h"
#include "weft/record.h"
#include "weft/weft.h"

namespace weft::bench {
namespace {

constexpr std::size_t kSlots = (1 << 20) / sizeof(Slot);
alignas(4096) std::array<Slot, kSlots> buffer;
std::uint64_t position = 0;

}  // namespace

// No inlining: each runs as a loop of its own, aligned alike in every caller.
__attribute__((noinline)) void floor_spans(std::uint64_t count) {
  std::uint64_t at = position;
  for (std::uint64_t i = 0; i < count; ++i) {
    Slot& begin = buffer[at++ % kSlots];
    begin.word0 = internal::read_ticks();
    begin.word1 = i;
    Slot& end = buffer[at++ % kSlots];
    end.word0 = internal::read_ticks();
    end.word1 = i;
    asm volatile("" ::: "memory");
  }
  position = at;
}

__attribute__((noinline)) void empty_loop(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) asm volatile("" ::: "memory");
}

__attribute__((noinline)) void disabled_spans(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    WEFT_SPAN_CAT("never", "disabled");
    asm volatile("" ::: "memory");
  }
}

}  // namespace weft::bench
