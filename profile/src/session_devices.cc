// SPDX-License-Identifier: Apache-2.0
#include "session_devices.h"

#include <algorithm>
#include <utility>

#include "weft/clock.h"
#include "weft/gpu/device_registry.h"

namespace weft::profile {

Result<void> SessionDevices::start(const std::vector<PlannedDevice>& planned,
                                   ProfilerOptions& options,
                                   std::vector<std::string>& warnings) {
  devices_.clear();
  data_ = {};
  config_.memory_bytes = options.max_device_bytes;
  for (const PlannedDevice& plan : planned) {
    Device device{plan, {}, 0, nullptr, false};
    Result<void> opened = open(device);
    if (!opened.ok()) {
      if (!options.reduce_on_missing_device) {
        stop();
        data_ = {};
        return opened;
      }
      warnings.push_back(opened.error().message + "; it is left out");
      options.activities.erase(plan.activity);
      continue;
    }
    devices_.push_back(std::move(device));
  }
  return {};
}

Result<void> SessionDevices::open(Device& device) {
  if (device.plan.use == DeviceUse::kEventPairs) {
    Result<RegisteredDevice> source = device_source(device.plan.family);
    if (!source.ok()) return source.error();
    auto pairs = std::make_unique<DeviceEventPairs>(std::move(*source),
                                                    config_.memory_bytes);
    if (Result<void> started = pairs->start(); !started.ok()) return started;
    device.pairs = std::move(pairs);
  } else {
    device.opened = now_ticks();
    Result<DeviceTap> tap = DeviceTap::open(device.plan.family, config_);
    if (!tap.ok()) return tap.error();
    device.tap = std::move(*tap);
  }
  device.open = true;
  return {};
}

// The window ends before the source is asked to wait for its device, so that
// the waiting itself lies outside.
void SessionDevices::close(Device& device) {
  device.open = false;
  if (device.pairs != nullptr) {
    device.pairs->stop();
    data_.pairs.push_back(std::move(device.pairs));
    return;
  }
  const Ticks closed = now_ticks();
  DeviceRecords records = device.tap->close();
  data_.windows.push_back({device.plan.family, device.opened, closed,
                           now_ticks(), std::move(records)});
  device.tap.reset();
}

void SessionDevices::stop() {
  for (Device& device : devices_)
    if (device.open) close(device);
  devices_.clear();
}

SessionDevices::Device& SessionDevices::at(Activity activity) {
  return *std::find_if(
      devices_.begin(), devices_.end(),
      [&](const Device& device) { return device.plan.activity == activity; });
}

bool SessionDevices::recording(Activity activity) const {
  return std::any_of(devices_.begin(), devices_.end(),
                     [&](const Device& device) {
                       return device.plan.activity == activity && device.open;
                     });
}

void SessionDevices::pause(Activity activity) {
  close(at(activity));
}

Result<void> SessionDevices::resume(Activity activity) {
  return open(at(activity));
}

DeviceData SessionDevices::take() {
  return std::move(data_);
}

}  // namespace weft::profile
