// SPDX-License-Identifier: Apache-2.0
// The part of ChromeJsonWriter that keeps the stacks of threads.
#include <algorithm>
#include <string>
#include <utility>

#include "chrome_json_document.h"
#include "chrome_json_writer.h"
#include "json_text.h"

namespace weft::exporters {
namespace {

// What of `members` follows after the first `written` bytes, as an object's
// members of its own.
std::string_view rest_of(std::string_view members, std::size_t written) {
  std::string_view rest = members.substr(written);
  if (written > 0 && !rest.empty()) rest.remove_prefix(1);  // the comma
  return rest;
}

// Whether a loss can have taken ends of spans that had begun. Where a ring
// refused records it cannot: a begin reserves the room of its end.
bool may_lose_ends(DropReason reason) noexcept {
  return reason != DropReason::kRingFull && reason != DropReason::kNoRing;
}

}  // namespace

void ChromeJsonWriter::begin_span(Track& track, const DecodedRecord& record) {
  SpanFate fate = SpanFate::kNests;
  if (fates_ != nullptr) {
    const std::uint64_t id = async_id(record.thread, record.position);
    fate = fates_->of(id);
    if (fate == SpanFate::kAsync) return begin_async(track, record, id);
  }
  flush_held(track);
  const std::int64_t ns = next_ns(track, record);
  if (track.stack.depth() >= kMaxOpenSpans) {
    ++counts_.spans_too_deep;
    return;
  }
  OpenSpan& span = track.stack.push();
  span.position = record.position;
  span.begin_ns = ns;
  span.name = {record.site, record.name};
  span.never_ends = fate == SpanFate::kNeverEnds;
  if (record.value_count > 0) names_.append_values(record, &span.members);
  append_request(track, &span.members);
  if ((record.flags & kFlagClipped) != 0)
    mark(span, &OpenSpan::clipped, "clipped");
  track.held = true;
  ++open_spans_;
}

void ChromeJsonWriter::end_span(Track& track, const DecodedRecord& record) {
  if (!track.stack.empty() && track.stack.top().position == record.target) {
    const bool clipped = (record.flags & kFlagClipped) != 0;
    return close_top(track, next_ns(track, record),
                     clipped ? Close::kClipped : Close::kInOrder);
  }
  const std::size_t index = track.stack.find(record.target);
  if (index != SpanStack::npos) return end_deeper(track, index, record);
  end_unknown(track, record);
}

// Those above have lost their ends, or will end out of order and were not known
// to: these stay in the table of async spans until they do.
void ChromeJsonWriter::end_deeper(Track& track, std::size_t index,
                                  const DecodedRecord& record) {
  flush_held(track);
  const std::int64_t ns = time_of(track, record);
  while (track.stack.depth() > index + 1) {
    OpenSpan& above = track.stack.top();
    if (!above.never_ends && !above.ended_elsewhere)
      hold_async(async_id(track.thread, above.position),
                 {above.begin_ns, track.tid, above.name, above.members, true});
    close_top(track, place(track, ns), Close::kClipped);
  }
  close_top(track, place(track, ns), Close::kInOrder);
}

void ChromeJsonWriter::end_unknown(Track& track, const DecodedRecord& record) {
  flush_held(track);
  const EventName name{record.site, StringId::kNone};
  const std::uint64_t id = async_id(record.thread, record.target);
  if (record.target != kUnknownPosition) {
    if (const auto begin = async_.take(id))
      return write_pair(id, *begin,
                        {time_of(track, record), track.tid, name, {}});
  }
  const std::int64_t ns = next_ns(track, record);
  const bool nests = track.stack.empty() ||
                     track.stack.top().begin_ns < track.open_from_ns;
  if (!nests) {
    ++counts_.ends_without_begin;
    return;
  }
  ++counts_.spans;
  ++counts_.spans_open_at_start;
  put_complete(names_.head(name), track.ids, track.open_from_ns,
               ns - track.open_from_ns, "\"clipped\":true");
}

std::string* ChromeJsonWriter::members_of_target(Track& track,
                                                 const DecodedRecord& record) {
  if ((record.flags & kFlagForeign) != 0) {
    if (AsyncBegin* begin = async_.find(record.target)) return &begin->members;
    OpenSpan* span = find_open(record.target);
    return span != nullptr ? &span->members : nullptr;
  }
  if (!track.stack.empty() && track.stack.top().position == record.target)
    return &track.stack.top().members;
  const std::size_t index = track.stack.find(record.target);
  if (index != SpanStack::npos) return &track.stack[index].members;
  AsyncBegin* begin = async_.find(async_id(record.thread, record.target));
  return begin != nullptr ? &begin->members : nullptr;
}

void ChromeJsonWriter::add_late(Track& track, const DecodedRecord& record) {
  std::string* members = members_of_target(track, record);
  const bool is_failure = record.kind == RecordKind::kFailure;
  if (members == nullptr || (!is_failure && record.value_count == 0)) {
    ++counts_.arguments_without_span;
    return;
  }
  if (is_failure) {
    names_.append_key("failed", members);
    names_.append_text(info_.text(record.key), members);
  } else {
    names_.append_key(info_.text(record.key), members);
    names_.append_value(record.values[0], members);
  }
}

void ChromeJsonWriter::flush_held(Track& track) {
  if (!track.held) return;
  track.held = false;
  OpenSpan& span = track.stack.top();
  put(names_.head(span.name), 'B', track.ids, span.begin_ns, {}, span.members);
  span.members_written = span.members.size();
}

void ChromeJsonWriter::close_top(Track& track, std::int64_t ns, Close how) {
  OpenSpan& span = track.stack.top();
  if (how == Close::kClipped) mark(span, &OpenSpan::clipped, "clipped");
  const std::string_view head = names_.head(span.name);
  if (track.held) {
    put_complete(head, track.ids, span.begin_ns, ns - span.begin_ns,
                 span.members);
  } else {
    put(head, 'E', track.ids, ns, {},
        rest_of(span.members, span.members_written));
  }
  if (span.incomplete) ++counts_.spans_incomplete;
  const bool began_before_loss = span.begin_ns < track.open_from_ns;
  track.held = false;
  track.stack.pop();
  --open_spans_;
  ++counts_.spans;
  // A span whose begin is missing must not begin inside the one that just
  // ended and end outside.
  if (began_before_loss) track.open_from_ns = ++track.last_ns;  // W3
  if (!track.stack.empty() && track.stack.top().ended_elsewhere)
    close_top(track, place(track, ns), Close::kClipped);
}

void ChromeJsonWriter::mark(OpenSpan& span, bool OpenSpan::* flag,
                            std::string_view key) {
  if (span.*flag) return;
  span.*flag = true;
  names_.append_key(key, &span.members);
  span.members.append("true");
}

void ChromeJsonWriter::pass_losses(Track& track, std::uint64_t position) {
  while (!track.losses.empty() && track.losses.front().position <= position) {
    const Loss loss = track.losses.front();
    track.losses.pop_front();
    pass_loss(track, loss);
  }
}

void ChromeJsonWriter::pass_loss(Track& track, const Loss& loss) {
  if (!track.named) name_track(track);
  if (!track.started) start_track(track, latest_ns_);
  flush_held(track);
  SpanStack& stack = track.stack;
  // Below one that is marked all are.
  for (std::size_t i = stack.depth(); i-- > 0 && !stack[i].incomplete;)
    mark(stack[i], &OpenSpan::incomplete, "incomplete");
  const bool all = fates_ == nullptr && may_lose_ends(loss.reason);
  while (!stack.empty() && (all || stack.top().never_ends))
    close_top(track, ++track.last_ns, Close::kClipped);

  std::string members = "\"records\":";
  append_unsigned(&members, loss.records);
  members += ",\"reason\":";
  names_.append_text(in_words(loss.reason), &members);
  put_instant(track, names_.head("records dropped", "weft"), ++track.last_ns,
              members);
  counts_.records_dropped += loss.records;
  track.open_from_ns = ++track.last_ns;  // W3
}

// The time of the cut is in the file that ends only: records of this thread
// that were made before it may still come, and go into the next file.
void ChromeJsonWriter::cut_track(Track& track, std::int64_t ns) {
  if (track.cut) reopen(track, ns);  // it had no record in this file
  flush_held(track);
  std::int64_t end_ns = std::max(ns, track.last_ns + 1);
  for (std::size_t i = track.stack.depth(); i-- > 0;) {
    OpenSpan& span = track.stack[i];
    mark(span, &OpenSpan::clipped, "clipped");
    put(names_.head(span.name), 'E', track.ids, end_ns++, {},
        rest_of(span.members, span.members_written));
  }
  track.cut = !track.stack.empty();
  track.cut_ns = ns;
}

void ChromeJsonWriter::reopen(Track& track, std::int64_t ns) {
  track.cut = false;
  if (!track.named) name_track(track);
  auto before = static_cast<std::int64_t>(track.stack.depth()) + 1;
  for (std::size_t i = 0; i < track.stack.depth(); ++i) {
    OpenSpan& span = track.stack[i];
    span.begin_ns =
        std::max(track.last_ns + 1, std::min(track.cut_ns, ns - before--));
    track.last_ns = span.begin_ns;
    put(names_.head(span.name), 'B', track.ids, span.begin_ns, {},
        span.members);
    span.members_written = span.members.size();
  }
  track.open_from_ns = ++track.last_ns;  // W3
}

}  // namespace weft::exporters
