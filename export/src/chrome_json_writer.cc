// SPDX-License-Identifier: Apache-2.0
#include "chrome_json_writer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "chrome_json_document.h"
#include "json_text.h"

namespace weft::exporters {
namespace {

// Kernel tids end below 2^22 (PID_MAX_LIMIT), viewers' ids at 2^31.
constexpr std::uint32_t kFirstSynthetic = 1u << 22;
constexpr std::uint32_t kFirstLane = 1u << 30;
constexpr std::uint32_t kMaxId = (1u << 31) - 1;

// Ticks of a damaged file may say anything; what is later is shown here, with
// room for moving events apart.
constexpr std::int64_t kMaxNs =
    std::numeric_limits<std::int64_t>::max() - (std::int64_t{1} << 48);

// About what closing an open span or writing an open flow end takes.
constexpr std::uint64_t kClosingEventBytes = 200;
constexpr std::uint64_t kTailBytes = 8192;

std::int64_t difference(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) -
                                   static_cast<std::uint64_t>(b));
}

char* copy(char* to, std::string_view text) noexcept {
  return to + text.copy(to, text.size());
}

}  // namespace

ChromeJsonWriter::ChromeJsonWriter(const TraceInfo& info, const ClockLine& line,
                                   const SpanFates* fates)
    : info_(info),
      line_(line),
      fates_(fates),
      names_(info),
      flows_(fates != nullptr ? FlowTable::Settling::kWholeChains
                              : FlowTable::Settling::kFirstPair) {}

void ChromeJsonWriter::start(JsonOutput* output) {
  pid_ = info_.process.pid;
  if (pid_ == 0 || pid_ > kMaxId) pid_ = 1;
  base_ns_ = line_.to_ns(info_.subscription.start_tick);
  begin_file(output);
  std::vector<Loss> losses = info_.losses;  // sorted, each goes to the end
  std::stable_sort(losses.begin(), losses.end(), [](auto& a, auto& b) {
    return a.position < b.position;
  });
  for (const Loss& loss : losses) lose(loss);
}

void ChromeJsonWriter::begin_file(JsonOutput* output) {
  output_ = output;
  events_ = 0;
  for (const auto& track : tracks_) track->named = false;
  std::string head;
  append_document_head(info_, line_, {pid_, base_ns_, part_}, &names_, &head);
  output_->append(head);
}

void ChromeJsonWriter::end_file() {
  counts_.invalid_utf8_bytes = names_.invalid_bytes();
  std::string tail;
  append_document_tail(info_, line_, counts_, &names_, &tail);
  output_->append(tail);
}

void ChromeJsonWriter::write(const DecodedRecord& record) {
  const bool side = (record.position & kSidePosition) != 0;
  Track& track = track_of(record.thread, side);
  if (!track.named) name_track(track);
  if (track.cut) reopen(track, time_of(track, record));
  if (!track.losses.empty()) pass_losses(track, record.position);
  switch (record.kind) {
    case RecordKind::kSpanBegin: return begin_span(track, record);
    case RecordKind::kSpanEnd: return end_span(track, record);
    case RecordKind::kArgument:
    case RecordKind::kFailure: return add_late(track, record);
    case RecordKind::kInstant:
    case RecordKind::kStep: return instant(track, record);
    case RecordKind::kCounter: return counter(track, record);
    case RecordKind::kFlowOut:
    case RecordKind::kFlowIn: return flow(track, record);
    case RecordKind::kAsyncBegin:
      return begin_async(track, record, record.target);
    case RecordKind::kAsyncEnd: return end_async(track, record);
    case RecordKind::kContext: return set_request(track, record);
    case RecordKind::kLoss:
      return pass_loss(track, {record.thread, record.position, record.target,
                               static_cast<DropReason>(record.call)});
    case RecordKind::kClockChange: return;  // each record says which clock
    default: ++counts_.records_not_shown;
  }
}

void ChromeJsonWriter::lose(const Loss& loss) {
  Track& track = track_of(loss.thread, (loss.position & kSidePosition) != 0);
  const auto after = std::upper_bound(
      track.losses.begin(), track.losses.end(), loss.position,
      [](std::uint64_t p, const Loss& other) { return p < other.position; });
  track.losses.insert(after, loss);
}

