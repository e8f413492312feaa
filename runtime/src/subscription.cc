// SPDX-License-Identifier: Apache-2.0
#include "weft/subscription.h"

#include <algorithm>
#include <utility>

#include "init_config.h"
#include "session_control.h"

namespace weft {

using std::chrono::milliseconds;

Result<Subscription> subscribe(SubscriptionOptions options,
                               std::shared_ptr<Exporter> exporter) {
  SessionControl& all = session_control();
  const std::scoped_lock lock(all.mutex);
  Result<CategoryFilter> filter = CategoryFilter::parse(options.categories);
  if (!filter.ok()) return filter.error();
  if (exporter == nullptr)
    return Error{ErrorCode::kInvalidArgument, "a subscription needs an exporter"};
  Result<FinalConfig> config = finalize(InitOptions(), process_environment());
  if (!config.ok()) return config.error();
  Runtime* runtime = Runtime::create();
  if (runtime == nullptr)
    return Error{ErrorCode::kOutOfMemory, "no address space for the tables"};
  if (Result<void> ready = runtime->prepare(*config); !ready.ok())
    return ready.error();
  auto state = std::make_shared<SubscriptionState>();
  state->info.name = std::move(options.name);
  state->filter = std::move(*filter);
  state->limits = std::move(options.limits);
  state->exporter = std::move(exporter);
  if (Result<void> entered = enter(all, *runtime, state); !entered.ok())
    return entered.error();
  turn_sites(all);
  Subscription subscription;
  subscription.id_ = state->id;
  return subscription;
}

Subscription::Subscription(Subscription&& other) noexcept
    : id_(std::exchange(other.id_, 0)) {}

Subscription& Subscription::operator=(Subscription&& other) noexcept {
  if (this != &other) {
    (void)stop();
    id_ = std::exchange(other.id_, 0);
  }
  return *this;
}

Subscription::~Subscription() { (void)stop(); }

Result<SubscriptionEnd> Subscription::stop(milliseconds timeout) {
  // Also what a moved-from one does, perhaps while subscribe() holds the mutex.
  if (id_ == 0)
    return Error{ErrorCode::kNotRunning, "the subscription is not running"};
  SessionControl& all = session_control();
  const std::scoped_lock lock(all.mutex);
  Runtime* runtime = Runtime::instance();
  const auto found = std::find_if(
      all.active.begin(), all.active.end(),
      [this](const auto& subscription) { return subscription->id == id_; });
  id_ = 0;
  if (runtime == nullptr || found == all.active.end())
    return Error{ErrorCode::kNotRunning, "the subscription is not running"};
  const std::shared_ptr<SubscriptionState> state = *found;
  if (Result<void> left = leave(all, *runtime, state, "stop", timeout);
      !left.ok())
    return left.error();
  return state->end;
}

}  // namespace weft
