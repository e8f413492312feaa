// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_SESSION_DEVICES_H_
#define WEFT_PROFILE_SRC_SESSION_DEVICES_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device_event_pairs.h"
#include "device_plan.h"
#include "device_rows.h"
#include "weft/gpu/device_tap.h"
#include "weft/profile/profiler_options.h"

namespace weft::profile {

// What a session recorded of devices.
struct DeviceData {
  std::vector<DeviceWindow> windows;
  std::vector<std::unique_ptr<DeviceEventPairs>> pairs;
};

// The devices of a running session, each recording or paused.
class SessionDevices {
 public:
  // Starts what `planned` names. A source that fails to start is left out with
  // a warning where the options permit; then its activity leaves them.
  // Errors: kUnavailable, or what the source says. Nothing runs then.
  Result<void> start(const std::vector<PlannedDevice>& planned,
                     ProfilerOptions& options,
                     std::vector<std::string>& warnings);
  // Waits for the devices.
  void stop();

  bool recording(Activity activity) const;
  // Of a device that is there and not so already.
  void pause(Activity activity);
  Result<void> resume(Activity activity);

  // After stop().
  DeviceData take();

 private:
  struct Device {
    PlannedDevice plan;
    std::optional<DeviceTap> tap;
    Ticks opened = 0;
    std::unique_ptr<DeviceEventPairs> pairs;
    bool open = false;
  };

  Result<void> open(Device& device);
  void close(Device& device);
  Device& at(Activity activity);

  DeviceConfig config_;
  std::vector<Device> devices_;
  DeviceData data_;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_SESSION_DEVICES_H_
