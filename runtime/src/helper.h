// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_HELPER_H_
#define WEFT_SRC_HELPER_H_

#include <concurrentqueue/concurrentqueue.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "pipeline.h"
#include "service_thread.h"
#include "wakeup.h"
#include "weft/result.h"

namespace weft {

class Runtime;

// The one thread that may block: writes what exporters have encoded, completes
// their outputs, runs users' callbacks, keeps warm rings in stock. Sleeps until
// it is called; everything it is asked for comes through queues.
class Helper {
 public:
  explicit Helper(Runtime& runtime) : runtime_(&runtime) {}

  // Control calls only, one at a time.
  Result<void> start();
  bool stop_thread(std::chrono::milliseconds timeout);

  // Thread-safe.
  void wake() noexcept { wakeup_.call(); }
  void add(std::shared_ptr<SubscriptionState> subscription);
  // Its last record is with the exporter: complete the output.
  void finish(std::shared_ptr<SubscriptionState> subscription);
  void post(std::function<void()> task);
  void want_stock() noexcept {
    want_stock_.store(true, std::memory_order_release);
    wake();
  }

 private:
  void run();
  void take_orders();
  bool work();
  void fill_stock();

  Runtime* runtime_;
  ServiceThread thread_;
  Wakeup wakeup_;
  std::atomic<bool> quit_{false};
  std::atomic<bool> want_stock_{true};
  moodycamel::ConcurrentQueue<std::shared_ptr<SubscriptionState>> added_;
  moodycamel::ConcurrentQueue<std::shared_ptr<SubscriptionState>> finished_;
  moodycamel::ConcurrentQueue<std::function<void()>> tasks_;
  bool cold_ = true;  // free rings were given back while no thread ran
  // Helper only.
  struct Served {
    std::shared_ptr<SubscriptionState> subscription;
    bool finishing = false;
  };
  std::vector<Served> served_;
};

}  // namespace weft

#endif  // WEFT_SRC_HELPER_H_
