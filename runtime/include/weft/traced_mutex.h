// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TRACED_MUTEX_H_
#define WEFT_TRACED_MUTEX_H_

// Locks that show who waits for them: a span "lock_wait" with the lock's name,
// whenever a thread does not get it at once, and "condition_wait" for condition
// variables. Used as the standard's:
//
//   weft::traced_mutex cache_mutex{"cache"};
//   std::scoped_lock lock(cache_mutex);
//
// Both are in the category "lock": WEFT_CATEGORIES="-lock" leaves them out.
//
// Cost: free and taken, what the standard's costs, and a branch. A wait costs
// the span besides.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <utility>

#include "weft/span.h"

namespace weft {

// `Mutex` is a Lockable. Names are literals. Not included by weft/weft.h.
template <class Mutex>
class BasicTracedMutex {
 public:
  template <std::size_t kName>
  explicit BasicTracedMutex(const char (&name)[kName]) : name_(name, kName - 1) {}
  BasicTracedMutex(const BasicTracedMutex&) = delete;
  BasicTracedMutex& operator=(const BasicTracedMutex&) = delete;

  void lock() {
    if (mutex_.try_lock()) return;
    WEFT_SPAN_CAT("lock", "lock_wait", {"lock", name_});
    mutex_.lock();
  }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

  std::string_view name() const noexcept { return name_; }

 protected:
  Mutex mutex_;

 private:
  const std::string_view name_;
};

// The same with a shared mode: `Mutex` is a SharedLockable.
template <class Mutex>
class BasicTracedSharedMutex : public BasicTracedMutex<Mutex> {
 public:
  using BasicTracedMutex<Mutex>::BasicTracedMutex;

  void lock_shared() {
    if (this->mutex_.try_lock_shared()) return;
    WEFT_SPAN_CAT("lock", "lock_wait", {"lock", this->name()},
                  {"shared", true});
    this->mutex_.lock_shared();
  }
  bool try_lock_shared() { return this->mutex_.try_lock_shared(); }
  void unlock_shared() { this->mutex_.unlock_shared(); }
};

using traced_mutex = BasicTracedMutex<std::mutex>;
using traced_shared_mutex = BasicTracedSharedMutex<std::shared_mutex>;

// As std::condition_variable_any, for any lock, also of the ones above. The span
// lasts until the lock is held again.
class traced_condition_variable {
 public:
  template <std::size_t kName>
  explicit traced_condition_variable(const char (&name)[kName])
      : name_(name, kName - 1) {}

  void notify_one() noexcept { condition_.notify_one(); }
  void notify_all() noexcept { condition_.notify_all(); }

  template <class Lock>
  void wait(Lock& lock) {
    WEFT_SPAN_CAT("lock", "condition_wait", {"condition", name_});
    condition_.wait(lock);
  }
  // No span when `done` holds already.
  template <class Lock, class Done>
  void wait(Lock& lock, Done done) {
    if (done()) return;
    WEFT_SPAN_CAT("lock", "condition_wait", {"condition", name_});
    condition_.wait(lock, std::move(done));
  }
  // Whether `done` holds at the end.
  template <class Lock, class Clock, class Duration, class Done>
  bool wait_until(Lock& lock,
                  const std::chrono::time_point<Clock, Duration>& until,
                  Done done) {
    if (done()) return true;
    WEFT_SPAN_CAT("lock", "condition_wait", {"condition", name_});
    return condition_.wait_until(lock, until, std::move(done));
  }
  template <class Lock, class Rep, class Period, class Done>
  bool wait_for(Lock& lock, const std::chrono::duration<Rep, Period>& time,
                Done done) {
    if (done()) return true;
    WEFT_SPAN_CAT("lock", "condition_wait", {"condition", name_});
    return condition_.wait_for(lock, time, std::move(done));
  }

 private:
  std::condition_variable_any condition_;
  const std::string_view name_;
};

}  // namespace weft

#endif  // WEFT_TRACED_MUTEX_H_
