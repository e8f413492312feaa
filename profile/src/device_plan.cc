// SPDX-License-Identifier: Apache-2.0
#include "device_plan.h"

#include <optional>
#include <utility>

#include "weft/gpu/device_registry.h"

namespace weft::profile {
namespace {

constexpr std::pair<Activity, DeviceFamily> kDevices[] = {
    {Activity::kCuda, DeviceFamily::kCuda},
    {Activity::kXpu, DeviceFamily::kXpu},
    {Activity::kMtia, DeviceFamily::kMtia},
    {Activity::kCustom, DeviceFamily::kCustom},
};

// Those that have been timed with pairs of events before there were tracers.
bool may_use_pairs(DeviceFamily family) {
  return family == DeviceFamily::kCuda || family == DeviceFamily::kCustom;
}

// Why a device called `wanted` is not the one that is registered; empty: it is.
std::string other_device(const std::string& wanted) {
  const Result<RegisteredDevice> custom = device_source(DeviceFamily::kCustom);
  if (!custom.ok())
    return "no device source for the device \"" + wanted + "\" is registered";
  if (custom->name == wanted) return {};
  return "the device \"" + wanted +
         "\" is not registered; the custom device is \"" + custom->name + "\"";
}

// How the family can be recorded; none, and `why`, if it cannot.
std::optional<DeviceUse> use_of(DeviceFamily family,
                                const ProfilerOptions& options,
                                std::string& why) {
  const DeviceAbilities abilities = probe_device_source(family);
  if (abilities.activities) return DeviceUse::kActivities;
  why = abilities.reason;
  if (abilities.event_pairs && options.allow_device_event_fallback &&
      may_use_pairs(family))
    return DeviceUse::kEventPairs;
  if (const Result<RegisteredDevice> device = device_source(family);
      device.ok())
    why = "device source \"" + device->name + "\" for " + name_of(family) +
          " is not available: " + why;
  return std::nullopt;
}

}  // namespace

Result<std::vector<PlannedDevice>> plan_devices(
    ProfilerOptions& options, std::vector<std::string>& warnings) {
  const auto leave_out = [&](Activity activity,
                             const std::string& why) -> Result<void> {
    if (!options.reduce_on_missing_device)
      return Error{ErrorCode::kUnavailable, why};
    warnings.push_back(why + "; it is left out");
    options.activities.erase(activity);
    if (activity == Activity::kCustom) options.use_device.clear();
    return {};
  };
  std::vector<PlannedDevice> planned;
  for (const auto& [activity, family] : kDevices) {
    if (options.activities.count(activity) == 0) continue;
    std::string why;
    if (activity == Activity::kCustom && !options.use_device.empty())
      why = other_device(options.use_device);
    std::optional<DeviceUse> use;
    if (why.empty()) use = use_of(family, options, why);
    if (!use) {
      if (Result<void> left = leave_out(activity, why); !left.ok())
        return left.error();
      continue;
    }
    if (activity == Activity::kCustom)
      options.use_device = device_source(family)->name;
    if (*use == DeviceUse::kEventPairs) {
      if (options.activities.count(Activity::kCpu) == 0)
        return Error{ErrorCode::kInvalidArgument,
                     std::string(name_of(family)) +
                         " can only be timed around calls, which needs the "
                         "activity cpu: " +
                         why};
      warnings.push_back(std::string(name_of(family)) +
                         " is timed with pairs of device events: " + why);
    }
    planned.push_back({activity, family, *use});
  }
  return planned;
}

}  // namespace weft::profile
