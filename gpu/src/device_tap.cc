// SPDX-License-Identifier: Apache-2.0
#include "weft/gpu/device_tap.h"

#include <string>
#include <utility>

#include "device_hub.h"
#include "device_hubs.h"

namespace weft {

Result<DeviceTap> DeviceTap::open(DeviceFamily family,
                                  const DeviceConfig& config) {
  std::shared_ptr<DeviceHub> hub = device_hub(family);
  if (hub == nullptr) return device_source(family).error();
  Result<std::uint64_t> ticket = hub->open(config);
  if (!ticket.ok()) return ticket.error();
  return DeviceTap(std::move(hub), *ticket);
}

DeviceTap& DeviceTap::operator=(DeviceTap&& other) noexcept {
  if (this == &other) return *this;
  if (hub_ != nullptr) (void)close();
  hub_ = std::move(other.hub_);
  ticket_ = other.ticket_;
  return *this;
}

DeviceTap::~DeviceTap() {
  if (hub_ != nullptr) (void)close();
}

DeviceRecords DeviceTap::close() {
  const std::shared_ptr<DeviceHub> hub = std::exchange(hub_, nullptr);
  return hub == nullptr ? DeviceRecords() : hub->close(ticket_);
}

DeviceAccounts device_accounts(DeviceFamily family) {
  const std::shared_ptr<DeviceHub> hub = device_hub(family);
  return hub == nullptr ? DeviceAccounts() : hub->accounts();
}

}  // namespace weft
