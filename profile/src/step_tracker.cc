// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/step_tracker.h"

#include <algorithm>

namespace weft {

void StepTracker::init(const std::string& requester) {
  const std::lock_guard lock(mutex_);
  counts_[requester] = current_;
}

bool StepTracker::erase(const std::string& requester) {
  const std::lock_guard lock(mutex_);
  return counts_.erase(requester) != 0;
}

StepTracker::Step StepTracker::increment(const std::string& requester) {
  const std::lock_guard lock(mutex_);
  ++counts_.emplace(requester, current_).first->second;
  std::int64_t largest = current_;
  for (const auto& [name, count] : counts_) largest = std::max(largest, count);
  const std::int64_t grown = largest - current_;
  current_ = largest;
  return {current_, static_cast<std::uint64_t>(grown), grown > 1};
}

std::int64_t StepTracker::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

}  // namespace weft
