// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_OPEN_RANGES_H_
#define WEFT_PROFILE_SRC_OPEN_RANGES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "weft/profile/function_event.h"

namespace weft::profile {

// Follows the threads of a list through time, keeping the ranges that are open.
// Asynchronous rows and instants are none.
class OpenRanges {
 public:
  // `events` must outlive this.
  explicit OpenRanges(const std::vector<FunctionEvent>& events);

  // The innermost range of the thread with start <= at < end; kNoEvent: none.
  // Times of one thread must not go back.
  std::size_t innermost(std::int64_t thread, std::int64_t at_ns);

 private:
  struct Thread {
    std::vector<std::size_t> ranges;  // outer before inner
    std::size_t next = 0;
    std::vector<std::size_t> open;
  };

  const std::vector<FunctionEvent>& events_;
  std::map<std::int64_t, Thread> threads_;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_OPEN_RANGES_H_
