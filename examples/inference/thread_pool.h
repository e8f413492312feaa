// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXAMPLES_INFERENCE_THREAD_POOL_H_
#define WEFT_EXAMPLES_INFERENCE_THREAD_POOL_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace inference {

class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool();

  // Runs work(0) ... work(count - 1) on the threads and waits for all. What they
  // do belongs to the profiler session of the caller. `work` must not throw.
  void run(int count, const std::function<void(int)>& work);

 private:
  void serve(int number);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace inference

#endif  // WEFT_EXAMPLES_INFERENCE_THREAD_POOL_H_
