// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_OPEN_SPANS_H_
#define WEFT_SRC_OPEN_SPANS_H_

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "weft/record.h"

namespace weft {

// The youngest position before `from`, in the same stream, with these low bits.
inline std::uint64_t position_before(std::uint64_t from, std::uint32_t low) noexcept {
  return from -
         static_cast<std::uint32_t>(static_cast<std::uint32_t>(from) - low);
}

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
  bool shown(ThreadIndex thread, std::uint64_t from, std::uint32_t low);
  bool end(ThreadIndex thread, std::uint64_t from, std::uint32_t low);
  // True when the begin lies before the subscription.
  bool unseen(ThreadIndex thread, std::uint64_t from, std::uint32_t low);
  // The end of a span that is named by its async_id. Its begin may be on
  // another thread and come later than its end: it leaves nothing open then.
  enum class Begin { kShown, kHidden, kUnknown };
  Begin end(std::uint64_t id);

  // The thread has ended; what it left open may still end elsewhere.
  void forget(ThreadIndex thread);

 private:
  // Of one thread.
  struct Line {
    std::uint64_t tracked_from = 0;
    std::uint64_t seen_from = 0;
    // Innermost last: spans nest, so what ends is nearly always there.
    std::vector<std::uint64_t> shown;
  };

  Line& line(ThreadIndex thread);
  const Line* find(ThreadIndex thread) const;
  bool before_tracking(const Line& line, std::uint64_t position) const;
  bool before_tracking(std::uint64_t id) const;
  bool unseen(std::uint64_t id) const;

  bool tracking_ = false;
  std::uint64_t side_from_ = 0;
  std::unordered_map<ThreadIndex, Line> lines_;
  // The one that was asked for last: runs are long, and of one thread.
  ThreadIndex recent_thread_ = ThreadIndex::kNone;
  Line* recent_ = nullptr;
  std::unordered_map<std::uint64_t, bool> async_;  // by id: shown
  std::unordered_set<std::uint64_t> early_ends_;    // ids: begin to come
};

// Inline: what nearly every record needs.

inline OpenSpans::Line& OpenSpans::line(ThreadIndex thread) {
  if (recent_ == nullptr || thread != recent_thread_) {
    recent_ = &lines_[thread];  // its address stays while others come and go
    recent_thread_ = thread;
  }
  return *recent_;
}

inline bool OpenSpans::before_tracking(const Line& line,
                                std::uint64_t position) const {
  return position < ((position & kSidePosition) != 0 ? side_from_
                                                     : line.tracked_from);
}

inline void OpenSpans::begin(ThreadIndex thread, std::uint64_t position) {
  if (!early_ends_.empty() && early_ends_.erase(async_id(thread, position)) != 0)
    return;
  line(thread).shown.push_back(position);
}

inline bool OpenSpans::end(ThreadIndex thread, std::uint64_t from,
                    std::uint32_t low) {
  Line& spans = line(thread);
  const std::uint64_t position = position_before(from, low);
  if (before_tracking(spans, position)) return true;
  if (!spans.shown.empty() && spans.shown.back() == position) {
    spans.shown.pop_back();
    return true;
  }
  const auto span =
      std::find(spans.shown.rbegin(), spans.shown.rend(), position);
  if (span == spans.shown.rend()) return false;
  spans.shown.erase(std::next(span).base());
  return true;
}

}  // namespace weft

#endif  // WEFT_SRC_OPEN_SPANS_H_
