// SPDX-License-Identifier: Apache-2.0
#include "call_observers.h"

#include <pthread.h>
#include <unistd.h>

#include "weft/site.h"

namespace weft::profile {
namespace {

// Relaxed, as all figures here: what they switch on is a matter of taking part,
// and everything that has to be exact goes through the pipeline.
std::atomic<unsigned> inputs_wanted{0};
std::atomic<unsigned> stacks_wanted{0};

// In a child nobody profiles until it begins to.
[[maybe_unused]] const int fork_handler = pthread_atfork(
    nullptr, nullptr, [] {
      inputs_wanted.store(0, std::memory_order_relaxed);
      stacks_wanted.store(0, std::memory_order_relaxed);
    });

thread_local bool thread_is_gone = false;  // trivial: outlives the other

struct Holder {
  ThreadObservers observers;
  ~Holder() { thread_is_gone = true; }
};

void take_off(std::atomic<unsigned>& count) noexcept {
  unsigned now = count.load(std::memory_order_relaxed);
  // Zero: counted before a fork.
  while (now != 0 && !count.compare_exchange_weak(now, now - 1,
                                                  std::memory_order_relaxed)) {
  }
}

}  // namespace

ThreadObservers* thread_observers() noexcept {
  if (thread_is_gone) return nullptr;
  thread_local Holder holder;
  return &holder.observers;
}

CallObserver::CallObserver() : process_(getpid()) {
  internal::observe_calls(true);
}
void CallObserver::release() {
  if (!released_.exchange(true, std::memory_order_relaxed) &&
      process_ == getpid())
    internal::observe_calls(false);
}

void add_process_wants(const CallWants& wants) {
  if (wants.inputs) inputs_wanted.fetch_add(1, std::memory_order_relaxed);
  if (wants.stacks) stacks_wanted.fetch_add(1, std::memory_order_relaxed);
}

void remove_process_wants(const CallWants& wants) {
  if (wants.inputs) take_off(inputs_wanted);
  if (wants.stacks) take_off(stacks_wanted);
}

CallWants wants_of(const ThreadObservers& thread) noexcept {
  CallWants wants;
  wants.inputs = inputs_wanted.load(std::memory_order_relaxed) != 0;
  wants.stacks = stacks_wanted.load(std::memory_order_relaxed) != 0;
  for (const auto& session : thread.inherited.sessions)
    if (session->running.load(std::memory_order_relaxed))
      wants |= session->wants;
  return wants;
}

}  // namespace weft::profile
