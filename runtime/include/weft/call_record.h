// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_CALL_RECORD_H_
#define WEFT_CALL_RECORD_H_

// What the record of an instrumented call may carry besides its name and time.
//
// A site's argument keys are fixed with its first record, but what is wanted of
// a call changes with who listens. So all sites of calls have the same keys, and
// a record has those values that are wanted, each with its key's number:
//
//   begin    | site         |
//   value 0  | "float[2,3]" |   inputs, see weft/profile/function_input.h
//   value 1  | 17           |   sequence number
//
// The kind of call, its scope, is the site's category: "function", ...

#include <array>
#include <cstddef>
#include <cstdint>

#include "weft/record.h"

namespace weft {

enum class CallArgument : std::uint8_t {
  kInputs = 0,
  kSequence = 1,       // joins a forward call and its backward one
  kForwardThread = 2,  // ThreadIndex of the forward call, on backward ones
  kStack = 3,          // text: see weft/profile/captured_stack.h
  kHandle = 4,         // number of the call, when somebody wants one
  kArgs = 5,           // free text of a user's range
  kDebugHandle = 6,    // of the caller's own, see ProfilerOptions
};
inline constexpr std::size_t kCallArguments = 7;

struct CallArgumentKey {
  const char* key;
  RecordKind type;
};
inline constexpr std::array<CallArgumentKey, kCallArguments> kCallArgumentKeys =
    {{{"inputs", RecordKind::kText},
      {"seq", RecordKind::kInt64},
      {"fwd_thread", RecordKind::kUint64},
      {"stack", RecordKind::kStringId},
      {"handle", RecordKind::kUint64},
      {"args", RecordKind::kText},
      {"debug_handle", RecordKind::kInt64}}};

}  // namespace weft

#endif  // WEFT_CALL_RECORD_H_
