// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/profiler_options.h"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

constexpr std::size_t kMinHostBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxHostBytes = std::size_t{64} << 30;

Error invalid(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}

const char* name_of(Activity activity) {
  switch (activity) {
    case Activity::kCpu:
      return "cpu";
    case Activity::kCuda:
      return "cuda";
    case Activity::kXpu:
      return "xpu";
    case Activity::kMtia:
      return "mtia";
    case Activity::kCustom:
      return "custom";
  }
  return "?";
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

// Leaves out what is not there, or says that it may not be left out.
Result<void> reduce_devices(FinalProfilerOptions& final) {
  ProfilerOptions& options = final.options;
  const auto missing = [&](const std::string& what) -> Result<void> {
    const std::string message =
        "no device source for " + what + " is registered";
    if (!options.reduce_on_missing_device)
      return Error{ErrorCode::kUnavailable, message};
    final.warnings.push_back(message + "; it is left out");
    return {};
  };
  if (!options.use_device.empty()) {
    if (Result<void> reduced =
            missing("the device \"" + options.use_device + "\"");
        !reduced.ok())
      return reduced;
    options.use_device.clear();
    options.activities.erase(Activity::kCustom);
  }
  for (const Activity activity :
       {Activity::kCuda, Activity::kXpu, Activity::kMtia, Activity::kCustom}) {
    if (options.activities.count(activity) == 0) continue;
    if (Result<void> reduced = missing(name_of(activity)); !reduced.ok())
      return reduced;
    options.activities.erase(activity);
  }
  return {};
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
  for (const RecordScope scope : options.scopes)
    if (static_cast<std::size_t>(scope) >= kRecordScopes)
      return invalid("scope " +
                     std::to_string(static_cast<unsigned>(scope)) +
                     " is not one of the " + std::to_string(kRecordScopes));
  if (Result<void> reduced = reduce_devices(final); !reduced.ok())
    return reduced.error();
  if (options.activities.empty())
    return invalid("no activity is left to profile");
  if (Result<void> checked =
          check_experimental(options.experimental, options.activities);
      !checked.ok())
    return checked.error();
  return final;
}

}  // namespace weft
