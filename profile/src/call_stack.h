// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_CALL_STACK_H_
#define WEFT_PROFILE_SRC_CALL_STACK_H_

// Stacks of instrumented calls, as ids that records carry.
//
//   walk (stack_walk.h) -> hash of the addresses -> StackTable -> string id
//                                                      | not known
//                       modules, text (captured_stack.h), interned
//
// Nothing is looked up by name here: see weft/profile/symbolizer.h.

#include "stack_walk.h"
#include "weft/record.h"
#include "weft/result.h"

namespace weft::profile {

// Loads and reserves what capturing needs, and looks whether modules were
// unloaded: a stack that was seen before is looked at anew after that. Call it
// when stacks are about to be wanted; often is fine.
// Errors: kUnsupported  this stack cannot be walked, so none could be
//         kOutOfMemory
// Thread-safe. Cold.
Result<void> prepare_call_stacks();

// The stack above `start`; kNone if there is none, or weft does not run.
// Thread-safe, async-signal-safe: no allocation, lock or system call. Hot for
// stacks seen before: the walk and some 20 ns. A new stack: some us.
//
// A plugin that is unloaded while another takes its place, with the very same
// return addresses, goes under the old one's name until the next
// prepare_call_stacks().
StringId call_stack(const WalkStart& start) noexcept;

// How stacks were got, for tests and figures. Relaxed counts.
struct CallStackCounts {
  std::uint64_t described = 0;   // texts made, for stacks not seen before
  std::uint64_t not_kept = 0;    // of those, found no place in the table
};
CallStackCounts call_stack_counts() noexcept;

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_CALL_STACK_H_
