// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_SERVICE_THREAD_H_
#define WEFT_SRC_SERVICE_THREAD_H_

#include <pthread.h>

#include <chrono>
#include <functional>

#include "weft/result.h"

namespace weft {

// A thread of weft's inside somebody else's process. It takes no signal of the
// program's, has a name, runs where the program as a whole may run (not where
// the thread that called init was pinned), and has a small stack.
//
// One thread at a time.
class ServiceThread {
 public:
  ServiceThread() = default;
  ServiceThread(const ServiceThread&) = delete;
  ServiceThread& operator=(const ServiceThread&) = delete;
  ~ServiceThread() = default;  // of a thread that runs: it is left alone

  // Errors: kThreadFailed.
  Result<void> start(const char* name, std::function<void()> body);
  // Waits for its end. False: it did not end in time, and is left alone.
  bool join(std::chrono::milliseconds timeout) noexcept;
  bool running() const noexcept { return running_; }

 private:
  pthread_t thread_{};
  bool running_ = false;
};

}  // namespace weft

#endif  // WEFT_SRC_SERVICE_THREAD_H_