std::uint64_t ChromeJsonWriter::cut(JsonOutput* next) {
  for (const auto& track : tracks_) cut_track(*track, latest_ns_);
  flows_.drain(&settled_);
  write_flows();
  end_file();
  const std::uint64_t events = events_;
  ++part_;
  begin_file(next);
  return events;
}

std::uint64_t ChromeJsonWriter::finish() {
  const std::int64_t end = end_of_trace();
  for (const auto& entry : tracks_) {
    Track& track = *entry;
    if (track.cut) reopen(track, end);
    pass_losses(track, std::numeric_limits<std::uint64_t>::max());
    while (!track.stack.empty()) {
      if (!track.named) name_track(track);
      ++counts_.spans_open_at_end;
      close_top(track, place(track, end), Close::kClipped);
    }
  }
  while (auto early = async_.take_oldest_early())
    write_clipped_end(early->id, std::move(early->end));
  while (auto open = async_.take_oldest())
    write_unfinished(open->id, std::move(open->begin));
  flows_.drain(&settled_);
  write_flows();
  write_new_names();
  end_file();
  return events_;
}

std::int64_t ChromeJsonWriter::end_of_trace() const {
  if (!info_.complete) return latest_ns_;
  const std::int64_t stop =
      difference(line_.to_ns(info_.end.stop_tick), base_ns_);
  return std::clamp(stop, latest_ns_, kMaxNs);
}

std::uint64_t ChromeJsonWriter::closing_bytes() const noexcept {
  return kTailBytes + kClosingEventBytes * (open_spans_ + flows_.points());
}

// Tracks and their ids.

Track& ChromeJsonWriter::track_of(ThreadIndex thread, bool side) {
  const std::uint64_t key = track_key(thread, side);
  if (last_track_ == nullptr || last_key_ != key) {
    const auto found = track_by_key_.find(key);
    last_track_ = found != track_by_key_.end() ? found->second : &add_track(key);
    last_key_ = key;
  }
  return *last_track_;
}

Track& ChromeJsonWriter::add_track(std::uint64_t key) {
  auto track = std::make_unique<Track>();
  track->thread = static_cast<ThreadIndex>(static_cast<std::uint32_t>(key >> 1));
  track->side = (key & 1) != 0;
  track->tid = tid_of(thread_info(track->thread), track->side);
  track->ids = ids_of(track->tid);
  tracks_.push_back(std::move(track));
  track_by_key_.emplace(key, tracks_.back().get());
  return *tracks_.back();
}

// A kernel tid goes to its first owner: threads in sequence share them. Lanes
// and later owners get numbers no kernel gives.
std::uint32_t ChromeJsonWriter::tid_of(const ThreadInfo* thread, bool side) {
  if (side) return kFirstLane + next_lane_++ % (kMaxId - kFirstLane);
  if (thread != nullptr && thread->tid_is_unique && thread->tid != 0 &&
      thread->tid < kFirstSynthetic && kernel_tids_.insert(thread->tid).second)
    return thread->tid;
  return kFirstSynthetic + next_synthetic_++ % (kFirstLane - kFirstSynthetic);
}

const ThreadInfo* ChromeJsonWriter::thread_info(ThreadIndex thread) const {
  const auto found = std::lower_bound(
      info_.threads.begin(), info_.threads.end(), thread,
      [](const ThreadInfo& info, ThreadIndex t) { return info.index < t; });
  return found != info_.threads.end() && found->index == thread ? &*found
                                                                : nullptr;
}

std::string ChromeJsonWriter::ids_of(std::uint32_t tid) const {
  return "\",\"pid\":" + std::to_string(pid_) +
         ",\"tid\":" + std::to_string(tid) + ",\"ts\":";
}

void ChromeJsonWriter::name_track(Track& track) {
  track.named = true;
  write_name(track);
  std::string members = "\"sort_index\":";
  append_unsigned(&members, track_key(track.thread, track.side));
  put(names_.head("thread_sort_index", "__metadata"), 'M', track.ids, 0, {},
      members);
}

