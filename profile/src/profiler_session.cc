// SPDX-License-Identifier: Apache-2.0
#include "profiler_session.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "call_stack.h"
#include "session_coverage.h"
#include "stopwatch.h"
#include "trace_categories.h"
#include "weft/span.h"

namespace weft {
namespace {

using profile::KeptRecords;
using profile::Stopwatch;

std::atomic<std::int64_t> default_node_id{-1};

}  // namespace

ProfilerSession::ProfilerSession(ProfilerOptions options)
    : given_(std::move(options)), validated_(validate(given_)) {
  options_ = validated_.ok() ? validated_->options : given_;
  if (validated_.ok()) warnings_ = validated_->warnings;
  trace_id_ = options_.trace_id;
}

ProfilerSession::~ProfilerSession() {
  if (running()) (void)stop();
}

Result<void> ProfilerSession::prepare() {
  if (!validated_.ok()) return validated_.error();
  if (!options_.enabled) return {};
  const Stopwatch watch(timing_.prepare_ns);
  return options_.with_stack ? profile::prepare_call_stacks() : Result<void>();
}

Result<void> ProfilerSession::start() {
  if (!validated_.ok()) return validated_.error();
  if (!options_.enabled) return {};
  if (running())
    return Error{ErrorCode::kBusy, "this profiler is recording already"};
  timing_ = {};
  options_ = validated_->options;
  warnings_ = validated_->warnings;
  std::vector<profile::PlannedDevice> devices;
  if (Result<void> planned = plan_devices(devices); !planned.ok())
    return planned;
  if (Result<void> prepared = prepare(); !prepared.ok()) return prepared;
  const Stopwatch watch(timing_.start_ns);
  auto shared = std::make_shared<profile::SharedSession>();
  shared->number = profile::next_session_number();
  shared->coverage = options_.coverage;
  shared->wants = profile::wants_for(options_);
  if (Result<void> claimed = profile::claim_coverage(shared); !claimed.ok())
    return claimed;
  shared_ = std::move(shared);
  std::vector<std::shared_ptr<KeptRecords>> earlier;
  {
    const std::scoped_lock lock(mutex_);
    earlier = std::exchange(intervals_, {});
  }
  Result<void> begun = begin_interval();
  // Devices after the host, whose records of launches are then there.
  if (begun.ok()) {
    begun = devices_.start(devices, options_, warnings_);
    if (!begun.ok()) (void)end_interval();
  }
  if (!begun.ok()) {
    profile::give_up_coverage(*shared_);
    const std::scoped_lock lock(mutex_);
    intervals_ = std::move(earlier);
    return begun;
  }
  if (given_.trace_id.empty())
    trace_id_ = std::to_string(getpid()) + "-" +
                std::to_string(shared_->number);
  const std::scoped_lock lock(mutex_);
  device_data_ = {};
  result_ = nullptr;
  finished_ = false;
  state_ = State::kRecording;
  return {};
}

// What was there when the options were looked at may be gone.
Result<void> ProfilerSession::plan_devices(
    std::vector<profile::PlannedDevice>& planned) {
  std::vector<std::string> warnings;
  auto devices = profile::plan_devices(options_, warnings);
  if (!devices.ok()) return devices.error();
  if (options_.activities.empty())
    return Error{ErrorCode::kUnavailable,
                 "no activity is left to profile: " + warnings.back()};
  planned = std::move(*devices);
  for (std::string& warning : warnings)
    if (std::find(warnings_.begin(), warnings_.end(), warning) ==
        warnings_.end())
      warnings_.push_back(std::move(warning));
  return {};
}

Result<void> ProfilerSession::begin_interval() {
  std::shared_ptr<KeptRecords> kept = KeptRecords::create(
      options_.max_host_bytes, options_.overflow,
      {options_.coverage, shared_->number});
  if (kept == nullptr)
    return Error{ErrorCode::kOutOfMemory,
                 "no address space for max_host_bytes = " +
                     std::to_string(options_.max_host_bytes)};
  SubscriptionOptions wanted;
  wanted.name = "profiler " + std::to_string(shared_->number);
  wanted.categories = profile::categories_for(options_);
  if (options_.overflow == Overflow::kDropOldest) {
    // The newest records lie in the pipeline until the end, and are then kept
    // with a header of two slots a run: at worst four times their size in all.
    wanted.limits.policy = LimitPolicy::kKeepNewest;
    wanted.limits.bytes = options_.max_host_bytes / 4;
  }
  if (shared_->wants.any()) observer_.emplace();
  Result<Subscription> subscribed = subscribe(std::move(wanted), kept);
  if (!subscribed.ok()) {
    observer_.reset();
    return subscribed.error();
  }
  if (options_.coverage != ThreadCoverage::kAllThreads) {
    const ThreadIndex owner = internal::thread_index();
    if (owner == ThreadIndex::kNone) {
      observer_.reset();
      (void)subscribed->stop();
      return Error{ErrorCode::kLimit,
                   "the thread that starts the session gets no ring"};
    }
    kept->cover(owner);
  }
  subscription_ = std::move(*subscribed);
  recording_ = std::move(kept);
  return {};
}

Result<void> ProfilerSession::end_interval() {
  observer_.reset();
  Result<SubscriptionEnd> end = subscription_.stop();
  if (!end.ok()) {
    recording_ = nullptr;
    return end.error();
  }
  const std::scoped_lock lock(mutex_);
  intervals_.push_back(std::move(recording_));
  return {};
}

Result<void> ProfilerSession::stop() {
  if (!options_.enabled && validated_.ok()) return {};
  if (!running())
    return Error{ErrorCode::kNotRunning, "this profiler is not recording"};
  const Stopwatch watch(timing_.stop_ns);
  Result<void> ended;
  devices_.stop();
  if (recording_ != nullptr) ended = end_interval();
  profile::give_up_coverage(*shared_);
  node_id_ = default_node_id.load(std::memory_order_relaxed);
  state_ = State::kIdle;
  const std::scoped_lock lock(mutex_);
  device_data_ = devices_.take();
  finished_ = true;
  return ended;
}

bool ProfilerSession::recording(Activity activity) const {
  return activity == Activity::kCpu ? recording_ != nullptr
                                    : devices_.recording(activity);
}

Result<bool> ProfilerSession::any(const std::set<Activity>& activities,
                                  bool recorded) const {
  if (state_ == State::kIdle)
    return Error{ErrorCode::kNotRunning, "this profiler is not recording"};
  bool found = false;
  for (const Activity activity : activities) {
    if (options_.activities.count(activity) == 0)
      return Error{ErrorCode::kInvalidArgument,
                   "activity " +
                       std::to_string(static_cast<unsigned>(activity)) +
                       " is not one of the session's"};
    found = found || recording(activity) == recorded;
  }
  return found;
}

// The records of launches come with the host's, also in a session that records
// nothing else of it.
bool ProfilerSession::host_follows() const {
  return options_.activities.count(Activity::kCpu) == 0;
}

bool ProfilerSession::any_device_recording() const {
  return std::any_of(
      options_.activities.begin(), options_.activities.end(),
      [&](Activity activity) { return devices_.recording(activity); });
}

void ProfilerSession::warn_of_one_side() {
  const bool devices = options_.activities.size() > 1;
  if (!devices || host_follows()) return;
  if (any_device_recording() == (recording_ != nullptr)) return;
  const std::string warning =
      "the host and its devices were not paused together: device work may "
      "belong to no call, and launches may have no work";
  if (std::find(warnings_.begin(), warnings_.end(), warning) ==
      warnings_.end())
    warnings_.push_back(warning);
}

Result<void> ProfilerSession::pause(const std::set<Activity>& activities) {
  const Result<bool> active = any(activities, true);
  if (!active.ok()) return active.error();
  if (!*active)
    return Error{ErrorCode::kBusy, "this profiler is paused already"};
  for (const Activity activity : activities)
    if (devices_.recording(activity)) devices_.pause(activity);
  Result<void> ended;
  const bool host = activities.count(Activity::kCpu) != 0 ||
                    (host_follows() && !any_device_recording());
  if (host && recording_ != nullptr) ended = end_interval();
  warn_of_one_side();
  return ended;
}

Result<void> ProfilerSession::resume(const std::set<Activity>& activities) {
  const Result<bool> paused = any(activities, false);
  if (!paused.ok()) return paused.error();
  if (!*paused) return Error{ErrorCode::kBusy, "this profiler is not paused"};
  const bool host = activities.count(Activity::kCpu) != 0 || host_follows();
  if (host && recording_ == nullptr)
    if (Result<void> begun = begin_interval(); !begun.ok()) return begun;
  for (const Activity activity : activities) {
    if (activity == Activity::kCpu || devices_.recording(activity)) continue;
    if (Result<void> resumed = devices_.resume(activity); !resumed.ok())
      return resumed;
  }
  warn_of_one_side();
  return {};
}

Result<void> ProfilerSession::add_metadata(std::string_view key,
                                           std::string json) {
  static constexpr std::string_view kReserved[] = {
      "schemaVersion", "displayTimeUnit", "traceEvents",    "trace_id",
      "host_name",     "record_shapes",   "profile_memory", "with_stack",
      "with_flops",    "with_modules"};
  if (key.empty() ||
      std::find(std::begin(kReserved), std::end(kReserved), key) !=
          std::end(kReserved))
    return Error{ErrorCode::kInvalidArgument,
                 "metadata key \"" + std::string(key) +
                     (key.empty() ? "\" is empty" : "\" is weft's own")};
  const std::scoped_lock lock(mutex_);
  const auto same =
      std::find_if(metadata_.begin(), metadata_.end(),
                   [&](const auto& pair) { return pair.first == key; });
  if (same != metadata_.end()) {
    same->second = std::move(json);
  } else {
    metadata_.emplace_back(key, std::move(json));
  }
  return {};
}

Result<void> set_default_node_id(std::int64_t node) {
  if (node < 0)
    return Error{ErrorCode::kInvalidArgument,
                 "node id " + std::to_string(node) + " is negative"};
  default_node_id.store(node, std::memory_order_relaxed);
  return {};
}

}  // namespace weft
