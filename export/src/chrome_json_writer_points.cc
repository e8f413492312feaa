// SPDX-License-Identifier: Apache-2.0
// The part of ChromeJsonWriter that needs no stack: points, flows, async spans.
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "chrome_json_writer.h"
#include "json_text.h"

namespace weft::exporters {
namespace {

std::string arrow_id(std::uint64_t number) {
  std::string text = ",\"id\":";
  append_unsigned(&text, number);
  return text;
}

double number_of(const DecodedValue& value) noexcept {
  switch (value.type) {
    case RecordKind::kInt64:
      return static_cast<double>(static_cast<std::int64_t>(value.bits));
    case RecordKind::kDouble: return std::bit_cast<double>(value.bits);
    default: return static_cast<double>(value.bits);
  }
}

void append_hex(std::string* out, std::uint64_t word) {
  for (int shift = 60; shift >= 0; shift -= 4)
    out->push_back("0123456789abcdef"[(word >> shift) & 15]);
}

}  // namespace

void ChromeJsonWriter::instant(Track& track, const DecodedRecord& record) {
  flush_held(track);
  const std::int64_t ns = next_ns(track, record);
  std::string members;
  if (record.kind == RecordKind::kStep) {
    members = "\"step\":";
    append_unsigned(&members, record.target);
    append_request(track, &members);
    put_instant(track,
                names_.head("step " + std::to_string(record.target), "step"),
                ns, members);
  } else {
    if (record.value_count > 0) names_.append_values(record, &members);
    append_request(track, &members);
    put_instant(track, names_.head(EventName{record.site, record.name}), ns,
                members);
  }
  ++counts_.instants;
}

void ChromeJsonWriter::counter(Track& track, const DecodedRecord& record) {
  if (record.value_count == 0) {
    ++counts_.records_not_shown;
    return;
  }
  const std::int64_t ns = time_of(track, record);
  const double value = number_of(record.values[0]);
  const std::string_view head = names_.head(EventName{record.site, record.name});
  std::string members = "\"value\":";
  append_double(&members, value);
  if (std::isfinite(value)) {
    ++counts_.counter_values;
    put(head, 'C', track.ids, ns, {}, members);
  } else {
    ++counts_.counters_not_finite;
    put_instant(track, head, ns, members);
  }
}

void ChromeJsonWriter::set_request(Track& track, const DecodedRecord& record) {
  track.request.clear();
  if (record.value_count >= 2) {
    track.request = "\"";
    append_hex(&track.request, record.values[0].bits);
    append_hex(&track.request, record.values[1].bits);
    track.request += "\"";
  } else if (record.target != 0 || record.value_count == 1) {
    append_unsigned(&track.request, record.target);
  }
}

void ChromeJsonWriter::append_request(const Track& track,
                                      std::string* members) {
  if (track.request.empty()) return;
  names_.append_key("request", members);
  members->append(track.request);
}

// Flows.

void ChromeJsonWriter::flow(Track& track, const DecodedRecord& record) {
  const bool is_out = record.kind == RecordKind::kFlowOut;
  flush_held(track);
  const std::int64_t recorded = time_of(track, record);
  std::int64_t ns = recorded;
  if (!is_out) ns = flows_.earliest_end(record.target, ns);
  const bool moved = ns != recorded;
  if (moved) ++counts_.flow_ends_moved;
  ns = place(track, ns);
  if (track.stack.empty()) {  // W2
    put_complete(names_.head(EventName{record.site, StringId::kNone}),
                 track.ids, ns, 2, {});
    ++ns;
    track.last_ns = ns + 1;
  }
  flows_.add(record.target,
             {ns, moved ? recorded : ns, track.tid, record.site, is_out},
             &settled_);
  write_flows();
}

void ChromeJsonWriter::write_flows() {
  for (const SettledPoint& settled : settled_) {
    const FlowPoint& point = settled.point;
    const std::string_view head =
        names_.head(EventName{settled.arrow_site, StringId::kNone});
    const std::string ids = ids_of(point.tid);
    std::string members;
    if (point.raw_ns != point.ns) {
      members = "\"recorded_ns\":";
      append_signed(&members, point.raw_ns);
    }
    switch (settled.role) {
      case FlowRole::kStart:
        ++counts_.arrows;
        put(head, 's', ids, point.ns, arrow_id(settled.arrow), members);
        break;
      case FlowRole::kStep:
      case FlowRole::kFinish:
        put(head, settled.role == FlowRole::kStep ? 't' : 'f', ids, point.ns,
            arrow_id(settled.arrow) + ",\"bp\":\"e\"", members);
        break;
      case FlowRole::kAlone:
        ++counts_.flows_alone;
        put(head, 'i', ids, point.ns, ",\"s\":\"t\"", members);
        break;
    }
  }
  settled_.clear();
}

// Async spans, and spans of threads that do not nest.

void ChromeJsonWriter::begin_async(Track& track, const DecodedRecord& record,
                                   std::uint64_t id) {
  AsyncBegin begin{time_of(track, record), track.tid,
                   EventName{record.site, record.name}, {}, false};
  if (record.value_count > 0) names_.append_values(record, &begin.members);
  append_request(track, &begin.members);
  if (async_.has_early()) {
    if (const auto end = async_.take_early(id))
      return write_pair(id, begin, *end);
  }
  hold_async(id, std::move(begin));
}

void ChromeJsonWriter::hold_async(std::uint64_t id, AsyncBegin begin) {
  if (async_.full()) {
    if (auto oldest = async_.take_oldest()) {
      ++counts_.async_evicted;
      write_unfinished(oldest->id, std::move(oldest->begin));
    }
  }
  async_.begin(id, std::move(begin));
}

void ChromeJsonWriter::end_async(Track& track, const DecodedRecord& record) {
  const std::uint64_t id = record.target;
  AsyncEnd end{time_of(track, record), track.tid,
               EventName{record.site, StringId::kNone}, {}};
  if (const auto begin = async_.take(id)) return write_pair(id, *begin, end);
  if (end_open_span(id, end)) return;
  if (const AsyncTable::Ended* first = async_.ended(id)) {
    ++counts_.async_ended_twice;
    counts_.message("async span '" + std::string(names_.text(end.name)) +
                    "' (id " + std::to_string(first->number) +
                    ") was ended on thread " + std::to_string(first->tid) +
                    " and again on thread " + std::to_string(end.tid));
    return;
  }
  if (async_.early_full()) {
    if (auto oldest = async_.take_oldest_early())
      write_clipped_end(oldest->id, std::move(oldest->end));
  }
  async_.early_end(id, std::move(end));
}

Track* ChromeJsonWriter::find_track(const SpanPlace& place) {
  const auto found = track_by_key_.find(track_key(place.thread, place.side));
  return found != track_by_key_.end() ? found->second : nullptr;
}

OpenSpan* ChromeJsonWriter::find_open(std::uint64_t id) {
  const SpanPlace place = place_of(id);
  Track* track = find_track(place);
  if (track == nullptr) return nullptr;
  const std::size_t index = track->stack.find(
      place.position | (place.side ? kSidePosition : 0));
  return index != SpanStack::npos ? &track->stack[index] : nullptr;
}

// A span that is open on its thread's stack, which nobody knew would end on
// another one. If its begin is written it stays there, up to where it fits.
bool ChromeJsonWriter::end_open_span(std::uint64_t id, const AsyncEnd& end) {
  OpenSpan* open = find_open(id);
  if (open == nullptr) return false;
  OpenSpan& span = *open;
  Track& owner = *find_track(place_of(id));
  const bool is_top = open == &owner.stack.top();
  const bool unwritten = is_top && owner.held;
  write_pair(id, {span.begin_ns, owner.tid, span.name, span.members, false},
             end);
  if (unwritten) {
    owner.held = false;
    owner.stack.pop();
    --open_spans_;
  } else {
    span.ended_elsewhere = true;
    if (is_top && !owner.cut)
      close_top(owner, place(owner, owner.last_ns + 1), Close::kClipped);
  }
  return true;
}

void ChromeJsonWriter::write_pair(std::uint64_t id, const AsyncBegin& begin,
                                  const AsyncEnd& end) {
  note_pairing(write_async(id, begin, end), begin, end);
}

std::uint64_t ChromeJsonWriter::write_async(std::uint64_t id, const AsyncBegin& begin,
                                   const AsyncEnd& end) {
  const std::uint64_t number = ++next_async_;
  std::string members = begin.members;
  names_.append_key("begin_thread", &members);
  append_unsigned(&members, begin.tid);
  names_.append_key("end_thread", &members);
  append_unsigned(&members, end.tid);

  const std::string extra = arrow_id(number);
  const std::string_view head = names_.head(begin.name);
  put(head, 'b', ids_of(begin.tid), begin.ns, extra, members);
  // Never of length 0: at equal times Perfetto takes the end first.
  put(head, 'e', ids_of(end.tid), std::max(end.ns, begin.ns + 1), extra,
      end.members);
  ++counts_.async_spans;
  async_.note_ended({id, number, end.tid});
  return number;
}

// What the program did that it will not have meant, for a person.
void ChromeJsonWriter::note_pairing(std::uint64_t number,
                                    const AsyncBegin& begin,
                                    const AsyncEnd& end) {
  const bool is_span = info_.site(begin.name.site).kind == SiteKind::kSpan;
  const bool other_site = end.name.site != SiteId::kNone &&
                          end.name.site != begin.name.site;
  if (is_span && end.tid == begin.tid) ++counts_.spans_out_of_order;
  if (is_span && end.tid != begin.tid) ++counts_.spans_ended_elsewhere;
  if (!other_site && (!is_span || end.tid == begin.tid)) return;
  std::string text = is_span ? "span '" : "async span '";
  text += std::string(names_.text(begin.name)) + "' (id " +
          std::to_string(number) + ") began on thread " +
          std::to_string(begin.tid) + " and was ended ";
  if (other_site) text += "as '" + std::string(names_.text(end.name)) + "' ";
  text += "on thread " + std::to_string(end.tid);
  counts_.message(std::move(text));
}

void ChromeJsonWriter::write_unfinished(std::uint64_t id, AsyncBegin begin) {
  if (begin.is_slice) return;  // shown already, as clipped
  ++counts_.async_unfinished;
  names_.append_key("unfinished", &begin.members);
  begin.members += "true";
  write_async(id, begin, {end_of_trace(), begin.tid, begin.name, {}});
}

void ChromeJsonWriter::write_clipped_end(std::uint64_t id, AsyncEnd end) {
  ++counts_.async_open_at_start;
  const AsyncBegin begin{0, end.tid, end.name, "\"clipped\":true", false};
  write_async(id, begin, end);
}

}  // namespace weft::exporters
