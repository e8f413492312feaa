// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXAMPLES_SERVICE_WORKER_POOL_H_
#define WEFT_EXAMPLES_SERVICE_WORKER_POOL_H_

#include <httplib.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace service {

// The threads that serve connections, each under a name of its own in the
// trace. A connection stays with its worker until it closes.
class WorkerPool : public httplib::TaskQueue {
 public:
  explicit WorkerPool(int workers);

  void enqueue(std::function<void()> connection) override;
  void shutdown() override;

 private:
  void run(int number);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace service

#endif  // WEFT_EXAMPLES_SERVICE_WORKER_POOL_H_
