// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_SESSION_CONTROL_H_
#define WEFT_SRC_SESSION_CONTROL_H_

// What the calls share that begin, pause and end sessions and subscriptions.

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "live_figures.h"
#include "runtime.h"
#include "weft/result.h"

namespace weft {

// A pass takes well under a millisecond. Only a stopped drainer needs longer.
constexpr std::chrono::milliseconds kDrainerTimeout{10'000};

// Who is subscribed. One mutex for all control calls; no record ever takes it.
struct SessionControl {
  std::mutex mutex;
  std::vector<std::shared_ptr<SubscriptionState>> active;
  std::shared_ptr<SubscriptionState> session;  // init's; null: off
  std::shared_ptr<LiveFigures> live;           // beside it; null: off
  std::shared_ptr<SubscriptionState> live_subscription;
  bool paused = false;
  std::string output;
  std::uint64_t next_id = 1;
  unsigned observers = 0;  // of calls
};

// The one of this process; immortal.
SessionControl& session_control();

// With the mutex held, these four.
//
// Switches all sites to what the active subscriptions want together.
void turn_sites(const SessionControl& all);
// Asks the drainer and waits for its obedience. Errors: kTimeout; it may obey
// later.
Result<void> order(Runtime& runtime, Command::Kind kind,
                   const std::shared_ptr<SubscriptionState>& subscription,
                   CategoryFilter filter = {},
                   std::chrono::milliseconds timeout = kDrainerTimeout);
Result<void> enter(SessionControl& all, Runtime& runtime,
                   const std::shared_ptr<SubscriptionState>& subscription);
// Ends it, waits for its output to be complete, and for weft's threads to end
// if it was the last one. Errors: kTimeout.
Result<void> leave(SessionControl& all, Runtime& runtime,
                   std::shared_ptr<SubscriptionState> subscription,
                   std::string reason, std::chrono::milliseconds timeout);

struct RunningSession {
  Runtime* runtime = nullptr;
  std::shared_ptr<SubscriptionState> subscription;
  std::string output;
  std::shared_ptr<LiveFigures> live;  // null: off
};

// Calls `use` with the default session while no other control call changes it.
// Errors: kNotRunning.
Result<void> with_session(const std::function<void(const RunningSession&)>& use);

// The same, but does nothing and returns false while another control call runs:
// for the helper, which such a call may be waiting for.
bool try_with_session(const std::function<void(const RunningSession&)>& use);

// Every record that got its tick before now is published when this returns, but
// for those of threads that are stopped in the middle of one.
void wait_for_records(Runtime& runtime);

Error not_running();

}  // namespace weft

#endif  // WEFT_SRC_SESSION_CONTROL_H_
