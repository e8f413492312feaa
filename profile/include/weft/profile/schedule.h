// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SCHEDULE_H_
#define WEFT_PROFILE_SCHEDULE_H_

// Which steps of a long run are profiled.
//
//   skip_first | wait | warmup | active       | wait | warmup | active       |
//   N N N N    | N N  | W      | R R R S      | N N  | W      | R R R S      |
//              '---------- one cycle ---------'
//
//   N nothing   W the tracer runs, its records are thrown away
//   R record    S record, and save the window after the step

#include <cstdint>
#include <optional>
#include <string>

#include "weft/result.h"

namespace weft {

enum class ProfilerAction : std::uint8_t {
  kNone,
  kWarmup,
  kRecord,
  kRecordAndSave,
};

// Numbers of steps, each at most 10^9.
struct ScheduleOptions {
  std::int64_t wait = 0;
  std::int64_t warmup = 1;  // the first steps of a tracer are distorted
  std::int64_t active = 1;
  std::int64_t repeat = 0;  // cycles; 0: for ever
  std::int64_t skip_first = 0;
  bool skip_first_wait = false;  // the first cycle does not wait
};

class Schedule {
 public:
  // Errors: kInvalidArgument  a number outside its limits
  [[nodiscard]] static Result<Schedule> create(const ScheduleOptions& options);

  ProfilerAction operator()(std::uint64_t step) const noexcept;

  const ScheduleOptions& options() const noexcept { return options_; }
  // What a person should know about these numbers, though they are allowed.
  std::optional<std::string> warning() const;

 private:
  explicit Schedule(const ScheduleOptions& options) : options_(options) {}

  ScheduleOptions options_;
};

}  // namespace weft

#endif  // WEFT_PROFILE_SCHEDULE_H_
