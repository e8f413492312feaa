// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_STACK_WALK_H_
#define WEFT_PROFILE_SRC_STACK_WALK_H_

// The return addresses on the calling thread's stack, got in one of two ways:
//
//   unwinder        reads the tables that exceptions need: some 100 ns a frame,
//                   right in every program
//   frame pointers  follows saved frame pointers: some 1 ns a frame, right only
//                   where all code keeps them
//
// Nobody can know which code keeps them, so it is found out: each stack that has
// not been seen before is taken both ways, and the first that differs ends the
// second way for the whole process. A stack that was found equal once may be
// taken by frame pointers from then on.
//
// Frame pointers are read only inside the stack that the system gave the thread,
// which is never unmapped under its feet. Fibers, coroutines with stacks of their
// own, alternate signal stacks, and threads that did not call
// know_this_stack() are unwound.

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::profile {

// Innermost are kept, and counted as `cut` when there are more.
inline constexpr std::size_t kMaxStackFrames = 64;

struct WalkedStack {
  // Return addresses, innermost first.
  std::array<std::uintptr_t, kMaxStackFrames> frames;
  std::size_t count = 0;
  bool cut = false;
};

// Where a walk begins: the frame of a function of weft's, and where it returns
// to, which is the innermost address of the stack.
struct WalkStart {
  const void* frame = nullptr;
  const void* return_address = nullptr;
};
// Of the function that calls this; it must not be inlined itself.
__attribute__((always_inline)) inline WalkStart walk_start() noexcept {
  return {__builtin_frame_address(0), __builtin_return_address(0)};
}

// Finds out what the unwinder and the C library need. Cold.
void prepare_stack_walks() noexcept;

// Notes where the calling thread's stack lies. Allocates, so not in signal
// handlers; once a thread. Cold.
void know_this_stack() noexcept;

// Whether walk_frame_pointers() may be asked for this stack. Async-signal-safe.
// Hot.
bool may_walk_frame_pointers(const WalkStart& start) noexcept;

// Both: thread-safe, async-signal-safe, without allocation, lock or system call.
void walk_frame_pointers(const WalkStart& start, WalkedStack& stack) noexcept;
void unwind(const WalkStart& start, WalkedStack& stack) noexcept;

// Told of each new stack what both ways gave. False: they differ, and frame
// pointers are no longer asked.
bool frame_pointers_hold(const WalkedStack& by_frame_pointers,
                         const WalkedStack& unwound) noexcept;

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_STACK_WALK_H_
