// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_CUPTI_SUBSCRIPTION_H_
#define WEFT_GPU_CUPTI_SUBSCRIPTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cupti/launch_calls.h"
#include "cupti/library.h"
#include "cupti/versions.h"
#include "weft/gpu/device_source.h"
#include "weft/result.h"

namespace weft::cupti {

// All that is switched on in CUPTI for weft, and off again in reverse order.
// One thread at a time. Cold.
class Subscription {
 public:
  explicit Subscription(const Libraries& libraries);
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;
  ~Subscription() { end(); }

  // `own_timestamps`: weft may stamp the host's side. The callbacks must be
  // ready. Errors: kUnavailable, in words; nothing is switched on then.
  Result<void> begin(const DeviceConfig& config, bool own_timestamps);
  void stop_launches();
  void stop_kinds();
  void end();
  // Makes no more calls: CUPTI is broken.
  void abandon() noexcept;

  bool stamps_are_ours() const noexcept { return stamps_are_ours_; }
  // Kinds of records that this CUPTI or device does not have.
  const std::vector<std::uint32_t>& missing() const noexcept {
    return missing_;
  }

 private:
  Result<void> enable_all(const DeviceConfig& config, bool own_timestamps);
  Result<void> enable_launches();
  Result<void> enable_kinds(const DeviceConfig& config);

  const CuptiCalls calls_;
  const VersionPolicy policy_;
  void* subscriber_ = nullptr;
  bool stamps_are_ours_ = false;
  std::vector<LaunchCall> launches_;
  std::vector<std::uint32_t> kinds_;
  std::vector<std::uint32_t> missing_;
};

}  // namespace weft::cupti

#endif  // WEFT_GPU_CUPTI_SUBSCRIPTION_H_
