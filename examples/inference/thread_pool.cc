// SPDX-License-Identifier: Apache-2.0
#include "thread_pool.h"

#include <string>
#include <utility>

#include "weft/profile/record_function.h"
#include "weft/profile/thread_local_state.h"
#include "weft/weft.h"

namespace inference {

ThreadPool::ThreadPool(int threads) {
  for (int i = 0; i < threads; ++i)
    threads_.emplace_back([this, i] { serve(i); });
}

ThreadPool::~ThreadPool() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::run(int count, const std::function<void(int)>& work) {
  const weft::ThreadLocalStateSnapshot state;
  int left = count;  // guarded by mutex_
  std::unique_lock lock(mutex_);
  for (int i = 0; i < count; ++i)
    waiting_.push_back([this, i, &state, &work, &left] {
      {
        const weft::ThreadLocalStateGuard inherited(state);
        work(i);
      }
      const std::scoped_lock finished(mutex_);
      if (--left == 0) changed_.notify_all();
    });
  changed_.notify_all();
  WEFT_RECORD_USER_SCOPE("wait for workers");
  changed_.wait(lock, [&] { return left == 0; });
}

void ThreadPool::serve(int number) {
  weft::set_thread_name("worker " + std::to_string(number));
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::function<void()> next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    next();
  }
}

}  // namespace inference
