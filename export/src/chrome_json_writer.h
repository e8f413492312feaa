// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_CHROME_JSON_WRITER_H_
#define WEFT_EXPORT_SRC_CHROME_JSON_WRITER_H_

// Writes records as events of the Chrome trace format, one after the other, in
// memory that grows with what is open and not with the length of the trace.
//
//   span     held until the next record of its thread. If that is its end: one
//            "X"; otherwise "B" now and "E" later, with late arguments
//   instant, step    "i"
//   counter  "C"; a value that JSON has no number for becomes an "i"
//   flow     "s", "t", "f" as soon as both ends are known, else "i"
//   async span, span that does not nest    "b" and "e" with an id, together
//   loss     "i", and the open spans are marked "incomplete"
//
// Viewers rebuild a thread's tree of spans from times alone. So that none can
// get it wrong:
//   W1  On one track every event has a later time than the one before: a record
//       that is not at least 1 ns later is moved to 1 ns later. N records in
//       one tick are thereby moved by less than N ns.
//   W2  Flow ends are events of the track, so they lie strictly inside their
//       span; one outside all spans gets a span of 2 ns of its own.
//   W3  A span whose begin is missing begins at the start, or at the loss that
//       explains it. That time is kept free for such spans on each track.
//   W4  What cannot nest is never written as "X", "B" or "E".
// Times count from the start of the subscription: text with three decimals of a
// microsecond is exact, and doubles keep it exact for 100 days.
//
// Arguments of weft's own: "clipped" (begin or end lies outside), "incomplete"
// (records were lost inside), "failed", "request", "unfinished".

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "chrome_json_async.h"
#include "chrome_json_counts.h"
#include "chrome_json_flows.h"
#include "chrome_json_names.h"
#include "chrome_json_output.h"
#include "chrome_json_span_fates.h"
#include "chrome_json_track.h"
#include "weft/clock_line.h"
#include "weft/export/trace_reader.h"

namespace weft::exporters {

class ChromeJsonWriter {
 public:
  // `info` and `line` may grow while this writes. `fates` is what reading ahead
  // found; null while records are still being made. All must outlive this.
  ChromeJsonWriter(const TraceInfo& info, const ClockLine& line,
                   const SpanFates* fates);

  // Begins the first file. Before anything else; the line has an anchor.
  void start(JsonOutput* output);
  // Whatever comes at or after its position on its thread comes after it.
  void lose(const Loss& loss);
  void write(const DecodedRecord& record);
  // Ends the present file and begins another. Spans that are open are closed in
  // the one and opened in the other, marked in both. Returns the number of
  // events in the file that ended.
  std::uint64_t cut(JsonOutput* next);
  // Closes what is open and ends the file; returns the events in it.
  std::uint64_t finish();

  // Tells viewers the names that threads got since they were first seen.
  void write_new_names();

  // The latest time of a record, since the base.
  std::int64_t latest_ns() const noexcept { return latest_ns_; }
  // At least what cut() or finish() will add to the file.
  std::uint64_t closing_bytes() const noexcept;
  const ChromeJsonCounts& counts() const noexcept { return counts_; }

 private:
  enum class Close : std::uint8_t { kInOrder, kClipped };

  Track& track_of(ThreadIndex thread, bool side);
  Track& add_track(std::uint64_t key);
  std::uint32_t tid_of(const ThreadInfo* thread, bool side);
  const ThreadInfo* thread_info(ThreadIndex thread) const;
  void name_track(Track& track);
  void write_name(Track& track);

  std::int64_t time_of(Track& track, const DecodedRecord& record);
  std::int64_t place(Track& track, std::int64_t ns);
  std::int64_t next_ns(Track& track, const DecodedRecord& record);
  void start_track(Track& track, std::int64_t first_ns);

  void begin_span(Track& track, const DecodedRecord& record);
  void end_span(Track& track, const DecodedRecord& record);
  void end_deeper(Track& track, std::size_t index, const DecodedRecord& record);
  void end_unknown(Track& track, const DecodedRecord& record);
  std::string* members_of_target(Track& track, const DecodedRecord& record);
  Track* find_track(const SpanPlace& place);
  OpenSpan* find_open(std::uint64_t id);
  void add_late(Track& track, const DecodedRecord& record);
  void instant(Track& track, const DecodedRecord& record);
  void counter(Track& track, const DecodedRecord& record);
  void flow(Track& track, const DecodedRecord& record);
  void begin_async(Track& track, const DecodedRecord& record,
                   std::uint64_t id);
  void hold_async(std::uint64_t id, AsyncBegin begin);
  void end_async(Track& track, const DecodedRecord& record);
  bool end_open_span(std::uint64_t id, const AsyncEnd& end);
  void set_request(Track& track, const DecodedRecord& record);
  void append_request(const Track& track, std::string* members);
  void mark(OpenSpan& span, bool OpenSpan::* flag, std::string_view key);

  void flush_held(Track& track);
  void close_top(Track& track, std::int64_t ns, Close how);
  void pass_losses(Track& track, std::uint64_t position);
  void pass_loss(Track& track, const Loss& loss);
  void cut_track(Track& track, std::int64_t ns);
  void reopen(Track& track, std::int64_t ns);

  std::uint64_t write_async(std::uint64_t id, const AsyncBegin& begin,
                            const AsyncEnd& end);
  void write_pair(std::uint64_t id, const AsyncBegin& begin,
                  const AsyncEnd& end);
  void note_pairing(std::uint64_t number, const AsyncBegin& begin,
                    const AsyncEnd& end);
  void write_unfinished(std::uint64_t id, AsyncBegin begin);
  void write_clipped_end(std::uint64_t id, AsyncEnd end);
  void write_flows();

  // Text of one event.
  void put(std::string_view head, char phase, std::string_view ids,
           std::int64_t ns, std::string_view extra, std::string_view members);
  void put_complete(std::string_view head, std::string_view ids,
                    std::int64_t ns, std::int64_t duration_ns,
                    std::string_view members);
  void put_instant(Track& track, std::string_view head, std::int64_t ns,
                   std::string_view members);
  std::string ids_of(std::uint32_t tid) const;
  void begin_file(JsonOutput* output);
  void end_file();
  std::int64_t end_of_trace() const;

  const TraceInfo& info_;
  const ClockLine& line_;
  const SpanFates* fates_;
  JsonOutput* output_ = nullptr;
  EventNames names_;
  ChromeJsonCounts counts_;

  std::uint32_t pid_ = 0;
  std::int64_t base_ns_ = 0;  // CLOCK_MONOTONIC at time 0
  std::int64_t latest_ns_ = 0;
  std::uint64_t events_ = 0;  // of the present file
  std::uint32_t part_ = 0;
  std::uint64_t open_spans_ = 0;

  std::vector<std::unique_ptr<Track>> tracks_;  // in the order of appearance
  std::unordered_map<std::uint64_t, Track*> track_by_key_;
  Track* last_track_ = nullptr;
  std::uint64_t last_key_ = 0;
  std::unordered_set<std::uint32_t> kernel_tids_;  // that are in use
  std::uint32_t next_synthetic_ = 0;
  std::uint32_t next_lane_ = 0;

  AsyncTable async_;
  FlowTable flows_;
  std::vector<SettledPoint> settled_;
  std::uint64_t next_async_ = 0;
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_CHROME_JSON_WRITER_H_
