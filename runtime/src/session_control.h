// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_SESSION_CONTROL_H_
#define WEFT_SRC_SESSION_CONTROL_H_

#include <functional>
#include <memory>
#include <string>

#include "live_figures.h"
#include "runtime.h"
#include "weft/result.h"

namespace weft {

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

}  // namespace weft

#endif  // WEFT_SRC_SESSION_CONTROL_H_
