// SPDX-License-Identifier: Apache-2.0
#include "chrome_json_span_fates.h"

#include <algorithm>
#include <utility>

namespace weft::exporters {
namespace {

// An end waits for a begin of its own or an earlier drain pass only.
constexpr std::size_t kMaxEarlyEnds = 65'536;

bool is_side(std::uint64_t position) noexcept {
  return (position & kSidePosition) != 0;
}

}  // namespace

SpanFateFinder::Stack& SpanFateFinder::stack_of(ThreadIndex thread, bool side) {
  if (last_stack_ == nullptr || thread != last_thread_ || side != last_side_) {
    auto& stacks = side ? side_stacks_ : stacks_;
    last_stack_ = &stacks[static_cast<std::uint32_t>(thread)];
    last_thread_ = thread;
    last_side_ = side;
  }
  return *last_stack_;
}

void SpanFateFinder::add(const DecodedRecord& record) {
  switch (record.kind) {
    case RecordKind::kSpanBegin: return begin(record);
    case RecordKind::kSpanEnd: return end(record);
    case RecordKind::kAsyncEnd: return end_elsewhere(record);
    default: return;
  }
}

void SpanFateFinder::begin(const DecodedRecord& record) {
  if (!early_ends_.empty()) {
    const std::uint64_t id = async_id(record.thread, record.position);
    if (early_ends_.erase(id) != 0) return set(id, SpanFate::kAsync);
  }
  Stack& stack = stack_of(record.thread, is_side(record.position));
  if (stack.size() < kMaxOpenSpans) stack.push_back(record.position);
}

void SpanFateFinder::end(const DecodedRecord& record) {
  Stack& stack = stack_of(record.thread, is_side(record.position));
  if (!stack.empty() && stack.back() == record.target) return stack.pop_back();

  const auto found = std::lower_bound(stack.begin(), stack.end(), record.target);
  if (found != stack.end() && *found == record.target) {
    for (auto above = found + 1; above != stack.end(); ++above)
      if (passed_over_.size() < SpanFates::kMaxFates)
        passed_over_.insert(async_id(record.thread, *above));
    stack.erase(found, stack.end());
  } else {
    const std::uint64_t id = async_id(record.thread, record.target);
    if (passed_over_.erase(id) != 0) set(id, SpanFate::kAsync);
  }
}

void SpanFateFinder::end_elsewhere(const DecodedRecord& record) {
  if (info_.site(record.site).kind == SiteKind::kAsyncSpan) return;
  const std::uint64_t id = record.target;
  const SpanPlace span = place_of(id);
  Stack& stack = stack_of(span.thread, span.side);
  const auto found = std::lower_bound(
      stack.begin(), stack.end(), span.position,
      [](std::uint64_t a, std::uint64_t b) { return (a & kIdPositionMask) < b; });
  if (found != stack.end() && (*found & kIdPositionMask) == span.position) {
    stack.erase(found);
    set(id, SpanFate::kAsync);
  } else if (passed_over_.erase(id) != 0) {
    set(id, SpanFate::kAsync);
  } else if (early_ends_.insert(id).second) {
    early_order_.push_back(id);
    if (early_order_.size() > kMaxEarlyEnds) {
      early_ends_.erase(early_order_.front());
      early_order_.pop_front();
    }
  }
}

void SpanFateFinder::set(std::uint64_t id, SpanFate fate) {
  if (fates_.fates_.size() < SpanFates::kMaxFates) fates_.fates_[id] = fate;
}

SpanFates SpanFateFinder::finish() {
  const auto never = [this](const auto& stacks) {
    for (const auto& [thread, stack] : stacks)
      for (const std::uint64_t position : stack)
        set(async_id(static_cast<ThreadIndex>(thread), position),
            SpanFate::kNeverEnds);
  };
  never(stacks_);
  never(side_stacks_);
  for (const std::uint64_t id : passed_over_) set(id, SpanFate::kNeverEnds);
  return std::move(fates_);
}

}  // namespace weft::exporters
