// SPDX-License-Identifier: Apache-2.0
#include "worker_pool.h"

#include <string>
#include <utility>

#include "weft/weft.h"

namespace service {

WorkerPool::WorkerPool(int workers) {
  for (int number = 1; number <= workers; ++number) {
    threads_.emplace_back([this, number] { run(number); });
  }
}

void WorkerPool::enqueue(std::function<void()> connection) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(connection));
    WEFT_COUNTER("connections_waiting", waiting_.size());
  }
  changed_.notify_one();
}

void WorkerPool::shutdown() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::run(int number) {
  weft::set_thread_name("worker " + std::to_string(number));
  for (;;) {
    std::function<void()> connection;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      connection = std::move(waiting_.front());
      waiting_.pop_front();
      WEFT_COUNTER("connections_waiting", waiting_.size());
    }
    connection();
  }
}

}  // namespace service
