// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SEQUENCE_NUMBER_H_
#define WEFT_PROFILE_SEQUENCE_NUMBER_H_

// Joins calls that belong together though they run at different times and on
// different threads: a forward call and its backward one, a request and its
// response.
//
//   thread 1   seq = next_sequence_nr(); WEFT_RECORD_FUNCTION_SEQ(seq, "add")
//                                             |
//   thread 2   BackwardScope scope(seq, thread_index_of_1);
//              WEFT_RECORD_FUNCTION_WITH_SCOPE(kBackwardFunction, "AddBackward")
//
// The number is taken once, where the forward call is made, and stored on both
// sides: never guessed from a counter.

#include <cstdint>

#include "weft/internal/api.h"
#include "weft/record.h"

namespace weft {

// Unique with its thread; -1: none.
struct SequenceNr {
  std::int64_t value = -1;

  SequenceNr() = default;
  explicit SequenceNr(std::int64_t number) noexcept : value(number) {}
};

// Counts from 0, for each thread. Thread-safe. Hot.
WEFT_API SequenceNr next_sequence_nr() noexcept;

// The number of the calling thread in traces; kNone before it recorded
// anything and while nobody listens. Thread-safe. Warm.
WEFT_API ThreadIndex this_thread_index() noexcept;

// While it lives, ranges of scope kBackwardFunction on this thread belong to
// the forward call `sequence` of thread `forward_thread`. Nests. Stays on its
// thread. Hot.
class WEFT_API BackwardScope {
 public:
  BackwardScope(SequenceNr sequence, ThreadIndex forward_thread) noexcept;
  BackwardScope(const BackwardScope&) = delete;
  BackwardScope& operator=(const BackwardScope&) = delete;
  ~BackwardScope();

 private:
  std::int64_t previous_sequence_;
  ThreadIndex previous_thread_;
};

}  // namespace weft

#endif  // WEFT_PROFILE_SEQUENCE_NUMBER_H_
