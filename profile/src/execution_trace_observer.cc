// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/execution_trace_observer.h"

#include <mutex>
#include <utility>

#include "execution_trace_recorder.h"

namespace weft {
namespace {

constexpr std::size_t kMinMemory = std::size_t{64} << 10;
constexpr std::size_t kMaxMemory = std::size_t{64} << 30;

// The one that is registered. A forked child's copy of it is none.
std::mutex registered_mutex;
std::weak_ptr<ExecutionTraceRecorder>& registered() {
  static auto& only = *new std::weak_ptr<ExecutionTraceRecorder>;
  return only;
}

}  // namespace

ExecutionTraceObserver::ExecutionTraceObserver() noexcept = default;

ExecutionTraceObserver::~ExecutionTraceObserver() {
  (void)unregister_callback();
}

Result<void> ExecutionTraceObserver::register_callback(
    const std::string& path, const ExecutionTraceOptions& options) {
  const auto busy = [&](const ExecutionTraceRecorder& other) {
    return Error{ErrorCode::kBusy, "cannot write the execution graph to " +
                                       path + ": one is being written to " +
                                       other.path()};
  };
  if (recorder_ != nullptr) {
    if (recorder_->path() == path) return {};
    return busy(*recorder_);
  }
  if (options.memory_bytes < kMinMemory || options.memory_bytes > kMaxMemory)
    return Error{ErrorCode::kInvalidArgument,
                 "memory_bytes " + std::to_string(options.memory_bytes) +
                     " is not in [" + std::to_string(kMinMemory) + ", " +
                     std::to_string(kMaxMemory) + "]"};
  const std::scoped_lock lock(registered_mutex);
  if (const auto other = registered().lock();
      other != nullptr && other->of_this_process())
    return busy(*other);
  auto recorder =
      std::make_shared<ExecutionTraceRecorder>(path, options.memory_bytes);
  if (Result<void> opened = recorder->open(); !opened.ok()) return opened;
  registered() = recorder;
  recorder_ = std::move(recorder);
  last_ = {};
  return {};
}

Result<void> ExecutionTraceObserver::unregister_callback() {
  if (recorder_ == nullptr) return {};
  stop();
  Result<void> finished;
  if (recorder_->of_this_process()) finished = recorder_->finish();
  last_ = recorder_->statistics();
  const std::scoped_lock lock(registered_mutex);
  // Open calls may hold the recorder for as long as they like.
  if (registered().lock() == recorder_) registered().reset();
  recorder_ = nullptr;
  return finished;
}

Result<void> ExecutionTraceObserver::start() {
  if (recorder_ == nullptr)
    return Error{ErrorCode::kNotRunning,
                 "the observer has no file: register_callback() comes first"};
  if (is_running()) return {};
  Result<CallbackHandle> added = add_global_callback(recorder_->callback());
  if (!added.ok()) return added.error();
  callback_ = static_cast<std::uint64_t>(*added);
  return {};
}

void ExecutionTraceObserver::stop() {
  if (!is_running()) return;
  remove_callback(
      static_cast<CallbackHandle>(std::exchange(callback_, std::uint64_t{0})));
}

Result<std::string> ExecutionTraceObserver::get_output_file_path() const {
  if (recorder_ == nullptr)
    return Error{ErrorCode::kNotRunning,
                 "the observer has no file: register_callback() comes first"};
  return recorder_->path();
}

ExecutionTraceStatistics ExecutionTraceObserver::statistics() const {
  return recorder_ == nullptr ? last_ : recorder_->statistics();
}

}  // namespace weft
