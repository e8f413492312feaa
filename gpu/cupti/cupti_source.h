// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_CUPTI_CUPTI_SOURCE_H_
#define WEFT_GPU_CUPTI_CUPTI_SOURCE_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "cupti/collector.h"
#include "cupti/library.h"
#include "cupti/subscription.h"
#include "weft/gpu/device_source.h"

namespace weft::cupti {

struct CuptiOptions {
  LibraryNames names;
  // Why it may not be used at all, in words; empty: it may.
  std::string forbidden{};
};

// What WEFT_GPU, WEFT_CUPTI_LIBRARY and WEFT_CUDA_LIBRARY say. They are ignored
// under AT_SECURE. Cold.
CuptiOptions options_from_environment();

// NVIDIA's devices, by way of CUPTI.
//
// Nothing is opened before somebody asks what the source can do, and nothing is
// subscribed to before a session starts: CUPTI has room for one subscriber, and
// weft gives it up with the last session. CUDA itself is never initialised.
class CuptiSource final : public DeviceSource {
 public:
  CuptiSource(CuptiOptions options, Linker linker);
  CuptiSource(const CuptiSource&) = delete;
  CuptiSource& operator=(const CuptiSource&) = delete;
  ~CuptiSource() override;

  DeviceAbilities probe() override;
  // Errors: kUnavailable      what is missing, or who is in the way
  //         kBusy             another source of this kind runs
  //         kInvalidArgument  too little memory for the buffers
  Result<void> start(const DeviceConfig& config,
                     std::shared_ptr<DeviceSink> sink) override;
  // Throws when CUPTI has died; what it gave before is kept.
  void flush() override;
  void stop() override;

 private:
  struct Run {
    Run(const Libraries& libraries) : subscription(libraries) {}
    Subscription subscription;
    std::unique_ptr<Collector> collector;
    bool wait_for_device = true;
  };

  Result<void> open();
  Result<void> begin(const DeviceConfig& config,
                     std::shared_ptr<DeviceSink> sink);
  bool in_forked_child() const noexcept;
  std::string describe() const;

  const CuptiOptions options_;
  const Linker linker_;
  std::optional<Libraries> libraries_;
  bool cuda_was_there_ = false;  // when CUPTI was opened
  pid_t process_ = 0;            // that opened it
  std::unique_ptr<Run> run_;
};

}  // namespace weft::cupti

#endif  // WEFT_GPU_CUPTI_CUPTI_SOURCE_H_
