// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_THREAD_LOCAL_STATE_H_
#define WEFT_PROFILE_THREAD_LOCAL_STATE_H_

// Carries what belongs to a thread's work to where that work goes on: the
// profiler sessions that cover it, its callbacks, its request.
//
//   auto state = std::make_shared<weft::ThreadLocalStateSnapshot>();
//   pool.submit([state] {
//     weft::ThreadLocalStateGuard inherited(*state);
//     ...                                  // belongs to the submitter's session
//   });
//
// A coroutine takes a snapshot before it suspends and opens a guard each time it
// runs on.

#include <memory>

#include "weft/internal/api.h"
#include "weft/request.h"

namespace weft {

// What the calling thread has now. Immutable; may be used on any thread, any
// number of times. Cold.
class WEFT_API ThreadLocalStateSnapshot {
 public:
  ThreadLocalStateSnapshot();

 private:
  friend class ThreadLocalStateGuard;
  struct State;
  std::shared_ptr<const State> state_;
};

// While it lives, the calling thread has the state of the snapshot instead of
// its own. Nests. Stays on its thread. Warm: a record for each running session
// that it turns on or off here, and for the request if it is another.
class WEFT_API ThreadLocalStateGuard {
 public:
  explicit ThreadLocalStateGuard(const ThreadLocalStateSnapshot& snapshot);
  ThreadLocalStateGuard(const ThreadLocalStateGuard&) = delete;
  ThreadLocalStateGuard& operator=(const ThreadLocalStateGuard&) = delete;
  ~ThreadLocalStateGuard();

 private:
  struct Previous;
  std::unique_ptr<Previous> previous_;
};

}  // namespace weft

#endif  // WEFT_PROFILE_THREAD_LOCAL_STATE_H_
