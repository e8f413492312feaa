// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SCHEDULED_STEPS_H_
#define WEFT_PROFILE_SCHEDULED_STEPS_H_

// What a scheduled profiler does at each start, step and stop. It only says
// what to do: whoever asks has the tracer.
//
//   from \ to | none               warmup    record, save    end
//   ----------+--------------------------------------------------------
//   none      | -                  prepare   prepare, start  -
//   warmup    | warn, start, stop  -         start           start, stop
//   record    | warn, stop         warn,     -               save
//             |                    stop
//   save      | save               save,     save, prepare,  save
//             |                    prepare   start
//
//   save = stop, then hand the window over

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "weft/profile/rules.h"
#include "weft/profile/schedule.h"

namespace weft {

struct StepEffect {
  enum class Kind : std::uint8_t {
    kPrepare,
    kStart,
    kStop,
    kReady,      // hand the window over; `step`: the number of the next step
    kSignal,     // count the step in the StepTracker
    kBeginStep,  // open the range "ProfilerStep#<step>"
    kEndStep,
    kWarn,  // the schedule ends a window that is never saved
  };

  Kind kind;
  std::uint64_t step = 0;  // of kReady, kBeginStep and kEndStep

  bool operator==(const StepEffect&) const = default;
};

// One thread at a time.
class ScheduledSteps {
 public:
  using ActionOf = std::function<ProfilerAction(std::uint64_t step)>;

  // Without a schedule every step is recorded, and steps have no ranges.
  ScheduledSteps() = default;
  explicit ScheduledSteps(ActionOf action_of, Rules rules = Rules::kWeft)
      : action_of_(std::move(action_of)), rules_(rules) {}

  std::vector<StepEffect> start();
  std::vector<StepEffect> step();
  std::vector<StepEffect> stop();

  std::uint64_t step_num() const noexcept { return step_num_; }
  // Zero at the end of a run means that nobody ever saw a result.
  std::uint64_t windows_saved() const noexcept { return windows_saved_; }

 private:
  ProfilerAction action(std::uint64_t step) const;
  void begin_range(std::uint64_t step, std::vector<StepEffect>& effects);
  void end_range(std::vector<StepEffect>& effects);
  void transition(ProfilerAction from, ProfilerAction to,
                  std::vector<StepEffect>& effects);
  void finish(ProfilerAction from, std::vector<StepEffect>& effects);
  void save(std::vector<StepEffect>& effects);

  ActionOf action_of_;
  Rules rules_ = Rules::kWeft;
  std::uint64_t step_num_ = 0;
  std::uint64_t range_step_ = 0;  // of the open range
  ProfilerAction current_ = ProfilerAction::kNone;
  std::uint64_t windows_saved_ = 0;
};

}  // namespace weft

#endif  // WEFT_PROFILE_SCHEDULED_STEPS_H_
