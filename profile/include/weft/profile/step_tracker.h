// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_STEP_TRACKER_H_
#define WEFT_PROFILE_STEP_TRACKER_H_

// One step count out of several callers' counts, say of a training loop and of
// its optimizer: the step is the largest of them.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace weft {

// Thread-safe. Cold.
class StepTracker {
 public:
  struct Step {
    std::int64_t current;   // after the call
    std::uint64_t signals;  // by how much it grew; the tracer gets one each
    bool jumped;            // by more than one, which no single caller does
  };

  // A requester begins level with the current step.
  void init(const std::string& requester);
  // False if it was not known. The current step stays.
  bool erase(const std::string& requester);
  Step increment(const std::string& requester);
  // -1 before the first step.
  std::int64_t current() const;

 private:
  mutable std::mutex mutex_;
  std::int64_t current_ = -1;
  std::map<std::string, std::int64_t> counts_;
};

}  // namespace weft

#endif  // WEFT_PROFILE_STEP_TRACKER_H_
