// SPDX-License-Identifier: Apache-2.0
#include "weft/gpu/device_registry.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>
#include <utility>

#include "built_in_sources.h"
#include "device_hub.h"
#include "device_hubs.h"

namespace weft {
namespace {

constexpr std::size_t kLongestName = 32;

struct Registry {
  std::mutex mutex;
  std::array<std::shared_ptr<DeviceHub>, kDeviceFamilies> hubs;
};

// Never destroyed: sessions end in destructors of other statics.
Registry& registry() {
  static Registry& all = *new Registry;
  return all;
}

Result<void> check_name(DeviceFamily family, const std::string& name) {
  const bool shaped = !name.empty() && name.size() <= kLongestName &&
                      std::all_of(name.begin(), name.end(), [](char c) {
                        return (c >= 'a' && c <= 'z') ||
                               (c >= '0' && c <= '9') || c == '_' || c == '-';
                      });
  if (!shaped)
    return Error{ErrorCode::kInvalidArgument, "device name \"" + name +
                                                  "\" is not 1 to " +
                                                  std::to_string(kLongestName) +
                                                  " of a-z, 0-9, '_' and '-'"};
  static constexpr std::string_view kTaken[] = {"cpu", "cuda", "xpu", "mtia",
                                                "privateuseone"};
  if (family == DeviceFamily::kCustom &&
      std::find(std::begin(kTaken), std::end(kTaken), name) != std::end(kTaken))
    return Error{ErrorCode::kInvalidArgument,
                 "device name \"" + name + "\" is the word for another device"};
  return {};
}

}  // namespace

std::shared_ptr<DeviceHub> device_hub(DeviceFamily family) {
  const auto place = static_cast<std::size_t>(family);
  if (place >= kDeviceFamilies) return nullptr;
  Registry& all = registry();
  {
    const std::scoped_lock lock(all.mutex);
    if (all.hubs[place] != nullptr) return all.hubs[place];
  }
  return built_in_hub(family);
}

Result<void> register_device_source(DeviceFamily family, std::string name,
                                    std::shared_ptr<DeviceSource> source) {
  if (static_cast<std::size_t>(family) >= kDeviceFamilies)
    return Error{ErrorCode::kInvalidArgument,
                 "device family " +
                     std::to_string(static_cast<unsigned>(family)) +
                     " is not one of the " + std::to_string(kDeviceFamilies)};
  if (source == nullptr)
    return Error{ErrorCode::kInvalidArgument,
                 "device \"" + name + "\" comes without a source"};
  if (Result<void> checked = check_name(family, name); !checked.ok())
    return checked;
  auto hub = std::make_shared<DeviceHub>(
      RegisteredDevice{family, std::move(name), std::move(source)});
  Registry& all = registry();
  const std::scoped_lock lock(all.mutex);
  std::shared_ptr<DeviceHub>& place =
      all.hubs[static_cast<std::size_t>(family)];
  if (place != nullptr)
    return Error{ErrorCode::kBusy, "device source \"" + hub->device().name +
                                       "\": \"" + place->device().name +
                                       "\" is registered for " +
                                       name_of(family)};
  place = std::move(hub);
  return {};
}

bool unregister_device_source(DeviceFamily family) {
  const auto number = static_cast<std::size_t>(family);
  if (number >= kDeviceFamilies) return false;
  std::shared_ptr<DeviceHub> gone;  // the source may end outside the lock
  Registry& all = registry();
  const std::scoped_lock lock(all.mutex);
  gone.swap(all.hubs[number]);
  return gone != nullptr;
}

Result<RegisteredDevice> device_source(DeviceFamily family) {
  if (const std::shared_ptr<DeviceHub> hub = device_hub(family))
    return hub->device();
  return Error{ErrorCode::kUnavailable, std::string("no device source for ") +
                                            name_of(family) + " is registered"};
}

DeviceAbilities probe_device_source(DeviceFamily family) {
  if (const std::shared_ptr<DeviceHub> hub = device_hub(family))
    return hub->probe();
  DeviceAbilities nothing;
  nothing.reason = device_source(family).error().message;
  return nothing;
}

}  // namespace weft
