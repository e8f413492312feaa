// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_PROFILER_SESSION_H_
#define WEFT_PROFILE_SRC_PROFILER_SESSION_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "call_decoder.h"
#include "call_observers.h"
#include "kept_records.h"
#include "session_devices.h"
#include "weft/clock_line.h"
#include "weft/profile/profiler.h"
#include "weft/subscription.h"

namespace weft {

// What a Profiler does.
//
// An interval is a subscription with the records it keeps; a session has one
// more for each pause. Result and intervals are guarded by a mutex, since a
// finished session may be asked by several threads.
class ProfilerSession {
 public:
  explicit ProfilerSession(ProfilerOptions options);
  ~ProfilerSession();

  Result<void> prepare();
  Result<void> start();
  Result<void> stop();
  Result<void> pause(const std::set<Activity>& activities);
  Result<void> resume(const std::set<Activity>& activities);

  bool running() const noexcept { return state_ != State::kIdle; }
  const Result<FinalProfilerOptions>& validated() const { return validated_; }
  const ProfilerOptions& options() const noexcept { return options_; }
  const std::vector<std::string>& warnings() const noexcept {
    return warnings_;
  }

  Result<void> add_metadata(std::string_view key, std::string json);
  Result<std::shared_ptr<const ProfilerResult>> result();

 private:
  enum class State : std::uint8_t { kIdle, kRecording };

  Result<void> plan_devices(std::vector<profile::PlannedDevice>& planned);
  // Whether one of `activities` is recorded, or is not.
  Result<bool> any(const std::set<Activity>& activities, bool recorded) const;
  bool recording(Activity activity) const;
  bool host_follows() const;
  bool any_device_recording() const;
  void warn_of_one_side();
  Result<void> begin_interval();
  Result<void> end_interval();
  std::shared_ptr<const ProfilerResult> make_result() const;
  void add_device_rows(const profile::DecodedCalls& calls,
                       const ClockLine& line, std::vector<RawEvent>& raw,
                       DeviceStatistics& statistics) const;
  std::vector<std::pair<std::string, std::string>> metadata() const;

  const ProfilerOptions given_;
  const Result<FinalProfilerOptions> validated_;
  ProfilerOptions options_;  // effective
  std::vector<std::string> warnings_;
  std::string trace_id_;

  State state_ = State::kIdle;
  bool finished_ = false;
  std::shared_ptr<profile::SharedSession> shared_;
  std::optional<profile::CallObserver> observer_;
  Subscription subscription_;
  std::shared_ptr<profile::KeptRecords> recording_;  // of the open interval
  profile::SessionDevices devices_;

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<profile::KeptRecords>> intervals_;
  profile::DeviceData device_data_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::shared_ptr<const ProfilerResult> result_;
  ProfilerStatistics timing_;  // what the calls took, and accounts
  std::int64_t node_id_ = -1;
};

}  // namespace weft

#endif  // WEFT_PROFILE_SRC_PROFILER_SESSION_H_