void ChromeJsonWriter::write_name(Track& track) {
  const ThreadInfo* thread = thread_info(track.thread);
  track.name_shown = thread != nullptr ? thread->name : StringId::kNone;
  std::string name(info_.text(track.name_shown));
  if (name.empty()) name = "thread";
  if (thread != nullptr && thread->tid != track.tid)
    name += " (tid " + std::to_string(thread->tid) + ")";
  if (track.side) name += " (signal handlers)";
  std::string members = "\"name\":";
  names_.append_text(name, &members);
  put(names_.head("thread_name", "__metadata"), 'M', track.ids, 0, {}, members);
}

void ChromeJsonWriter::write_new_names() {
  for (const auto& track : tracks_) {
    if (!track->named) continue;
    const ThreadInfo* thread = thread_info(track->thread);
    if (thread != nullptr && thread->name != track->name_shown)
      write_name(*track);
  }
}

// Times.

std::int64_t ChromeJsonWriter::time_of(Track& track,
                                       const DecodedRecord& record) {
  const std::int64_t ns = (record.flags & kFlagMonotonic) != 0
                              ? static_cast<std::int64_t>(record.tick)
                              : line_.to_ns(record.tick, track.cursor);
  std::int64_t since = std::clamp<std::int64_t>(difference(ns, base_ns_), 0,
                                                kMaxNs);
  if (since < track.raw_ns) {
    ++counts_.times_backwards;
    since = track.raw_ns;
  }
  track.raw_ns = since;
  latest_ns_ = std::max(latest_ns_, since);
  if (!track.started) start_track(track, since);
  return since;
}

void ChromeJsonWriter::start_track(Track& track, std::int64_t first_ns) {
  track.started = true;
  const ThreadInfo* thread = thread_info(track.thread);
  const std::int64_t start =
      thread == nullptr ? 0
                        : difference(line_.to_ns(thread->start_tick), base_ns_);
  track.open_from_ns = std::clamp<std::int64_t>(
      start, 0, std::max<std::int64_t>(first_ns - 1, 0));
  track.last_ns = track.open_from_ns;  // W3
}

std::int64_t ChromeJsonWriter::place(Track& track, std::int64_t ns) {
  if (ns <= track.last_ns) {
    ++counts_.times_moved_apart;
    ns = track.last_ns + 1;  // W1
  }
  track.last_ns = ns;
  return ns;
}

std::int64_t ChromeJsonWriter::next_ns(Track& track,
                                       const DecodedRecord& record) {
  return place(track, time_of(track, record));
}

// Text.

void ChromeJsonWriter::put(std::string_view head, char phase,
                           std::string_view ids, std::int64_t ns,
                           std::string_view extra, std::string_view members) {
  char* to = output_->room(head.size() + ids.size() + extra.size() +
                           members.size() + kNumberRoom + 16);
  to = copy(to, head);
  *to++ = phase;
  to = copy(to, ids);
  to = write_micros(to, static_cast<std::uint64_t>(ns));
  to = copy(to, extra);
  if (!members.empty()) {
    to = copy(to, ",\"args\":{");
    to = copy(to, members);
    *to++ = '}';
  }
  *to++ = '}';
  output_->take(to);
  ++events_;
}

void ChromeJsonWriter::put_complete(std::string_view head, std::string_view ids,
                                    std::int64_t ns, std::int64_t duration_ns,
                                    std::string_view members) {
  constexpr std::string_view kDuration = ",\"dur\":";
  char extra[kDuration.size() + kNumberRoom];
  const char* end = write_micros(copy(extra, kDuration),
                                 static_cast<std::uint64_t>(duration_ns));
  put(head, 'X', ids, ns, {extra, static_cast<std::size_t>(end - extra)},
      members);
}

void ChromeJsonWriter::put_instant(Track& track, std::string_view head,
                                   std::int64_t ns, std::string_view members) {
  put(head, 'i', track.ids, ns, ",\"s\":\"t\"", members);
}

}  // namespace weft::exporters
