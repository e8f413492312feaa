// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SUBSCRIPTION_H_
#define WEFT_SUBSCRIPTION_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "weft/exporter.h"
#include "weft/internal/api.h"
#include "weft/result.h"
#include "weft/session.h"

namespace weft {

struct SubscriptionOptions {
  std::string name;        // shown to others when they ask who is there
  std::string categories;  // as InitOptions::categories
  Limits limits;
};

// Records of an interval, handed to an exporter. Any number of them may run
// beside each other and beside the default session; none disturbs another.
//
// A record belongs to a subscription when its time lies in [start, stop) and
// its category passes. Spans open at an edge are clipped and marked.
class WEFT_API Subscription {
 public:
  Subscription() noexcept = default;
  Subscription(Subscription&&) noexcept;
  Subscription& operator=(Subscription&&) noexcept;
  ~Subscription();  // stops

  // Ends the interval. When it returns, the exporter has everything and its
  // output is complete, unless `timeout` was too short (kTimeout).
  // Errors: kNotRunning. One thread at a time. Cold.
  Result<SubscriptionEnd> stop(
      std::chrono::milliseconds timeout = std::chrono::seconds(10));

  bool running() const noexcept { return id_ != 0; }

 private:
  friend Result<Subscription> subscribe(SubscriptionOptions,
                                        std::shared_ptr<Exporter>);
  std::uint64_t id_ = 0;
};

// Starts a subscription. Works with or without the default session; starts the
// runtime's threads if they do not run.
// Errors: kInvalidArgument, kOutOfMemory, kThreadFailed.
// Thread-safe. Cold.
WEFT_API Result<Subscription> subscribe(SubscriptionOptions options,
                                        std::shared_ptr<Exporter> exporter);

}  // namespace weft

#endif  // WEFT_SUBSCRIPTION_H_
