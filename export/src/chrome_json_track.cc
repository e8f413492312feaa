// SPDX-License-Identifier: Apache-2.0
#include "chrome_json_track.h"

#include <algorithm>

namespace weft::exporters {

// A popped entry that grew beyond this gives its memory back.
constexpr std::size_t kKeptMemberBytes = 4096;

OpenSpan& SpanStack::push() {
  if (depth_ == spans_.size()) spans_.emplace_back();
  return spans_[depth_++];
}

void SpanStack::pop() {
  OpenSpan& span = spans_[--depth_];
  std::string members = std::move(span.members);
  members.clear();
  if (members.capacity() > kKeptMemberBytes) members = std::string();
  span = OpenSpan();
  span.members = std::move(members);
}

std::size_t SpanStack::find(std::uint64_t position) const noexcept {
  const auto end = spans_.begin() + static_cast<std::ptrdiff_t>(depth_);
  const auto found = std::lower_bound(
      spans_.begin(), end, position,
      [](const OpenSpan& span, std::uint64_t p) { return span.position < p; });
  if (found == end || found->position != position) return npos;
  return static_cast<std::size_t>(found - spans_.begin());
}

}  // namespace weft::exporters
