// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/scheduled_steps.h"

namespace weft {
namespace {

using Action = ProfilerAction;
using Kind = StepEffect::Kind;

bool records(Action action) {
  return action == Action::kRecord || action == Action::kRecordAndSave;
}

}  // namespace

ProfilerAction ScheduledSteps::action(std::uint64_t step) const {
  return action_of_ ? action_of_(step) : Action::kRecord;
}

void ScheduledSteps::begin_range(std::uint64_t step,
                                 std::vector<StepEffect>& effects) {
  if (!action_of_) return;
  range_step_ = step;
  effects.push_back({Kind::kBeginStep, step});
}

void ScheduledSteps::end_range(std::vector<StepEffect>& effects) {
  if (action_of_) effects.push_back({Kind::kEndStep, range_step_});
}

void ScheduledSteps::save(std::vector<StepEffect>& effects) {
  effects.push_back({Kind::kStop});
  effects.push_back({Kind::kReady, step_num_});
  ++windows_saved_;
}

// See the table in the header.
void ScheduledSteps::transition(Action from, Action to,
                                std::vector<StepEffect>& effects) {
  switch (from) {
    case Action::kNone:
      if (to != Action::kNone) effects.push_back({Kind::kPrepare});
      if (records(to)) effects.push_back({Kind::kStart});
      return;
    case Action::kWarmup:
      if (to == Action::kWarmup) return;
      if (to == Action::kNone) effects.push_back({Kind::kWarn});
      effects.push_back({Kind::kStart});
      if (to == Action::kNone) effects.push_back({Kind::kStop});
      return;
    case Action::kRecord:
      if (records(to)) return;
      effects.push_back({Kind::kWarn});
      effects.push_back({Kind::kStop});
      return;
    case Action::kRecordAndSave:
      save(effects);
      if (to != Action::kNone) effects.push_back({Kind::kPrepare});
      if (records(to)) effects.push_back({Kind::kStart});
      return;
  }
}

void ScheduledSteps::finish(Action from, std::vector<StepEffect>& effects) {
  if (from == Action::kWarmup) {
    effects.push_back({Kind::kStart});
    effects.push_back({Kind::kStop});
  } else if (records(from)) {
    save(effects);
  }
}

std::vector<StepEffect> ScheduledSteps::start() {
  std::vector<StepEffect> effects;
  current_ = action(step_num_);
  transition(Action::kNone, current_, effects);
  begin_range(step_num_, effects);
  return effects;
}

std::vector<StepEffect> ScheduledSteps::step() {
  std::vector<StepEffect> effects;
  end_range(effects);
  const std::uint64_t before = step_num_++;
  const Action next = action(step_num_);
  transition(current_, next, effects);
  current_ = next;
  effects.push_back({Kind::kSignal});
  // The reference numbers ranges from before the step: its first two are #0.
  begin_range(rules_ == Rules::kReference ? before : step_num_, effects);
  return effects;
}

std::vector<StepEffect> ScheduledSteps::stop() {
  std::vector<StepEffect> effects;
  end_range(effects);
  finish(current_, effects);
  current_ = Action::kNone;
  return effects;
}

}  // namespace weft
