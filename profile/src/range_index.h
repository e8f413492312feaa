// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_RANGE_INDEX_H_
#define WEFT_PROFILE_SRC_RANGE_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "weft/profile/function_event.h"

namespace weft::profile {

// Finds the range of a thread that something happened in. The events must have
// parents, and must outlive the index without moving.
class RangeIndex {
 public:
  explicit RangeIndex(const std::vector<FunctionEvent>& events);

  bool has_thread(std::int64_t thread) const {
    return ranges_.count(thread) != 0;
  }
  // The innermost range with start <= start_ns and end_ns <= end, or kNoEvent.
  std::size_t innermost(std::int64_t thread, std::int64_t start_ns,
                        std::int64_t end_ns) const;

 private:
  const std::vector<FunctionEvent>& events_;
  std::map<std::int64_t, std::vector<std::size_t>> ranges_;  // outer first
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_RANGE_INDEX_H_
