// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_OPEN_SPANS_H_
#define WEFT_SRC_OPEN_SPANS_H_

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "weft/record.h"

namespace weft {

// Which spans a subscription with a filter has begun to show, so that each end
// follows its begin whatever became of the filter in between.
//
// Until the first filter nothing is tracked, since everything is shown: all
// begins before track_from() count as shown. Memory grows with the spans that
// are open, and with threads that have some.
class OpenSpans {
 public:
  bool tracking() const noexcept { return tracking_; }
  void track() noexcept { tracking_ = true; }
  // Begins of `thread` before `position` were all shown. Side records, whose
  // positions have kSidePosition, are one stream of all threads.
  void track_from(ThreadIndex thread, std::uint64_t position);
  // Begins of `thread` before `position` came before the subscription.
  void see_from(ThreadIndex thread, std::uint64_t position);

  void begin(ThreadIndex thread, std::uint64_t position);
  void begin_async(ThreadIndex thread, std::uint64_t position, bool shown);

  // True when the begin, named by the low half of its position in a record at
  // `from`, was shown. end() also forgets it.
  bool shown(ThreadIndex thread, std::uint64_t from, std::uint32_t low) const;
  bool end(ThreadIndex thread, std::uint64_t from, std::uint32_t low);
  // True when the begin lies before the subscription.
  bool unseen(ThreadIndex thread, std::uint64_t from, std::uint32_t low) const;
  // The end of a span that is named by its async_id. Its begin may be on
  // another thread and come later than its end: it leaves nothing open then.
  enum class Begin { kShown, kHidden, kUnknown };
  Begin end(std::uint64_t id);

  // The thread has ended; what it left open may still end elsewhere.
  void forget(ThreadIndex thread);

 private:
  bool before_tracking(ThreadIndex thread, std::uint64_t position) const;
  bool before_tracking(std::uint64_t id) const;
  bool unseen(std::uint64_t id) const;

  bool tracking_ = false;
  std::uint64_t side_from_ = 0;
  std::unordered_map<ThreadIndex, std::uint64_t> from_;
  std::unordered_map<ThreadIndex, std::uint64_t> seen_from_;
  // By thread, innermost last: spans nest, so what ends is nearly always there.
  std::unordered_map<ThreadIndex, std::vector<std::uint64_t>> spans_;
  std::unordered_map<std::uint64_t, bool> async_;  // by id: shown
  std::unordered_set<std::uint64_t> early_ends_;    // ids: begin to come
};

}  // namespace weft

#endif  // WEFT_SRC_OPEN_SPANS_H_
