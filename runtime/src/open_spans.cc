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
  spans_[thread].push_back(position);
}

void OpenSpans::begin_async(ThreadIndex thread, std::uint64_t position,
                            bool shown) {
  async_.emplace(async_id(thread, position), shown);
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
  return before_tracking(id) ? Begin::kShown : Begin::kUnknown;
}

// An id has only the low bits of its position: the nearest one is meant.
bool OpenSpans::before_tracking(std::uint64_t id) const {
  const bool side = (id >> kAsyncPositionBits & 1) != 0;
  const auto found = from_.find(thread_of(id));
  const std::uint64_t from = side                    ? side_from_
                             : found != from_.end() ? found->second
                                                     : 0;
  return from != 0 && ((from - 1 - id) & kAsyncMask) <= kAsyncMask / 2;
}

void OpenSpans::forget(ThreadIndex thread) {
  const auto found = spans_.find(thread);
  if (found != spans_.end() && found->second.empty()) spans_.erase(found);
  seen_from_.erase(thread);
}

}  // namespace weft
