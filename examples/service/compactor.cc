// SPDX-License-Identifier: Apache-2.0
#include "compactor.h"

#include <exception>

#include "weft/weft.h"

namespace service {

Compactor::Compactor(ItemStore& store, std::chrono::milliseconds period)
    : store_(store), period_(period), thread_([this] { run(); }) {}

Compactor::~Compactor() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_one();
  thread_.join();
}

void Compactor::run() {
  weft::set_thread_name("compactor");
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, period_, [this] { return stop_; })) {
    lock.unlock();
    {
      WEFT_SPAN_NAMED(span, "compact");
      try {
        store_.compact();
      } catch (const std::exception& error) {
        span.fail(error.what());  // tried again after the next period
      }
    }
    lock.lock();
  }
}

}  // namespace service
