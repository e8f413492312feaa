// SPDX-License-Identifier: Apache-2.0
#include "cupti/device_wait.h"

namespace weft::cupti {
namespace {

constexpr int kRelaxedCapture = 2;

// While one lives, calls of this thread do not break captures of others.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const DriverCalls& driver)
      : exchange_(driver.exchange_capture_mode) {
    if (exchange_ != nullptr) (void)exchange_(&mode_);
  }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;
  ~RelaxedCapture() {
    if (exchange_ != nullptr) (void)exchange_(&mode_);
  }

 private:
  int (*const exchange_)(int*);
  int mode_ = kRelaxedCapture;
};

void wait_for_device(const DriverCalls& driver, int device) {
  unsigned flags = 0;
  int active = 0;
  if (driver.primary_state(device, &flags, &active) != 0 || active == 0) return;
  void* context = nullptr;
  if (driver.primary_retain(&context, device) != 0) return;
  if (driver.push_context(context) == 0) {
    (void)driver.synchronize();
    (void)driver.pop_context(&context);
  }
  (void)driver.primary_release(device);
}

}  // namespace

int device_count(const DriverCalls& driver) {
  int count = 0;
  if (driver.device_count == nullptr || driver.device_count(&count) != 0)
    return -1;
  return count;
}

void wait_for_devices(const DriverCalls& driver) {
  if (driver.primary_state == nullptr || driver.primary_retain == nullptr ||
      driver.primary_release == nullptr || driver.push_context == nullptr ||
      driver.pop_context == nullptr || driver.synchronize == nullptr)
    return;
  const RelaxedCapture relaxed(driver);
  const int count = device_count(driver);
  for (int device = 0; device < count; ++device)
    wait_for_device(driver, device);
}

}  // namespace weft::cupti
