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

// The youngest position before `from`, in the same stream, with these low bits.
std::uint64_t position_before(std::uint64_t from, std::uint32_t low) noexcept {
  return from -
         static_cast<std::uint32_t>(static_cast<std::uint32_t>(from) - low);
}

}  // namespace

void OpenSpans::track_from(ThreadIndex thread, std::uint64_t position) {
  if ((position & kSidePosition) != 0) {
    side_from_ = position;
  } else {
    from_[thread] = position;
  }
}

void OpenSpans::see_from(ThreadIndex thread, std::uint64_t position) {
  seen_from_[thread] = position;
}

bool OpenSpans::before_tracking(ThreadIndex thread,
                                std::uint64_t position) const {
  if ((position & kSidePosition) != 0) return position < side_from_;
  const auto found = from_.find(thread);
  return found != from_.end() && position < found->second;
}

void OpenSpans::begin(ThreadIndex thread, std::uint64_t position) {
  if (!early_ends_.empty() && early_ends_.erase(async_id(thread, position)) != 0)
    return;
  spans_[thread].push_back(position);
}

void OpenSpans::begin_async(ThreadIndex thread, std::uint64_t position,
                            bool shown) {
  const std::uint64_t id = async_id(thread, position);
  if (!early_ends_.empty() && early_ends_.erase(id) != 0) return;
  async_.emplace(id, shown);
}

bool OpenSpans::shown(ThreadIndex thread, std::uint64_t from,
                      std::uint32_t low) const {
  const std::uint64_t position = position_before(from, low);
  if (before_tracking(thread, position)) return true;
  const auto found = spans_.find(thread);
  return found != spans_.end() &&
         std::find(found->second.rbegin(), found->second.rend(), position) !=
             found->second.rend();
}

bool OpenSpans::end(ThreadIndex thread, std::uint64_t from,
                    std::uint32_t low) {
  const std::uint64_t position = position_before(from, low);
  if (before_tracking(thread, position)) return true;
  const auto found = spans_.find(thread);
  if (found == spans_.end()) return false;
  std::vector<std::uint64_t>& open = found->second;
  const auto span = std::find(open.rbegin(), open.rend(), position);
  if (span == open.rend()) return false;
  open.erase(std::next(span).base());
  return true;
}

bool OpenSpans::unseen(ThreadIndex thread, std::uint64_t from,
                       std::uint32_t low) const {
  const auto found = seen_from_.find(thread);
  return found != seen_from_.end() && (from & kSidePosition) == 0 &&
         position_before(from, low) < found->second;
}

OpenSpans::Begin OpenSpans::end(std::uint64_t id) {
  if (const auto found = async_.find(id); found != async_.end()) {
    const bool shown = found->second;
    async_.erase(found);
    return shown ? Begin::kShown : Begin::kHidden;
  }
  const ThreadIndex thread = thread_of(id);
  if (const auto found = spans_.find(thread); found != spans_.end()) {
    std::vector<std::uint64_t>& open = found->second;
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
  const auto found = from_.find(thread_of(id));
  return found != from_.end() && lies_before(id, found->second);
}

bool OpenSpans::unseen(std::uint64_t id) const {
  const auto found = seen_from_.find(thread_of(id));
  return found != seen_from_.end() && lies_before(id, found->second);
}

void OpenSpans::forget(ThreadIndex thread) {
  const auto found = spans_.find(thread);
  if (found != spans_.end() && found->second.empty()) spans_.erase(found);
  seen_from_.erase(thread);
}

}  // namespace weft
