// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/profiler_options.h"

#include <utility>

#include "device_plan.h"

namespace weft {
namespace {

constexpr std::size_t kMinHostBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxHostBytes = std::size_t{64} << 30;
constexpr std::size_t kMinDeviceBytes = std::size_t{1} << 12;

Error invalid(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}

// Words that name a kind of device.
bool take_device_word(ProfilerOptions& options) {
  const std::pair<const char*, Activity> words[] = {
      {"cuda", Activity::kCuda},
      {"xpu", Activity::kXpu},
      {"mtia", Activity::kMtia},
  };
  for (const auto& [word, activity] : words) {
    if (options.use_device != word) continue;
    options.use_device.clear();
    options.activities.insert(activity);
    return true;
  }
  return false;
}

Result<void> check_experimental(const ExperimentalOptions& options,
                                const std::set<Activity>& activities) {
  const auto unsupported = [](const char* what) {
    return Error{ErrorCode::kUnsupported,
                 std::string("experimental option ") + what +
                     ": weft does not have it"};
  };
  if (!options.performance_events.empty()) {
    if (activities.count(Activity::kCpu) == 0)
      return invalid("performance_events need the activity cpu");
    return unsupported("performance_events");
  }
  if (!options.metrics.empty() || options.metrics_per_kernel)
    return unsupported("metrics");
  if (options.adjust_timestamps) return unsupported("adjust_timestamps");
  if (options.capture_overload_names)
    return unsupported("capture_overload_names");
  return {};
}

}  // namespace

Result<FinalProfilerOptions> validate(const ProfilerOptions& wanted) {
  FinalProfilerOptions final{wanted, {}};
  ProfilerOptions& options = final.options;
  if (!options.enabled) return final;
  options.record_shapes = options.record_shapes || options.with_flops;
  // The word for "no name was given".
  if (options.use_device == "privateuseone") options.use_device.clear();
  take_device_word(options);
  if (!options.use_device.empty()) options.activities.insert(Activity::kCustom);
  if (options.max_host_bytes < kMinHostBytes ||
      options.max_host_bytes > kMaxHostBytes)
    return invalid("max_host_bytes " + std::to_string(options.max_host_bytes) +
                   " is not in [" + std::to_string(kMinHostBytes) + ", " +
                   std::to_string(kMaxHostBytes) + "]");
  if (options.max_device_bytes < kMinDeviceBytes ||
      options.max_device_bytes > kMaxHostBytes)
    return invalid("max_device_bytes " +
                   std::to_string(options.max_device_bytes) + " is not in [" +
                   std::to_string(kMinDeviceBytes) + ", " +
                   std::to_string(kMaxHostBytes) + "]");
  for (const RecordScope scope : options.scopes)
    if (static_cast<std::size_t>(scope) >= kRecordScopes)
      return invalid("scope " +
                     std::to_string(static_cast<unsigned>(scope)) +
                     " is not one of the " + std::to_string(kRecordScopes));
  if (auto planned = profile::plan_devices(options, final.warnings);
      !planned.ok())
    return planned.error();
  if (options.activities.empty())
    return invalid("no activity is left to profile");
  if (Result<void> checked =
          check_experimental(options.experimental, options.activities);
      !checked.ok())
    return checked.error();
  return final;
}

}  // namespace weft
