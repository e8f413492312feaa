// SPDX-License-Identifier: Apache-2.0
#include "stack_walk.h"

#include <pthread.h>
#include <unwind.h>

#include <algorithm>
#include <atomic>

#include "code_address.h"
#include "weft/internal/thread_state.h"

namespace weft::profile {
namespace {

constexpr std::uintptr_t kWord = sizeof(std::uintptr_t);
// A thread's first frames belong to the C library, which is built without frame
// pointers, and one to the program's start code.
constexpr std::size_t kMaxStartFrames = 3;

// Relaxed throughout: a switch, and a fact that is written before it matters.
std::atomic<bool> pointers_hold{true};
std::atomic<std::uintptr_t> c_library{0};

// The stack that the system gave the thread; zeros until it is known.
struct StackRange {
  std::uintptr_t low = 0;
  std::uintptr_t high = 0;
};
constinit thread_local StackRange this_stack WEFT_TLS_MODEL;

std::uintptr_t number_of(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address);
}

struct Unwinding {
  WalkedStack& stack;
  std::uintptr_t first;
  bool begun;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<Unwinding*>(argument);
  const auto address = static_cast<std::uintptr_t>(_Unwind_GetIP(context));
  if (!walk.begun && address != walk.first) return _URC_NO_REASON;
  walk.begun = true;
  if (address == 0) return _URC_END_OF_STACK;
  WalkedStack& stack = walk.stack;
  if (stack.count == kMaxStackFrames) {
    stack.cut = true;
    return _URC_END_OF_STACK;
  }
  stack.frames[stack.count++] = address;
  return _URC_NO_REASON;
}

}  // namespace

void prepare_stack_walks() noexcept {
  WalkedStack stack;
  unwind(walk_start(), stack);
  c_library.store(
      module_number(reinterpret_cast<std::uintptr_t>(&pthread_getattr_np)),
      std::memory_order_relaxed);
}

void know_this_stack() noexcept {
  if (this_stack.high != 0) return;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* low = nullptr;
  std::size_t bytes = 0;
  if (pthread_attr_getstack(&attributes, &low, &bytes) == 0)
    this_stack = {number_of(low), number_of(low) + bytes};
  pthread_attr_destroy(&attributes);
}

bool may_walk_frame_pointers(const WalkStart& start) noexcept {
  const std::uintptr_t frame = number_of(start.frame);
  return pointers_hold.load(std::memory_order_relaxed) &&
         frame >= this_stack.low && frame + 2 * kWord <= this_stack.high;
}

// Reads what calls have saved, never a variable: sanitizers have no objection.
void walk_frame_pointers(const WalkStart& start, WalkedStack& stack) noexcept {
  stack.count = 0;
  stack.cut = false;
  stack.frames[stack.count++] = number_of(start.return_address);
  //   frame -> [ the caller's frame pointer | return address ]
  // Each lies above the one before and inside the stack, so this ends and
  // touches nothing else, whatever the words hold.
  std::uintptr_t frame = number_of(start.frame);
  const std::uintptr_t last = this_stack.high - 2 * kWord;
  for (;;) {
    const std::uintptr_t next = *reinterpret_cast<std::uintptr_t*>(frame);
    if (next <= frame || next > last || next % kWord != 0) return;
    const std::uintptr_t address =
        *reinterpret_cast<std::uintptr_t*>(next + kWord);
    if (address == 0) return;
    if (stack.count == kMaxStackFrames) {
      stack.cut = true;
      return;
    }
    stack.frames[stack.count++] = address;
    frame = next;
  }
}

void unwind(const WalkStart& start, WalkedStack& stack) noexcept {
  stack.count = 0;
  stack.cut = false;
  Unwinding walk{stack, number_of(start.return_address), false};
  _Unwind_Backtrace(&add_frame, &walk);
}

bool frame_pointers_hold(const WalkedStack& by_frame_pointers,
                         const WalkedStack& unwound) noexcept {
  const auto* const all = unwound.frames.data();
  const std::size_t known = by_frame_pointers.count;
  const std::size_t start_frames =
      unwound.count < known ? 0 : unwound.count - known;
  bool equal = unwound.count >= known && start_frames <= kMaxStartFrames &&
               by_frame_pointers.cut == unwound.cut &&
               std::equal(all, all + known, by_frame_pointers.frames.data());
  const std::uintptr_t c = c_library.load(std::memory_order_relaxed);
  for (std::size_t i = known; equal && i < unwound.count; ++i)
    equal = module_number(all[i]) == c ||
            (i + 1 == unwound.count && i > known);
  if (!equal) pointers_hold.store(false, std::memory_order_relaxed);
  return equal;
}

}  // namespace weft::profile
