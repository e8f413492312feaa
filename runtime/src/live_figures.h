// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_LIVE_FIGURES_H_
#define WEFT_SRC_LIVE_FIGURES_H_

// Latencies by span name, counted as records pass by: an exporter that keeps
// figures instead of records.
//
//   run of a thread --> stack of its open spans --end--> histogram of the name
//                                                   \--> budget exceeded? --> helper
//
// Memory is bounded: kMaxNames histograms, one pool of counter pages, kMaxDepth
// open spans a thread. What finds no room goes to "other names", or is left out
// of quantiles; count and total of each histogram stay exact.

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "latency_histogram.h"
#include "weft/exporter.h"
#include "weft/live.h"

namespace weft {

class Runtime;

// Limits that spans must not exceed; set at any time, looked at by the drainer.
// Append-only, so that it needs no lock. Names are never taken back, limits can
// be 0.
class SpanBudgets {
 public:
  static constexpr std::size_t kMaxBudgets = 64;

  struct Budget {
    std::string name;
    std::atomic<std::int64_t> limit_ns{0};
  };

  // Control calls only, one at a time. False when there are too many.
  bool set(std::string_view name, std::int64_t limit_ns);
  // Of `name`, or null. Thread-safe.
  const Budget* find(std::string_view name) const noexcept;
  std::uint32_t size() const noexcept {
    return size_.load(std::memory_order_acquire);  // [A] complete below
  }

 private:
  std::array<Budget, kMaxBudgets> budgets_;
  std::atomic<std::uint32_t> size_{0};
};

class LiveFigures final : public Exporter {
 public:
  static constexpr std::size_t kMaxNames = 10'000;
  static constexpr std::size_t kCounterBytes = 16u << 20;
  static constexpr std::size_t kMaxDepth = 256;

  // Null when memory cannot be had. `on_excess` is called by the helper, not
  // more than once a second; false: it is to be called again.
  static std::shared_ptr<LiveFigures> create(
      const SpanBudgets& budgets,
      std::function<bool(const std::string& what)> on_excess);

  void begin(const ProcessInfo&, const SubscriptionInfo&) override {}
  void define(const Catalog& catalog) override;
  bool consume(const Run& run) override;
  void lose(const Loss&) override {}
  void anchor(const ClockAnchor&) override {}
  void settle(std::int64_t now_ns) override;
  void end(const SubscriptionEnd&) override {}
  bool has_work() const noexcept override;
  bool work() override;
  ExporterStatus status() const override { return {}; }

  // Thread-safe.
  std::optional<Latency> latency(std::string_view name) const;
  std::vector<Latency> latencies() const;
  std::uint64_t over_budget() const noexcept {
    return over_budget_.load(std::memory_order_relaxed);
  }
  // Drainer only.
  std::size_t known_threads() const noexcept { return threads_.size(); }

 private:
  struct Named {
    StringId name = StringId::kNone;
    std::string text;
    LatencyHistogram histogram;
    const SpanBudgets::Budget* budget = nullptr;  // drainer only
  };
  struct Open {
    std::uint32_t position = 0;  // low half, as ends name their begins
    std::uint32_t named = 0;
    Ticks tick = 0;
  };
  struct Thread {
    std::vector<Open> open;
    bool exited = false;
    bool moved = false;  // since the last settle()
  };

  LiveFigures(const SpanBudgets& budgets,
              std::function<bool(const std::string&)> on_excess)
      : budgets_(&budgets), on_excess_(std::move(on_excess)) {}

  void take(Thread& thread, const Slot* slots, std::uint32_t count,
            std::uint64_t position, Ticks reference);
  void end_span(Thread& thread, std::uint32_t begin, Ticks tick,
                bool monotonic);
  std::uint32_t named_for(std::uint32_t site, std::uint32_t dynamic);
  std::uint32_t add_name(StringId name);
  void look_for_budgets();
  void exceed(const Named& named, std::uint64_t ticks);
  Latency figures(const Named& named) const;

  const SpanBudgets* budgets_;
  const std::function<bool(const std::string&)> on_excess_;
  CounterPages pages_;

  // Names in the order they came; [0] holds all that found no room. Grows by
  // chunks that never move: size_ publishes them [A].
  static constexpr std::size_t kChunk = 256;
  std::array<std::unique_ptr<Named[]>, kMaxNames / kChunk + 1> chunks_;
  std::atomic<std::uint32_t> size_{0};
  Named& named(std::uint32_t number) const noexcept {
    return chunks_[number / kChunk][number % kChunk];
  }

  // Drainer only.
  const Catalog* catalog_ = nullptr;
  std::unordered_map<std::uint32_t, std::uint32_t> by_name_;  // StringId
  std::vector<std::uint32_t> by_site_;  // number + 1; 0: not looked up
  std::unordered_map<std::uint32_t, Thread> threads_;
  std::uint64_t thread_cursor_ = 0;
  std::vector<std::uint32_t> exited_;
  std::uint32_t known_budgets_ = 0;
  std::int64_t now_ns_ = 0;
  std::int64_t last_excess_ns_ = 0;

  // From the drainer to the helper: [B] excess_ is complete before due_ is set,
  // and not written while it is.
  std::string excess_;
  std::atomic<bool> due_{false};
  std::atomic<std::uint64_t> over_budget_{0};
};

}  // namespace weft

#endif  // WEFT_SRC_LIVE_FIGURES_H_
