// SPDX-License-Identifier: Apache-2.0
#include "span_pairing.h"

#include <algorithm>
#include <tuple>
#include <type_traits>
#include <utility>

namespace weft::tools {
namespace {

using exporters::DecodedRecord;

std::uint64_t id_of(const PairedSpan& span) noexcept {
  return async_id(thread_of(span.line), span.position);
}

// The upper part of an async_id: thread and side.
LineKey line_of_id(std::uint64_t id) noexcept {
  return id >> kAsyncPositionBits;
}

LineKey line_of_loss(const Loss& loss) noexcept {
  return static_cast<std::uint64_t>(loss.thread) << 1 |
         ((loss.position & kSidePosition) != 0 ? 1 : 0);
}

}  // namespace

SpanPairing::SpanPairing(const exporters::TraceInfo& info, Requests& requests,
                         SpanSink& sink)
    : info_(info), requests_(requests), sink_(sink), losses_(info.losses) {
  std::sort(losses_.begin(), losses_.end(), [](const Loss& a, const Loss& b) {
    return std::tuple(line_of_loss(a), a.position) <
           std::tuple(line_of_loss(b), b.position);
  });
}

SpanPairing::Line& SpanPairing::line_for(LineKey key) {
  if (last_line_ != nullptr && key == last_key_) return *last_line_;
  const auto [found, is_new] = lines_.try_emplace(key);
  last_line_ = &found->second;
  last_key_ = key;
  if (is_new) {
    const auto [first, end] = std::equal_range(
        losses_.begin(), losses_.end(), key, [](const auto& a, const auto& b) {
          if constexpr (std::is_same_v<std::decay_t<decltype(a)>, Loss>)
            return line_of_loss(a) < b;
          else
            return a < line_of_loss(b);
        });
    last_line_->next_loss = losses_.data() + (first - losses_.begin());
    last_line_->losses_end = losses_.data() + (end - losses_.begin());
  }
  return *last_line_;
}

void SpanPairing::add(const DecodedRecord& record, std::int64_t ns) {
  Line& line = line_for(line_of(record));
  if (line.next_loss != line.losses_end) pass_losses(line, record.position);
  switch (record.kind) {
    case RecordKind::kSpanBegin: return begin(line, record, ns);
    case RecordKind::kSpanEnd: return end(line, record, ns);
    case RecordKind::kAsyncEnd:
      // Ends of asynchronous spans are AsyncPairing's.
      if (info_.site(record.site).kind == SiteKind::kSpan)
        end_elsewhere(record, ns);
      return;
    case RecordKind::kFailure: return fail(line, record);
    case RecordKind::kContext:
      line.request = requests_.number_of(record);
      return;
    default: return;
  }
}

void SpanPairing::pass_losses(Line& line, std::uint64_t position) {
  while (line.next_loss != line.losses_end &&
         line.next_loss->position <= position) {
    // Those further out learn of it when this one leaves the stack.
    if (!line.stack.empty()) line.stack.back().span.has_loss = true;
    ++line.next_loss;
  }
}

std::optional<std::size_t> SpanPairing::depth_of(const Line& line,
                                                std::uint64_t position) {
  const auto& stack = line.stack;
  if (!stack.empty() && stack.back().span.position == position)
    return stack.size() - 1;
  const auto frame = std::lower_bound(
      stack.begin(), stack.end(), position,
      [](const Frame& f, std::uint64_t p) { return f.span.position < p; });
  if (frame == stack.end() || frame->span.position != position)
    return std::nullopt;
  return static_cast<std::size_t>(frame - stack.begin());
}

void SpanPairing::begin(Line& line, const DecodedRecord& record,
                        std::int64_t ns) {
  PairedSpan span;
  span.line = line_of(record);
  span.position = record.position;
  span.site = record.site;
  span.name = record.name != StringId::kNone ? record.name
                                             : info_.site(record.site).name;
  span.request = line.request;
  span.begin_ns = ns;
  if ((record.flags & kFlagClipped) != 0) span.fate = SpanFate::kClipped;

  if (!early_ends_.empty()) {
    const auto early = early_ends_.find(id_of(span));
    if (early != early_ends_.end()) {
      const EarlyEnd end = early->second;
      early_ends_.erase(early);
      return report_not_nested(span, end.ns, end.flags);
    }
  }
  if (line.stack.size() >= kMaxDepth) {
    passed_over_[id_of(span)] = span;
    return;
  }
  line.stack.push_back({span, 0});
}

void SpanPairing::end(Line& line, const DecodedRecord& record,
                      std::int64_t ns) {
  if (const auto depth = depth_of(line, record.target)) {
    while (line.stack.size() > *depth + 1) {
      const PairedSpan above = remove(line, line.stack.size() - 1);
      passed_over_[id_of(above)] = above;
    }
    return end_top(line, record, ns);
  }

  if (record.target != exporters::kUnknownPosition) {
    const auto passed =
        passed_over_.find(async_id(record.thread, record.target));
    if (passed != passed_over_.end()) {
      const PairedSpan span = passed->second;
      passed_over_.erase(passed);
      return report_not_nested(span, ns, record.flags);
    }
  }
  PairedSpan span;
  span.line = line_of(record);
  span.position = record.target;
  span.end_position = record.position;
  span.site = record.site;
  span.name = info_.site(record.site).name;
  span.request = line.request;
  span.begin_ns = span.end_ns = ns;
  span.fate = SpanFate::kBeginLost;
  report(span);
}

void SpanPairing::end_top(Line& line, const DecodedRecord& record,
                          std::int64_t ns) {
  Frame& top = line.stack.back();
  if ((record.flags & kFlagClipped) != 0) top.span.fate = SpanFate::kClipped;
  top.span.end_ns = ns;
  top.span.end_position = record.position;
  if (top.span.fate == SpanFate::kClipped)
    return report(remove(line, line.stack.size() - 1));

  PairedSpan span = top.span;
  span.depth = line.stack.size() - 1;
  const std::uint64_t duration = span.duration_ns();
  span.self_ns = duration - top.inside_ns;
  line.stack.pop_back();
  if (line.stack.empty()) {
    line.root_ns += duration;
  } else {
    line.stack.back().inside_ns += duration;
    line.stack.back().span.has_loss |= span.has_loss;
  }
  report(span);
}

PairedSpan SpanPairing::remove(Line& line, std::size_t depth) {
  const Frame frame = line.stack[depth];
  line.stack.erase(line.stack.begin() + static_cast<std::ptrdiff_t>(depth));
  if (depth == 0) {
    line.root_ns += frame.inside_ns;
  } else {
    line.stack[depth - 1].inside_ns += frame.inside_ns;
    line.stack[depth - 1].span.has_loss |= frame.span.has_loss;
  }
  sink_.left_stack(frame.span.line, depth);
  return frame.span;
}

void SpanPairing::end_elsewhere(const DecodedRecord& record,
                                std::int64_t ns) {
  const std::uint64_t id = record.target;
  const auto begun = lines_.find(line_of_id(id));
  if (begun != lines_.end()) {
    Line& line = begun->second;
    for (std::size_t depth = line.stack.size(); depth-- > 0;)
      if (id_of(line.stack[depth].span) == id)
        return report_not_nested(remove(line, depth), ns, record.flags);
  }
  const auto passed = passed_over_.find(id);
  if (passed != passed_over_.end()) {
    const PairedSpan span = passed->second;
    passed_over_.erase(passed);
    return report_not_nested(span, ns, record.flags);
  }
  early_ends_[id] = {ns, record.flags, record.site,
                                line_of(record), record.position};
}

void SpanPairing::report_not_nested(PairedSpan span, std::int64_t end_ns,
                                    std::uint8_t flags) {
  // Clocks of two threads may differ by their error bounds.
  span.end_ns = std::max(span.begin_ns, end_ns);
  const bool is_clipped =
      span.fate == SpanFate::kClipped || (flags & kFlagClipped) != 0;
  span.fate = is_clipped ? SpanFate::kClipped : SpanFate::kNotNested;
  report(span);
}

void SpanPairing::fail(Line& line, const DecodedRecord& record) {
  const std::uint64_t id = span_of(record);
  Line* owner = &line;
  if ((record.flags & kFlagForeign) != 0) {
    const auto found = lines_.find(line_of_id(id));
    owner = found == lines_.end() ? nullptr : &found->second;
  }
  if (owner != nullptr) {
    for (auto frame = owner->stack.rbegin(); frame != owner->stack.rend();
         ++frame) {
      if (id_of(frame->span) != id) continue;
      frame->span.failed = true;
      return;
    }
  }
  const auto passed = passed_over_.find(id);
  if (passed != passed_over_.end()) passed->second.failed = true;
}

std::uint64_t SpanPairing::span_of(const DecodedRecord& late) noexcept {
  if ((late.flags & kFlagForeign) != 0) return late.target;
  return async_id(late.thread, late.target);
}

void SpanPairing::report(const PairedSpan& span) {
  if (span.fate == SpanFate::kComplete || span.fate == SpanFate::kNotNested)
    requests_.add_span(span.request, span.begin_ns, span.end_ns);
  sink_.span(span);
}

void SpanPairing::finish() {
  const auto report_open = [this](PairedSpan span) {
    span.end_ns = span.begin_ns;
    if (span.fate == SpanFate::kComplete) span.fate = SpanFate::kEndLost;
    report(span);
  };
  for (auto& [key, line] : lines_)
    while (!line.stack.empty())
      report_open(remove(line, line.stack.size() - 1));
  for (const auto& [key, span] : passed_over_) report_open(span);
  passed_over_.clear();
  for (const auto& [key, end] : early_ends_) {
    PairedSpan span;
    span.line = end.line;
    span.end_position = end.position;
    span.site = end.site;
    span.name = info_.site(end.site).name;
    span.begin_ns = span.end_ns = end.ns;
    span.fate = SpanFate::kBeginLost;
    report(span);
  }
  early_ends_.clear();
}

RequestNumber SpanPairing::request_of(LineKey line) const {
  const auto found = lines_.find(line);
  return found == lines_.end() ? 0 : found->second.request;
}

std::uint64_t SpanPairing::root_ns(LineKey line) const {
  const auto found = lines_.find(line);
  return found == lines_.end() ? 0 : found->second.root_ns;
}

}  // namespace weft::tools
