// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_CONCURRENT_COMMANDS_H_
#define WEFT_SRC_CONCURRENT_COMMANDS_H_

#include <concurrentqueue/concurrentqueue.h>

#include <chrono>
#include <memory>

#include "category_filter.h"
#include "pipeline.h"

namespace weft {

// What control calls ask of the drainer. A queue, so that the drainer never
// meets a lock that a control call holds.
struct Command {
  enum class Kind { kAdd, kStop, kPause, kResume, kFilter, kSnapshot, kRemove };
  Kind kind = Kind::kAdd;
  std::shared_ptr<SubscriptionState> subscription;
  std::shared_ptr<Completion> done;  // null: nobody waits for the obedience
  Ticks not_before = 0;              // of kStop
  CategoryFilter filter;             // of kFilter
  SnapshotOrder snapshot;            // of kSnapshot; its times are set when due
  std::chrono::nanoseconds before{0};
  std::chrono::nanoseconds after{0};
};
using CommandQueue = moodycamel::ConcurrentQueue<Command>;

}  // namespace weft

#endif  // WEFT_SRC_CONCURRENT_COMMANDS_H_
