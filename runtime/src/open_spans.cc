// SPDX-License-Identifier: Apache-2.0
#include "open_spans.h"

#include <algorithm>

namespace weft {
namespace {

constexpr std::uint64_t kAsyncMask =
    (std::uint64_t{1} << kAsyncPositionBits) - 1;

ThreadIndex thread_of(std::uint64_t id) noexcept {
  return static_cast<ThreadIndex>(id >> (kAsyncPositionBits + 1));
}

bool is_side(std::uint64_t id) noexcept {
  return (id >> kAsyncPositionBits & 1) != 0;
}

// An id has only the low bits of its position: the nearest one is meant.
bool lies_before(std::uint64_t id, std::uint64_t position) noexcept {
  return position != 0 && ((position - 1 - id) & kAsyncMask) <= kAsyncMask / 2;
}

}  // namespace

const OpenSpans::Line* OpenSpans::find(ThreadIndex thread) const {
  const auto found = lines_.find(thread);
  return found != lines_.end() ? &found->second : nullptr;
}

void OpenSpans::track_from(ThreadIndex thread, std::uint64_t position) {
  if ((position & kSidePosition) != 0) {
    side_from_ = position;
  } else {
    line(thread).tracked_from = position;
  }
}

void OpenSpans::see_from(ThreadIndex thread, std::uint64_t position) {
  line(thread).seen_from = position;
}

void OpenSpans::begin_async(ThreadIndex thread, std::uint64_t position,
                            bool shown) {
  const std::uint64_t id = async_id(thread, position);
  if (!early_ends_.empty() && early_ends_.erase(id) != 0) return;
  async_.emplace(id, shown);
}

bool OpenSpans::shown(ThreadIndex thread, std::uint64_t from,
                      std::uint32_t low) {
  const Line& spans = line(thread);
  const std::uint64_t position = position_before(from, low);
  return before_tracking(spans, position) ||
         std::find(spans.shown.rbegin(), spans.shown.rend(), position) !=
             spans.shown.rend();
}

bool OpenSpans::unseen(ThreadIndex thread, std::uint64_t from,
                       std::uint32_t low) {
  return (from & kSidePosition) == 0 &&
         position_before(from, low) < line(thread).seen_from;
}

OpenSpans::Begin OpenSpans::end(std::uint64_t id) {
  if (const auto found = async_.find(id); found != async_.end()) {
    const bool shown = found->second;
    async_.erase(found);
    return shown ? Begin::kShown : Begin::kHidden;
  }
  const ThreadIndex thread = thread_of(id);
  if (const auto found = lines_.find(thread); found != lines_.end()) {
    std::vector<std::uint64_t>& open = found->second.shown;
    const auto span = std::find_if(
        open.begin(), open.end(),
        [&](std::uint64_t position) { return async_id(thread, position) == id; });
    if (span != open.end()) {
      open.erase(span);
      return Begin::kShown;
    }
  }
  if (before_tracking(id)) return Begin::kShown;
  if (!is_side(id) && !unseen(id)) early_ends_.insert(id);
  return Begin::kUnknown;
}

bool OpenSpans::before_tracking(std::uint64_t id) const {
  if (is_side(id)) return lies_before(id, side_from_);
  const Line* const spans = find(thread_of(id));
  return spans != nullptr && lies_before(id, spans->tracked_from);
}

bool OpenSpans::unseen(std::uint64_t id) const {
  const Line* const spans = find(thread_of(id));
  return spans != nullptr && lies_before(id, spans->seen_from);
}

void OpenSpans::forget(ThreadIndex thread) {
  const auto found = lines_.find(thread);
  if (found == lines_.end()) return;
  found->second.seen_from = 0;
  if (!found->second.shown.empty() || found->second.tracked_from != 0) return;
  if (recent_ == &found->second) recent_ = nullptr;
  lines_.erase(found);
}

}  // namespace weft
