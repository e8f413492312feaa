// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_DEVICE_PLAN_H_
#define WEFT_PROFILE_SRC_DEVICE_PLAN_H_

#include <string>
#include <vector>

#include "weft/gpu/device_family.h"
#include "weft/profile/profiler_options.h"

namespace weft::profile {

enum class DeviceUse : std::uint8_t { kActivities, kEventPairs };

struct PlannedDevice {
  Activity activity;
  DeviceFamily family;
  DeviceUse use;
};

// Which registered sources a session with `options` can use now. What is
// missing is taken out of the options with a warning, or is an error. A custom
// device that nobody named gets its name.
//
// Errors: kUnavailable      a device is missing and may not be left out
//         kInvalidArgument  a device can only be timed around calls, and the
//                           session records none
Result<std::vector<PlannedDevice>> plan_devices(
    ProfilerOptions& options, std::vector<std::string>& warnings);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_DEVICE_PLAN_H_
