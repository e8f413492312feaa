// SPDX-License-Identifier: Apache-2.0
#include "helper.h"

#include "runtime.h"

namespace weft {
namespace {

// Warm rings kept ready. A service starts some dozens of threads at once; few
// of them become busy at the same moment.
constexpr std::uint32_t kSmallStock = 64;
constexpr std::uint32_t kMediumStock = 16;
constexpr std::uint32_t kTopStock = 2;

}  // namespace

Result<void> Helper::start() {
  if (thread_.running()) return {};
  quit_.store(false, std::memory_order_relaxed);
  cold_ = true;
  want_stock_.store(true, std::memory_order_relaxed);
  return thread_.start("weft-help", [this] { run(); });
}

bool Helper::stop_thread(std::chrono::milliseconds timeout) {
  quit_.store(true, std::memory_order_release);
  wake();
  return thread_.join(timeout);
}

void Helper::add(std::shared_ptr<SubscriptionState> subscription) {
  added_.enqueue(std::move(subscription));
}

void Helper::finish(std::shared_ptr<SubscriptionState> subscription) {
  finished_.enqueue(std::move(subscription));
  wake();
}

void Helper::post(std::function<void()> task) {
  tasks_.enqueue(std::move(task));
  wake();
}

void Helper::run() {
  for (;;) {
    take_orders();
    fill_stock();
    const bool did_something = work();
    if (did_something) continue;
    if (quit_.load(std::memory_order_acquire)) return;
    wakeup_.rest(-1);
  }
}

void Helper::take_orders() {
  std::shared_ptr<SubscriptionState> subscription;
  while (added_.try_dequeue(subscription))
    served_.push_back({std::move(subscription), false});
  while (finished_.try_dequeue(subscription))
    for (Served& served : served_)
      if (served.subscription == subscription) served.finishing = true;
  std::function<void()> task;
  while (tasks_.try_dequeue(task)) task();
}

bool Helper::work() {
  bool did_something = false;
  for (std::size_t i = 0; i < served_.size();) {
    Served& served = served_[i];
    if (served.subscription->exporter->work()) {
      did_something = true;
    } else if (served.finishing) {
      served.subscription->written.finish();
      served_.erase(served_.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    ++i;
  }
  return did_something;
}

void Helper::fill_stock() {
  if (!want_stock_.exchange(false, std::memory_order_acq_rel)) return;
  constexpr struct {
    Rung rung;
    std::uint32_t count;
  } kStock[] = {{Rung::kTop, kTopStock},
                {Rung::kMedium, kMediumStock},
                {Rung::kSmall, kSmallStock}};
  for (const auto& [rung, count] : kStock) {
    if (cold_) runtime_->stock.warm_free(rung, count);
    runtime_->stock.refill(rung, count);
  }
  cold_ = false;
}

}  // namespace weft
