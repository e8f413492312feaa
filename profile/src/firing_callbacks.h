// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_FIRING_CALLBACKS_H_
#define WEFT_PROFILE_SRC_FIRING_CALLBACKS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "call_observers.h"
#include "weft/profile/record_callback.h"

namespace weft::profile {

// The callbacks that were drawn for one call, in the order of their starts.
class FiringCallbacks {
 public:
  // Draws them. None while the thread's callbacks are off, and in a callback.
  FiringCallbacks(ThreadObservers& thread, RecordScope scope);
  FiringCallbacks() = default;

  bool empty() const noexcept { return firing_.empty(); }
  // Of those that fire, not of all that are registered.
  bool need_inputs() const noexcept { return need_inputs_; }
  bool need_outputs() const noexcept { return need_outputs_; }
  bool need_ids() const noexcept { return need_ids_; }

  void run_starts(const FunctionCall& call);
  void run_ends(const FunctionCall& call);

 private:
  struct Firing {
    std::shared_ptr<RegisteredCallback> callback;
    std::unique_ptr<CallbackContext> context;
  };
  void draw(ThreadObservers& thread, const CallbackList* list,
            RecordScope scope);

  std::vector<Firing> firing_;
  bool need_inputs_ = false;
  bool need_outputs_ = false;
  bool need_ids_ = false;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_FIRING_CALLBACKS_H_
