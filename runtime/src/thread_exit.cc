// SPDX-License-Identifier: Apache-2.0
#include "thread_exit.h"

#include <limits.h>
#include <pthread.h>

#include <string_view>

#include "runtime.h"

namespace weft::internal {
namespace {

enum class Stage : std::uint8_t { kNew, kEnrolling, kEnrolled, kEnded };

__thread Stage stage WEFT_TLS_MODEL = Stage::kNew;
__thread std::uint32_t last_index WEFT_TLS_MODEL = 0;
// Lies in a string table, which is never unmapped; a forked child's own table
// is another one.
__thread std::string_view chosen_name WEFT_TLS_MODEL;

pthread_key_t exit_key;

// Key destructors run in up to PTHREAD_DESTRUCTOR_ITERATIONS rounds as long as
// one sets its key again; the value counts them. The last round is left to
// others: sanitizers take their own thread state down in it.
void on_thread_exit(void* rounds) {
  const auto round = reinterpret_cast<std::uintptr_t>(rounds);
  if (round < PTHREAD_DESTRUCTOR_ITERATIONS - 1) {
    pthread_setspecific(exit_key, reinterpret_cast<void*>(round + 1));
    return;
  }
  ThreadState* state = weft_thread_state;
  weft_thread_state = &no_ring;
  stage = Stage::kEnded;
  Runtime* runtime = Runtime::instance();
  if (runtime == nullptr || state->index == 0) return;
  runtime->threads.leave(*state, runtime->now());
}

bool exit_key_made = false;

// Made when the library is loaded, before other constructors and while key
// numbers are low: the first 32 need no memory in pthread_setspecific, which
// makes it usable in a handler.
__attribute__((constructor(101))) void make_exit_key() {
  exit_key_made = pthread_key_create(&exit_key, on_thread_exit) == 0;
}

}  // namespace

CurrentThread current_thread(Runtime& runtime) noexcept {
  const std::uint32_t index = weft_thread_state->index;
  if (WEFT_LIKELY(index != 0)) return {weft_thread_state, index};
  // [R2]
  const bool ready = runtime.ready.load(std::memory_order_acquire);
  return current_thread(runtime,
                        ready ? runtime.stock.first_rung() : Rung::kSmall);
}

CurrentThread current_thread(Runtime& runtime, Rung rung) noexcept {
  CurrentThread current;
  current.state = weft_thread_state;
  // An index of 0 is what a forked child finds in its wiped state.
  if (current.state->index != 0) {
    current.index = current.state->index;
    return current;
  }
  current.state = nullptr;
  if (stage == Stage::kEnded) {
    current.index = last_index;
    return current;
  }
  if (stage == Stage::kEnrolling) {
    current.without = DropReason::kSignalHandler;
    return current;
  }
  // [R2] the rings are there. Without them nothing is recorded anyway.
  if (!runtime.ready.load(std::memory_order_acquire)) return current;
  const Stage before = stage;
  stage = Stage::kEnrolling;
  ringbuf::Platform::signal_fence();
  current.state = runtime.threads.enroll(rung, runtime.now());
  if (current.state == nullptr) {
    stage = before;
    return current;
  }
  current.index = last_index = current.state->index;
  current.fresh = true;
  if (!chosen_name.empty())
    runtime.threads.rename(current.state->slot,
                           runtime.strings.intern(chosen_name));
  if (exit_key_made)
    pthread_setspecific(exit_key, reinterpret_cast<void*>(std::uintptr_t{1}));
  weft_thread_state = current.state;
  ringbuf::Platform::signal_fence();
  stage = Stage::kEnrolled;
  runtime.drainer_wakeup.call();
  return current;
}

void settle_in(Runtime& runtime, ThreadState& thread, Rung rung) noexcept {
  const auto warm = [](const ringbuf::Segment& segment) {
    ringbuf::warm(reinterpret_cast<std::byte*>(segment.slots),
                  segment.capacity * sizeof(ringbuf::Slot));
  };
  ringbuf::RingWriter& writer = thread.writer;
  if (writer.busy()) return;
  if (writer.capacity() * sizeof(ringbuf::Slot) >=
      runtime.stock.bytes_of(rung)) {
    warm(runtime.threads.place(thread.slot).first_segment);
    return;
  }
  const ringbuf::Segment larger = runtime.stock.take(rung);
  if (larger.capacity == 0) return;
  warm(larger);
  bool moved = false;
  if (writer.enter()) {
    moved = writer.move_to(larger);
    writer.leave();
  }
  if (!moved) runtime.stock.give(larger);
}

void name_thread(Runtime& runtime, std::string_view text) noexcept {
  const StringId name = runtime.strings.intern(text);
  runtime.strings.text(name, &chosen_name);
  const ThreadState& state = *weft_thread_state;
  if (state.index != 0) runtime.threads.rename(state.slot, name);
}

}  // namespace weft::internal
