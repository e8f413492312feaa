// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/scheduled_profiler.h"

#include <optional>
#include <utility>

#include "json_text.h"
#include "weft/profile/record_function.h"
#include "weft/profile/scheduled_steps.h"

namespace weft {
namespace {

// The first failure of several calls.
void keep_first(Result<void>& first, Result<void> next) {
  if (first.ok() && !next.ok()) first = std::move(next);
}

}  // namespace

struct ScheduledProfiler::Run {
  Run(ProfilerOptions the_options, ScheduledSteps the_steps,
      OnTraceReady handler)
      : options(std::move(the_options)),
        fresh_steps(std::move(the_steps)),
        on_trace_ready(std::move(handler)) {}

  Result<void> apply(const std::vector<StepEffect>& effects);
  Result<void> apply(const StepEffect& effect);
  Result<void> begin_window();
  Result<void> hand_over(std::uint64_t next_step);
  Result<Profiler*> make_profiler();

  const ProfilerOptions options;
  const ScheduledSteps fresh_steps;
  const OnTraceReady on_trace_ready;
  std::vector<std::pair<std::string, std::string>> metadata;  // key, JSON

  bool running = false;
  ScheduledSteps steps;
  std::optional<Profiler> profiler;
  std::optional<RecordFunction> range;  // of the present step
  std::uint64_t first_step = 0;         // of the open window
  bool warming = false;                 // records are to be thrown away
  ScheduledRun account;
  std::shared_ptr<const ProfilerResult> last;
  StepTracker* tracker = nullptr;
  std::string requester;
};

Result<Profiler*> ScheduledProfiler::Run::make_profiler() {
  Result<Profiler> made = Profiler::create(options);
  if (!made.ok()) return made.error();
  profiler.emplace(std::move(*made));
  return &*profiler;
}

Result<void> ScheduledProfiler::Run::apply(
    const std::vector<StepEffect>& effects) {
  Result<void> first;
  for (const StepEffect& effect : effects) keep_first(first, apply(effect));
  return first;
}

Result<void> ScheduledProfiler::Run::apply(const StepEffect& effect) {
  switch (effect.kind) {
    case StepEffect::Kind::kPrepare: {
      // Warm from here on: threads get their rings, sites their numbers.
      Result<Profiler*> made = make_profiler();
      if (!made.ok()) return made.error();
      warming = true;
      return (*made)->start();
    }
    case StepEffect::Kind::kStart:
      return begin_window();
    case StepEffect::Kind::kStop: {
      if (!profiler.has_value() || !profiler->running()) return {};
      return profiler->stop();
    }
    case StepEffect::Kind::kReady:
      return hand_over(effect.step);
    case StepEffect::Kind::kBeginStep:
      range.emplace(RecordScope::kUserScope);
      range->before("ProfilerStep#" + std::to_string(effect.step));
      return {};
    case StepEffect::Kind::kEndStep:
      range.reset();
      return {};
    case StepEffect::Kind::kSignal:
      if (tracker != nullptr) tracker->increment(requester);
      return {};
    case StepEffect::Kind::kWarn:
      account.advice =
          "the schedule ends a window at step " +
          std::to_string(steps.step_num()) + " that is never handed over";
      return {};
  }
  return {};
}

// What was recorded while warming up goes.
Result<void> ScheduledProfiler::Run::begin_window() {
  if (profiler.has_value() && profiler->running()) (void)profiler->stop();
  Result<Profiler*> made = make_profiler();
  if (!made.ok()) return made.error();
  for (const auto& [key, json] : metadata)
    (void)(*made)->add_metadata_json(key, json);
  warming = false;
  first_step = steps.step_num();
  return (*made)->start();
}

Result<void> ScheduledProfiler::Run::hand_over(std::uint64_t next_step) {
  if (!profiler.has_value()) return {};
  Result<std::shared_ptr<const ProfilerResult>> result = profiler->result();
  if (!result.ok()) return result.error();
  ProfiledWindow window;
  window.result = last = *result;
  window.number = account.windows++;
  window.first_step = first_step;
  window.last_step = next_step == 0 ? 0 : next_step - 1;
  if (!on_trace_ready) return {};
  try {
    return on_trace_ready(window);
  } catch (const std::exception& thrown) {
    return Error{ErrorCode::kInvalidArgument,
                 std::string("on_trace_ready threw: ") + thrown.what()};
  } catch (...) {
    return Error{ErrorCode::kInvalidArgument, "on_trace_ready threw"};
  }
}

ScheduledProfiler::ScheduledProfiler(ProfilerOptions options,
                                     OnTraceReady on_trace_ready)
    : run_(std::make_unique<Run>(std::move(options), ScheduledSteps(),
                                 std::move(on_trace_ready))) {}

ScheduledProfiler::ScheduledProfiler(ProfilerOptions options,
                                     const Schedule& schedule,
                                     OnTraceReady on_trace_ready)
    : run_(std::make_unique<Run>(std::move(options), ScheduledSteps(schedule),
                                 std::move(on_trace_ready))) {}

ScheduledProfiler::~ScheduledProfiler() {
  if (run_->running) (void)stop();
  if (run_->tracker != nullptr) run_->tracker->erase(run_->requester);
}

void ScheduledProfiler::count_steps_in(StepTracker& tracker,
                                       std::string requester) {
  tracker.init(requester);
  run_->tracker = &tracker;
  run_->requester = std::move(requester);
}

Result<void> ScheduledProfiler::start() {
  if (run_->running)
    return Error{ErrorCode::kBusy, "this profiler is running already"};
  run_->steps = run_->fresh_steps;
  run_->account = {};
  Result<void> started = run_->apply(run_->steps.start());
  if (!started.ok()) {
    run_->range.reset();
    run_->profiler.reset();
    return started;
  }
  run_->running = true;
  return {};
}

Result<void> ScheduledProfiler::step() {
  if (!run_->running)
    return Error{ErrorCode::kNotRunning, "this profiler is not running"};
  ++run_->account.steps;
  return run_->apply(run_->steps.step());
}

Result<ScheduledRun> ScheduledProfiler::stop() {
  if (!run_->running)
    return Error{ErrorCode::kNotRunning, "this profiler is not running"};
  run_->running = false;
  const Result<void> stopped = run_->apply(run_->steps.stop());
  if (!stopped.ok()) return stopped.error();
  ScheduledRun& account = run_->account;
  if (account.windows == 0 && account.advice.empty())
    account.advice =
        account.steps == 0
            ? "no window was recorded: step() was never called"
            : "no window was recorded: the run ended before the first one";
  return account;
}

Result<void> ScheduledProfiler::add_metadata(std::string_view key,
                                             std::string_view text) {
  return add_metadata_json(key, profile::json_string(text));
}

Result<void> ScheduledProfiler::add_metadata_json(std::string_view key,
                                                  std::string_view json) {
  Profiler judge({.enabled = false});
  if (Result<void> added = judge.add_metadata_json(key, json); !added.ok())
    return added;
  run_->metadata.emplace_back(key, json);
  if (recording()) return run_->profiler->add_metadata_json(key, json);
  return {};
}

std::uint64_t ScheduledProfiler::step_num() const noexcept {
  return run_->steps.step_num();
}

bool ScheduledProfiler::recording() const noexcept {
  return run_->running && !run_->warming && run_->profiler.has_value() &&
         run_->profiler->running();
}

std::shared_ptr<const ProfilerResult> ScheduledProfiler::last_result()
    const noexcept {
  return run_->last;
}

}  // namespace weft
