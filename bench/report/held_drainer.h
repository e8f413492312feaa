// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_BENCH_REPORT_HELD_DRAINER_H_
#define WEFT_BENCH_REPORT_HELD_DRAINER_H_

#include <atomic>
#include <chrono>
#include <thread>

#include "weft/exporter.h"

namespace weft::bench {

// Keeps nothing, and holds the drainer at the end of a pass while it is told to.
class HeldDrainer final : public Exporter {
 public:
  // Returns once the drainer stands still.
  void hold() {
    wanted_ = true;
    while (!held_) std::this_thread::yield();
  }
  void release() {
    wanted_ = false;
    while (held_) std::this_thread::yield();
  }

  void begin(const ProcessInfo&, const SubscriptionInfo&) override {}
  void define(const Catalog&) override {}
  bool consume(const Run&) override { return true; }
  void lose(const Loss&) override {}
  void anchor(const ClockAnchor&) override {}
  void settle(std::int64_t) override {
    while (wanted_) {
      held_ = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    held_ = false;
  }
  void end(const SubscriptionEnd&) override {}
  bool has_work() const noexcept override { return false; }
  bool work() override { return false; }
  ExporterStatus status() const override { return {}; }

 private:
  std::atomic<bool> wanted_{false};
  std::atomic<bool> held_{false};
};

}  // namespace weft::bench

#endif  // WEFT_BENCH_REPORT_HELD_DRAINER_H_
