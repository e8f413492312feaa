// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXAMPLES_SERVICE_COMPACTOR_H_
#define WEFT_EXAMPLES_SERVICE_COMPACTOR_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "item_store.h"

namespace service {

// Compacts the store now and then, on a thread of its own. Writes wait
// meanwhile: the trace shows which request met it.
class Compactor {
 public:
  Compactor(ItemStore& store, std::chrono::milliseconds period);
  ~Compactor();

 private:
  void run();

  ItemStore& store_;
  const std::chrono::milliseconds period_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;  // last: uses all of the above
};

}  // namespace service

#endif  // WEFT_EXAMPLES_SERVICE_COMPACTOR_H_
