// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/schedule.h"

#include <utility>

namespace weft {
namespace {

constexpr std::int64_t kMaxSteps = 1'000'000'000;

std::optional<Error> check(const char* name, std::int64_t value,
                           std::int64_t least) {
  if (value >= least && value <= kMaxSteps) return std::nullopt;
  return Error{ErrorCode::kInvalidArgument,
               std::string("schedule: ") + name + " is " +
                   std::to_string(value) + ", allowed are " +
                   std::to_string(least) + " to " + std::to_string(kMaxSteps)};
}

}  // namespace

Result<Schedule> Schedule::create(const ScheduleOptions& options) {
  const std::pair<const char*, std::int64_t> not_negative[] = {
      {"wait", options.wait},
      {"warmup", options.warmup},
      {"repeat", options.repeat},
      {"skip_first", options.skip_first},
  };
  for (const auto& [name, value] : not_negative) {
    if (auto error = check(name, value, 0)) return *std::move(error);
  }
  if (auto error = check("active", options.active, 1)) return *std::move(error);
  return Schedule(options);
}

ProfilerAction Schedule::operator()(std::uint64_t step) const noexcept {
  const auto unsigned_of = [](std::int64_t value) {
    return static_cast<std::uint64_t>(value);
  };
  const std::uint64_t skip_first = unsigned_of(options_.skip_first);
  const std::uint64_t wait = unsigned_of(options_.wait);
  const std::uint64_t warmup = unsigned_of(options_.warmup);
  const std::uint64_t cycle = wait + warmup + unsigned_of(options_.active);
  if (step < skip_first) return ProfilerAction::kNone;
  step -= skip_first;
  if (options_.skip_first_wait) step += wait;
  if (options_.repeat > 0 && step / cycle >= unsigned_of(options_.repeat)) {
    return ProfilerAction::kNone;
  }
  const std::uint64_t in_cycle = step % cycle;
  if (in_cycle < wait) return ProfilerAction::kNone;
  if (in_cycle < wait + warmup) return ProfilerAction::kWarmup;
  return in_cycle < cycle - 1 ? ProfilerAction::kRecord
                              : ProfilerAction::kRecordAndSave;
}

std::optional<std::string> Schedule::warning() const {
  if (options_.warmup > 0) return std::nullopt;
  return "schedule: without warm-up the first step of each window includes the "
         "tracer's start";
}

}  // namespace weft
