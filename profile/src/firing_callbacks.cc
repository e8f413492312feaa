// SPDX-License-Identifier: Apache-2.0
#include "firing_callbacks.h"

#include <atomic>

#include "callback_access.h"

namespace weft::profile {
namespace {

std::atomic<std::uint64_t> thrown{0};
std::atomic<std::uint64_t> ends_not_run{0};

// Calls that a callback makes run no callbacks.
class InCallback {
 public:
  InCallback() : thread_(thread_observers()) {
    if (thread_ != nullptr) thread_->in_callback = true;
  }
  InCallback(const InCallback&) = delete;
  InCallback& operator=(const InCallback&) = delete;
  ~InCallback() {
    if (thread_ != nullptr) thread_->in_callback = false;
  }

 private:
  ThreadObservers* thread_;
};

}  // namespace

FiringCallbacks::FiringCallbacks(ThreadObservers& thread, RecordScope scope) {
  if (thread.in_callback || thread.inherited.callbacks_off) return;
  draw(thread, global_callbacks(thread), scope);
  draw(thread, thread.inherited.callbacks.get(), scope);
}

void FiringCallbacks::draw(ThreadObservers& thread, const CallbackList* list,
                           RecordScope scope) {
  if (list == nullptr) return;
  for (const auto& registered : *list) {
    const RecordCallback& callback = registered->callback;
    if (!registered->enabled.load(std::memory_order_relaxed) ||
        registered->removed.load(std::memory_order_relaxed) ||
        !CallbackAccess::wants(callback, scope) ||
        !thread.sampler.draw(registered->handle, scope,
                             CallbackAccess::probability(callback)))
      continue;
    firing_.push_back({registered, nullptr});
    need_inputs_ = need_inputs_ || CallbackAccess::needs_inputs(callback);
    need_outputs_ = need_outputs_ || CallbackAccess::needs_outputs(callback);
    need_ids_ = need_ids_ || CallbackAccess::needs_ids(callback);
  }
}

void FiringCallbacks::run_starts(const FunctionCall& call) {
  const InCallback inside;
  for (Firing& firing : firing_) {
    const auto& start = CallbackAccess::start(firing.callback->callback);
    if (!start) continue;
    try {
      firing.context = start(call);
    } catch (...) {
      thrown.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

void FiringCallbacks::run_ends(const FunctionCall& call) {
  const InCallback inside;
  for (auto firing = firing_.rbegin(); firing != firing_.rend(); ++firing) {
    const auto& end = CallbackAccess::end(firing->callback->callback);
    if (firing->callback->removed.load(std::memory_order_relaxed)) {
      if (end) ends_not_run.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    if (!end) continue;
    try {
      end(call, firing->context.get());
    } catch (...) {
      thrown.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

}  // namespace weft::profile

namespace weft {

CallbackStatistics callback_statistics() noexcept {
  return {profile::thrown.load(std::memory_order_relaxed),
          profile::ends_not_run.load(std::memory_order_relaxed)};
}

}  // namespace weft
