// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/record_callback.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "call_observers.h"
#include "callback_access.h"
#include "weft/clock.h"

namespace weft {
namespace profile {
namespace {

// The process's callbacks. Leaked, since calls come until the very end.
struct GlobalCallbacks {
  std::mutex mutex;
  std::shared_ptr<const CallbackList> list;
  // Release with the mutex held, acquire by threads that look for changes.
  std::atomic<std::uint64_t> generation{1};
};

GlobalCallbacks& globals() {
  static auto* all = new GlobalCallbacks();
  return *all;
}

std::atomic<std::uint64_t> next_handle{1};

bool has_callbacks(const std::shared_ptr<const CallbackList>& list) {
  return list != nullptr && !list->empty();
}

RegisteredCallback* find(const std::shared_ptr<const CallbackList>& list,
                         CallbackHandle handle) {
  if (list == nullptr) return nullptr;
  for (const auto& registered : *list)
    if (registered->handle == handle) return registered.get();
  return nullptr;
}

std::shared_ptr<const CallbackList> with(
    const std::shared_ptr<const CallbackList>& list,
    std::shared_ptr<RegisteredCallback> callback) {
  auto longer = std::make_shared<CallbackList>();
  if (list != nullptr) *longer = *list;
  longer->push_back(std::move(callback));
  return longer;
}

std::shared_ptr<const CallbackList> without(
    const std::shared_ptr<const CallbackList>& list, CallbackHandle handle) {
  auto shorter = std::make_shared<CallbackList>(*list);
  std::erase_if(*shorter, [&](const auto& registered) {
    return registered->handle == handle;
  });
  return shorter;
}

// What goes is handed out, so that it dies without the lock.
std::shared_ptr<const CallbackList> publish(
    GlobalCallbacks& all, std::shared_ptr<const CallbackList> list) {
  std::swap(all.list, list);
  all.generation.fetch_add(1, std::memory_order_release);
  return list;
}

Result<std::shared_ptr<RegisteredCallback>> registered(
    RecordCallback callback) {
  const double probability = CallbackAccess::probability(callback);
  if (!(probability >= 0 && probability <= 1))
    return Error{ErrorCode::kInvalidArgument,
                 "sampling probability " + std::to_string(probability) +
                     " is not in [0, 1]"};
  const auto handle = static_cast<CallbackHandle>(
      next_handle.fetch_add(1, std::memory_order_relaxed));
  return std::make_shared<RegisteredCallback>(handle, std::move(callback));
}

// Does `change` to the callback with that handle, the thread's first.
template <class Change>
bool change_callback(CallbackHandle handle, const Change& change) {
  if (ThreadObservers* thread = thread_observers()) {
    if (RegisteredCallback* own = find(thread->inherited.callbacks, handle)) {
      change(*own);
      return true;
    }
  }
  GlobalCallbacks& all = globals();
  const std::scoped_lock lock(all.mutex);
  RegisteredCallback* global = find(all.list, handle);
  if (global == nullptr) return false;
  change(*global);
  return true;
}

void mark_removed(const std::shared_ptr<const CallbackList>& list) {
  if (list == nullptr) return;
  for (const auto& callback : *list)
    callback->remove();
}

}  // namespace

const CallbackList* global_callbacks(ThreadObservers& thread) {
  GlobalCallbacks& all = globals();
  if (all.generation.load(std::memory_order_acquire) !=
      thread.global_generation) {
    std::shared_ptr<const CallbackList> old;  // dies without the lock
    const std::scoped_lock lock(all.mutex);
    old = std::exchange(thread.global_callbacks, all.list);
    thread.global_generation = all.generation.load(std::memory_order_relaxed);
  }
  return thread.global_callbacks.get();
}

// Threads and runs differ; nothing here can fail, as a random device might.
CallbackSampler::CallbackSampler() noexcept {
  random_.seed(static_cast<std::minstd_rand::result_type>(
      now_ticks() ^ reinterpret_cast<std::uintptr_t>(this) >> 4));
}

bool CallbackSampler::draw(CallbackHandle callback, RecordScope scope,
                           double probability) {
  if (probability >= 1) return true;
  if (probability <= 0) return false;
  constexpr std::size_t kMaxCounts = 4096;  // of callbacks long removed, mostly
  if (tries_left_.size() > kMaxCounts) tries_left_.clear();
  const std::uint64_t key = static_cast<std::uint64_t>(callback) << 8 |
                            static_cast<std::uint64_t>(scope);
  std::geometric_distribution<std::int64_t> failures(probability);
  const auto [tries, first] = tries_left_.try_emplace(key, 0);
  if (first) tries->second = 1 + failures(random_);
  if (--tries->second > 0) return false;
  tries->second = 1 + failures(random_);
  return true;
}

void CallbackSampler::seed(std::uint64_t seed) {
  random_.seed(static_cast<std::minstd_rand::result_type>(seed ^ seed >> 32));
  tries_left_.clear();
}

}  // namespace profile

using profile::ThreadObservers;
using profile::thread_observers;

RecordCallback RecordCallback::at_start(
    std::function<void(const FunctionCall&)> start, End end) {
  return RecordCallback(
      [start = std::move(start)](const FunctionCall& call)
          -> std::unique_ptr<CallbackContext> {
        start(call);
        return nullptr;
      },
      std::move(end));
}

RecordCallback& RecordCallback::scopes(
    std::initializer_list<RecordScope> scopes) {
  scopes_ = scopes.size() == 0 ? ~std::uint32_t{0} : 0;
  for (const RecordScope scope : scopes)
    scopes_ |= std::uint32_t{1} << static_cast<unsigned>(scope);
  return *this;
}

Result<CallbackHandle> add_global_callback(RecordCallback callback) {
  auto added = profile::registered(std::move(callback));
  if (!added.ok()) return added.error();
  profile::GlobalCallbacks& all = profile::globals();
  std::shared_ptr<const profile::CallbackList> old;
  const std::scoped_lock lock(all.mutex);
  old = profile::publish(all, profile::with(all.list, *added));
  return (*added)->handle;
}

Result<CallbackHandle> add_thread_local_callback(RecordCallback callback) {
  ThreadObservers* thread = thread_observers();
  if (thread == nullptr)
    return Error{ErrorCode::kNotRunning, "the calling thread is ending"};
  auto added = profile::registered(std::move(callback));
  if (!added.ok()) return added.error();
  thread->inherited.callbacks =
      profile::with(thread->inherited.callbacks, *added);
  return (*added)->handle;
}

bool remove_callback(CallbackHandle handle) {
  const bool found =
      profile::change_callback(handle,
                               [](auto& callback) { callback.remove(); });
  if (!found) return false;
  if (ThreadObservers* thread = thread_observers();
      thread != nullptr && thread->inherited.callbacks != nullptr)
    thread->inherited.callbacks =
        profile::without(thread->inherited.callbacks, handle);
  profile::GlobalCallbacks& all = profile::globals();
  std::shared_ptr<const profile::CallbackList> old;
  {
    const std::scoped_lock lock(all.mutex);
    if (profile::find(all.list, handle) != nullptr)
      old = profile::publish(all, profile::without(all.list, handle));
  }
  return true;
}

bool disable_callback(CallbackHandle handle) {
  return profile::change_callback(handle, [](auto& callback) {
    callback.enabled.store(false, std::memory_order_relaxed);
  });
}

bool reenable_callback(CallbackHandle handle) {
  return profile::change_callback(handle, [](auto& callback) {
    callback.enabled.store(true, std::memory_order_relaxed);
  });
}

bool has_global_callbacks() {
  profile::GlobalCallbacks& all = profile::globals();
  const std::scoped_lock lock(all.mutex);
  return profile::has_callbacks(all.list);
}

bool has_thread_local_callbacks() {
  const ThreadObservers* thread = thread_observers();
  return thread != nullptr &&
         profile::has_callbacks(thread->inherited.callbacks);
}

void clear_global_callbacks() {
  profile::GlobalCallbacks& all = profile::globals();
  std::shared_ptr<const profile::CallbackList> old;
  const std::scoped_lock lock(all.mutex);
  profile::mark_removed(all.list);
  old = profile::publish(all, nullptr);
}

void clear_thread_local_callbacks() {
  ThreadObservers* thread = thread_observers();
  if (thread == nullptr) return;
  profile::mark_removed(thread->inherited.callbacks);
  thread->inherited.callbacks = nullptr;
}

RecordFunctionGuard::RecordFunctionGuard(Callbacks callbacks) noexcept
    : was_off_(false) {
  if (ThreadObservers* thread = thread_observers())
    was_off_ = std::exchange(thread->inherited.callbacks_off,
                             callbacks == Callbacks::kOff);
}

RecordFunctionGuard::~RecordFunctionGuard() {
  if (ThreadObservers* thread = thread_observers())
    thread->inherited.callbacks_off = was_off_;
}

void seed_callback_sampling(std::uint64_t seed) {
  if (ThreadObservers* thread = thread_observers())
    thread->sampler.seed(seed);
}

}  // namespace weft
