// SPDX-License-Identifier: Apache-2.0
#include "built_in_sources.h"

#include "cupti/cupti_source.h"
#include "device_hub.h"

namespace weft {

// Never destroyed: sessions end in destructors of other statics.
std::shared_ptr<DeviceHub> built_in_hub(DeviceFamily family) {
  if (family != DeviceFamily::kCuda) return nullptr;
  static const std::shared_ptr<DeviceHub>& hub =
      *new std::shared_ptr<DeviceHub>(
          std::make_shared<DeviceHub>(RegisteredDevice{
              DeviceFamily::kCuda, "cupti",
              std::make_shared<cupti::CuptiSource>(
                  cupti::options_from_environment(), cupti::system_linker())}));
  return hub;
}

}  // namespace weft
