// SPDX-License-Identifier: Apache-2.0
#include "cupti/subscription.h"

#include "cupti/callbacks.h"
#include "cupti/refusal.h"

namespace weft::cupti {
namespace {

Error unavailable(const char* what, int code) {
  return Error{ErrorCode::kUnavailable,
               std::string(what) + ": " + words_for(code)};
}

std::vector<Kind> wanted_kinds(const DeviceConfig& config) {
  std::vector<Kind> kinds = {Kind::kContext,         Kind::kOverhead,
                             Kind::kSynchronization, Kind::kMemset,
                             Kind::kMemcpy,          Kind::kMemcpyPeer};
  if (config.api_calls) {
    kinds.push_back(Kind::kRuntime);
    kinds.push_back(Kind::kDriver);
  }
  if (config.whole_graphs) kinds.push_back(Kind::kGraphTrace);
  // Last, so that no kernel has a record before the other kinds do.
  kinds.push_back(Kind::kConcurrentKernel);
  return kinds;
}

}  // namespace

Subscription::Subscription(const Libraries& libraries)
    : calls_(libraries.cupti), policy_(policy_for(libraries.cupti_version)) {}

Result<void> Subscription::begin(const DeviceConfig& config,
                                 bool own_timestamps) {
  if (const int code = calls_.subscribe(&subscriber_, &on_callback, nullptr);
      code != kSuccess) {
    subscriber_ = nullptr;
    return unavailable("CUPTI cannot be subscribed to", code);
  }
  Result<void> enabled = enable_all(config, own_timestamps);
  if (!enabled.ok()) end();
  return enabled;
}

Result<void> Subscription::enable_all(const DeviceConfig& config,
                                      bool own_timestamps) {
  // Without it fatal errors are not heard of, and that is all.
  (void)calls_.enable_domain(1, subscriber_,
                             static_cast<std::uint32_t>(Domain::kState));
  if (calls_.set_thread_id_type != nullptr)
    (void)calls_.set_thread_id_type(kThreadIdSystem);
  if (calls_.set_attribute != nullptr) {
    std::uint8_t yes = 1;
    std::size_t bytes = sizeof(yes);
    // Otherwise CUPTI clears each buffer on the program's thread.
    (void)calls_.set_attribute(kAttributeZeroedBuffer, &bytes, &yes);
  }
  if (const int code =
          calls_.register_buffers(&on_buffer_request, &on_buffer_complete);
      code != kSuccess)
    return unavailable("CUPTI takes no buffers", code);
  stamps_are_ours_ = own_timestamps && calls_.register_timestamp != nullptr &&
                     calls_.register_timestamp(&host_timestamp) == kSuccess;
  if (Result<void> launches = enable_launches(); !launches.ok())
    return launches;
  return enable_kinds(config);
}

Result<void> Subscription::enable_launches() {
  int code = kSuccess;
  for (const LaunchCall& launch : launch_calls(calls_)) {
    const int one = calls_.enable_callback(
        1, subscriber_, static_cast<std::uint32_t>(launch.domain), launch.call);
    if (one == kSuccess) {
      launches_.push_back(launch);
    } else {
      code = one;
    }
  }
  // One call that is not to be had costs the links of its launches, and those
  // are counted; none at all is no tracing.
  if (launches_.empty()) return unavailable("CUPTI reports no launches", code);
  return {};
}

Result<void> Subscription::enable_kinds(const DeviceConfig& config) {
  for (const Kind kind : wanted_kinds(config)) {
    const auto number = static_cast<std::uint32_t>(kind);
    const int code = calls_.enable(number);
    if (code == kSuccess) {
      kinds_.push_back(number);
    } else if (kind == Kind::kConcurrentKernel) {
      return unavailable("CUPTI reports no kernels", code);
    } else {
      missing_.push_back(number);
    }
  }
  return {};
}

void Subscription::stop_launches() {
  for (; !launches_.empty(); launches_.pop_back())
    (void)calls_.enable_callback(
        0, subscriber_, static_cast<std::uint32_t>(launches_.back().domain),
        launches_.back().call);
}

void Subscription::stop_kinds() {
  for (; !kinds_.empty(); kinds_.pop_back()) {
    const bool kernels =
        kinds_.back() == static_cast<std::uint32_t>(Kind::kConcurrentKernel);
    if (!kernels || policy_.may_disable_kernels)
      (void)calls_.disable(kinds_.back());
  }
}

void Subscription::end() {
  if (subscriber_ == nullptr) return;
  stop_launches();
  stop_kinds();
  (void)calls_.enable_domain(0, subscriber_,
                             static_cast<std::uint32_t>(Domain::kState));
  (void)calls_.unsubscribe(subscriber_);
  subscriber_ = nullptr;
}

void Subscription::abandon() noexcept {
  launches_.clear();
  kinds_.clear();
  subscriber_ = nullptr;
}

}  // namespace weft::cupti
