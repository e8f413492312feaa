// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_STACK_CAPTURE_H_
#define WEFT_PROFILE_SRC_STACK_CAPTURE_H_

// Where stacks of calls come from, and what becomes of them. A stack is captured
// as the text of its return addresses, innermost first, which is interned: equal
// stacks take one slot a call and one entry in the table of strings.

#include <string>
#include <string_view>
#include <vector>

#include "weft/record.h"

namespace weft::profile {

// Loads what capturing needs, so that no call has to. Cold.
void prepare_stack_capture();

// The stack of the calling thread without weft's own frames; kNone if there is
// none. Thread-safe. Warm: allocates nothing once prepared.
StringId capture_stack() noexcept;

// The frames of a captured stack as events show them, innermost first. The text
// may come from a file.
std::vector<std::string> frames_of(std::string_view stack);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_STACK_CAPTURE_H_
