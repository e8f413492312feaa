// SPDX-License-Identifier: Apache-2.0
#include "cupti/cupti_source.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "cupti/callbacks.h"
#include "cupti/device_wait.h"
#include "weft/internal/gpu_state.h"

namespace weft::cupti {
namespace {

// CUDA says how many there are only when it is initialised, and that is left
// to the program. Ordinals are below this in any case.
constexpr std::uint32_t kMostDevices = 64;

constexpr std::size_t kFirstBuffers = 32;
constexpr std::size_t kFewestBuffers = 4;
// Of what a session allows, the part for CUPTI's buffers.
constexpr std::size_t kBuffersShare = 4;

constexpr const char* kFatal =
    "CUPTI stopped with a fatal error; what it reported until then is kept";

std::string variable(const char* name) {
  const char* value = secure_getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

CuptiOptions options_from_environment() {
  CuptiOptions options;
  options.names.cupti = variable("WEFT_CUPTI_LIBRARY");
  if (std::string driver = variable("WEFT_CUDA_LIBRARY"); !driver.empty())
    options.names.driver = std::move(driver);
  const std::string use = variable("WEFT_GPU");
  if (use == "off") {
    options.forbidden = "WEFT_GPU=off forbids it";
  } else if (use == "auto") {
    options.names.load_driver = false;
  } else if (!use.empty() && use != "on") {
    options.forbidden = "WEFT_GPU is \"" + use + "\", not off, auto or on";
  }
  return options;
}

CuptiSource::CuptiSource(CuptiOptions options, Linker linker)
    : options_(std::move(options)), linker_(std::move(linker)) {}

// The threads of a run that began before a fork are not in the child, so there
// the run can only be left as it is.
CuptiSource::~CuptiSource() {
  if (run_ == nullptr) return;
  if (in_forked_child()) {
    (void)run_.release();
    return;
  }
  stop();
}

bool CuptiSource::in_forked_child() const noexcept {
  return process_ != 0 && process_ != getpid();
}

std::string CuptiSource::describe() const {
  return libraries_->path + " (CUPTI " +
         std::to_string(libraries_->cupti_version) + "), driver for CUDA " +
         std::to_string(libraries_->driver_version / 1000) + '.' +
         std::to_string(libraries_->driver_version % 1000 / 10);
}

Result<void> CuptiSource::open() {
  if (libraries_) return {};
  if (!options_.forbidden.empty())
    return Error{ErrorCode::kUnavailable, options_.forbidden};
  Result<Libraries> opened = open_libraries(options_.names, linker_);
  if (!opened.ok()) return opened.error();
  libraries_ = std::move(*opened);
  cuda_was_there_ = device_count(libraries_->driver) >= 0;
  process_ = getpid();
  return {};
}

DeviceAbilities CuptiSource::probe() {
  DeviceAbilities abilities;
  abilities.clock = DeviceClock::kOwn;
  if (in_forked_child()) {
    abilities.reason = "CUDA does not work in a forked child of its process";
    return abilities;
  }
  if (Result<void> opened = open(); !opened.ok()) {
    abilities.reason = opened.error().message;
    internal::set_gpu_state("unavailable: " + abilities.reason);
    return abilities;
  }
  const int devices = device_count(libraries_->driver);
  abilities.devices =
      devices < 0 ? kMostDevices : static_cast<std::uint32_t>(devices);
  abilities.activities = devices != 0;
  if (devices == 0) {
    abilities.reason = "the NVIDIA driver has no device";
    internal::set_gpu_state("unavailable: " + abilities.reason);
    return abilities;
  }
  abilities.reason = policy_for(libraries_->cupti_version).reason;
  if (run_ == nullptr) {
    collect_late(libraries_->cupti);
    internal::set_gpu_state("open: " + describe());
  }
  return abilities;
}

Result<void> CuptiSource::start(const DeviceConfig& config,
                                std::shared_ptr<DeviceSink> sink) {
  if (in_forked_child() || run_ != nullptr)
    return Error{ErrorCode::kBusy, "CUPTI runs already, or did before a fork"};
  if (Result<void> opened = open(); !opened.ok()) return opened;
  Result<void> begun = begin(config, std::move(sink));
  internal::set_gpu_state(begun.ok() ? "running: " + describe()
                                     : "unavailable: " + begun.error().message);
  return begun;
}

Result<void> CuptiSource::begin(const DeviceConfig& config,
                                std::shared_ptr<DeviceSink> sink) {
  const VersionPolicy policy = policy_for(libraries_->cupti_version);
  const std::size_t most =
      std::min(BufferPool::kMostBuffers,
               config.memory_bytes / kBuffersShare / BufferPool::kBufferBytes);
  if (most < kFewestBuffers)
    return Error{ErrorCode::kInvalidArgument,
                 "memory for devices: " + std::to_string(config.memory_bytes) +
                     " bytes are below the " +
                     std::to_string(kFewestBuffers * BufferPool::kBufferBytes *
                                    kBuffersShare) +
                     " that CUPTI's buffers need"};
  if (!begin_callbacks(policy.may_refuse_buffers))
    return Error{ErrorCode::kBusy, "another source of CUPTI's runs"};
  Result<void> begun;
  auto run = std::make_unique<Run>(*libraries_);
  run->wait_for_device = config.wait_for_device;
  if (!buffer_pool().grow(std::min(most, kFirstBuffers))) {
    begun = Error{ErrorCode::kOutOfMemory, "no memory for CUPTI's buffers"};
  } else {
    begun = run->subscription.begin(
        config, policy.timestamp == TimestampUse::kAlways ||
                    (policy.timestamp == TimestampUse::kBeforeContexts &&
                     !cuda_was_there_));
  }
  if (!begun.ok()) {
    end_callbacks();
    return begun;
  }
  try {
    run->collector = std::make_unique<Collector>(
        Collector::Plan{*libraries_, run->subscription.stamps_are_ours(), most,
                        buffer_pool().run(), std::move(sink)});
    run->collector->start();
  } catch (const std::system_error& error) {
    run->subscription.end();
    end_callbacks();
    return Error{ErrorCode::kThreadFailed,
                 std::string("no thread for CUPTI: ") + error.what()};
  }
  run_ = std::move(run);
  return {};
}

void CuptiSource::flush() {
  if (run_ == nullptr || in_forked_child()) return;
  if (run_->wait_for_device && !saw_fatal_error())
    wait_for_devices(libraries_->driver);
  run_->collector->flush();
  if (saw_fatal_error()) throw std::runtime_error(kFatal);
}

void CuptiSource::stop() {
  if (run_ == nullptr || in_forked_child()) return;
  stop_recording_launches();
  if (saw_fatal_error()) {
    run_->subscription.abandon();
    run_->collector->join();
    run_->collector->take_the_rest();
    internal::set_gpu_state(std::string("lost: ") + kFatal);
  } else {
    run_->subscription.stop_launches();
    run_->collector->join();
    run_->collector->take_the_rest();
    run_->subscription.end();
    internal::set_gpu_state("open: " + describe());
  }
  run_ = nullptr;
  end_callbacks();
}

}  // namespace weft::cupti
