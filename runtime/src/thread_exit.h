// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_THREAD_EXIT_H_
#define WEFT_SRC_THREAD_EXIT_H_

#include <cstdint>
#include <string_view>

#include "segment_stock.h"
#include "weft/internal/thread_state.h"
#include "weft/record.h"

namespace weft {

class Runtime;

namespace internal {

// What weft_thread_state points to in a thread without a ring: no room, no index.
extern ThreadState no_ring;

// The calling thread, as far as it can record.
//
//   state   index
//   set     set    has a ring
//   null    set    is past its end: records go to the side channel
//   null    0      has none, for the reason in `without`
struct CurrentThread {
  ThreadState* state = nullptr;
  std::uint32_t index = 0;
  bool fresh = false;  // this call enrolled it
  DropReason without = DropReason::kNoRing;
};

// Enrolls the thread at its first call, with a ring of at most `rung`, or the one
// that memory suggests, and
// arranges for the end of the thread: its place is left in the last round but one
// of pthread key destructors, so that records of thread_local destructors and of
// other keys' destructors still find the ring. Async-signal-safe.
CurrentThread current_thread(Runtime& runtime, Rung rung) noexcept;
CurrentThread current_thread(Runtime& runtime) noexcept;

// Gives the calling thread a warm ring of `rung`, if it has a smaller one and
// there is one. Cold.
void settle_in(Runtime& runtime, ThreadState& thread, Rung rung) noexcept;

// Names the calling thread, now or when it enrolls. Copies the text.
void name_thread(Runtime& runtime, std::string_view text) noexcept;

}  // namespace internal
}  // namespace weft

#endif  // WEFT_SRC_THREAD_EXIT_H_
