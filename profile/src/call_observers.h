// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_CALL_OBSERVERS_H_
#define WEFT_PROFILE_SRC_CALL_OBSERVERS_H_

// Who wants more of instrumented calls than their spans.
//
//   process    sessions of all threads: counts of wants;  global callbacks
//   thread     sessions of this thread, inherited ones;   its callbacks
//
// While there is anybody, sites of calls are observed, and calls take the path
// out of line, where each thread looks at what applies to it.

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

#include "weft/profile/profiler_options.h"
#include "weft/profile/record_callback.h"

namespace weft::profile {

// What sessions want of calls.
struct CallWants {
  bool inputs = false;
  bool stacks = false;

  bool any() const noexcept { return inputs || stacks; }
  CallWants& operator|=(const CallWants& other) noexcept {
    inputs = inputs || other.inputs;
    stacks = stacks || other.stacks;
    return *this;
  }
};

// What threads know of a session that covers them.
struct SharedSession {
  std::uint64_t number = 0;  // unique in the process
  ThreadCoverage coverage = ThreadCoverage::kAllThreads;
  CallWants wants;
  pid_t process = 0;  // where it was started
  std::atomic<bool> running{true};
};

// Sites of calls are observed until all of these were released, or destroyed.
// Takes the lock of control calls.
class CallObserver {
 public:
  CallObserver();
  CallObserver(const CallObserver&) = delete;
  CallObserver& operator=(const CallObserver&) = delete;
  ~CallObserver() { release(); }
  void release();  // once, from any thread

 private:
  const pid_t process_;  // a forked child's copy releases nothing
  std::atomic<bool> released_{false};
};

struct RegisteredCallback {
  CallbackHandle handle = CallbackHandle::kNone;
  RecordCallback callback;
  std::atomic<bool> enabled{true};
  std::atomic<bool> removed{false};
  CallObserver observer;

  RegisteredCallback(CallbackHandle the_handle, RecordCallback the_callback)
      : handle(the_handle), callback(std::move(the_callback)) {}
  void remove() {
    removed.store(true, std::memory_order_relaxed);
    observer.release();
  }
};
// Immutable: changes make a new one.
using CallbackList = std::vector<std::shared_ptr<RegisteredCallback>>;

// What a thread hands on to others.
struct InheritedState {
  std::vector<std::shared_ptr<SharedSession>> sessions;
  std::shared_ptr<const CallbackList> callbacks;  // null: none
  bool callbacks_off = false;
};

// Which calls a sampled callback gets: the tries left for each callback and
// scope, drawn so that every call has the same chance.
class CallbackSampler {
 public:
  CallbackSampler() noexcept;
  bool draw(CallbackHandle callback, RecordScope scope, double probability);
  void seed(std::uint64_t seed);

 private:
  std::minstd_rand random_;
  std::unordered_map<std::uint64_t, std::int64_t> tries_left_;
};

struct ThreadObservers {
  InheritedState inherited;
  bool in_callback = false;
  // The global list as this thread saw it last.
  std::shared_ptr<const CallbackList> global_callbacks;
  std::uint64_t global_generation = 0;
  CallbackSampler sampler;
};

// The calling thread's; null when its thread-locals are gone already.
ThreadObservers* thread_observers() noexcept;

// The process's callbacks, looked up again only when they changed.
const CallbackList* global_callbacks(ThreadObservers& thread);

// Wants of sessions that cover all threads.
void add_process_wants(const CallWants& wants);
void remove_process_wants(const CallWants& wants);

// What sessions want of the calling thread's calls now.
CallWants wants_of(const ThreadObservers& thread) noexcept;

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_CALL_OBSERVERS_H_
