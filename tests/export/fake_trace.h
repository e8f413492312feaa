// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_EXPORT_FAKE_TRACE_H_
#define WEFT_TESTS_EXPORT_FAKE_TRACE_H_

// A trace made by hand: names, threads and decoded records, without a recorder
// or a file. One tick is one nanosecond. Records are in the order of the file.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "chrome_json_output.h"
#include "chrome_json_span_fates.h"
#include "chrome_json_writer.h"
#include "weft/clock_line.h"
#include "weft/export/trace_reader.h"

namespace weft::test {

using exporters::DecodedRecord;
using exporters::DecodedValue;
using exporters::TraceInfo;

class FakeTrace {
 public:
  explicit FakeTrace(Ticks start = 0, Ticks stop = 1'000'000);

  StringId string(std::string_view text);
  SiteId site(SiteKind kind, std::string_view name,
              std::vector<std::string> keys = {});
  ThreadIndex thread(std::string_view name, std::uint32_t tid,
                     bool unique = true);

  // Each returns the position of the record.
  std::uint64_t begin(ThreadIndex thread, SiteId site, Ticks tick,
                      std::vector<DecodedValue> values = {},
                      StringId name = StringId::kNone);
  void end(ThreadIndex thread, SiteId site, Ticks tick, std::uint64_t begun);
  // A begin and an end.
  void span(ThreadIndex thread, SiteId site, Ticks from, Ticks to);
  void instant(ThreadIndex thread, SiteId site, Ticks tick,
               std::vector<DecodedValue> values = {});
  void counter(ThreadIndex thread, SiteId site, Ticks tick, DecodedValue value);
  void flow(RecordKind kind, ThreadIndex thread, SiteId site, Ticks tick,
            std::uint64_t id);
  std::uint64_t async_begin(ThreadIndex thread, SiteId site, Ticks tick);
  void async_end(ThreadIndex thread, SiteId site, Ticks tick,
                 std::uint64_t id);
  void argument(ThreadIndex thread, Ticks tick, std::uint64_t begun,
                std::string_view key, DecodedValue value);
  void fail(ThreadIndex thread, Ticks tick, std::uint64_t begun,
            std::string_view reason);
  void context(ThreadIndex thread, Ticks tick,
               std::vector<std::uint64_t> words);
  // Records of `thread` that are missing before its next one.
  void lose(ThreadIndex thread, std::uint64_t records, DropReason reason);
  // Leaves out the record that comes next: it was made, and is not there.
  void drop_next() { drop_next_ = true; }

  static DecodedValue integer(std::int64_t value, std::uint8_t index = 0);
  static DecodedValue natural(std::uint64_t value, std::uint8_t index = 0);
  static DecodedValue real(double value, std::uint8_t index = 0);

  TraceInfo& info() { return info_; }
  DecodedRecord& last() { return records_.back().record; }
  std::uint64_t records() const { return records_.size(); }
  ClockLine line() const;

  // kReadAhead: as a file is converted; kLive: as it is written.
  enum class Mode { kReadAhead, kLive };
  std::string json(Mode mode = Mode::kReadAhead) const;
  // In several files, cut before the records with these numbers.
  std::vector<std::string> json_parts(std::vector<std::size_t> cuts) const;

 private:
  struct Stored {
    DecodedRecord record;
    std::vector<DecodedValue> values;
  };
  std::uint64_t add(DecodedRecord record, std::vector<DecodedValue> values);
  DecodedRecord view(const Stored& stored) const;

  TraceInfo info_;
  std::map<std::string, StringId, std::less<>> ids_;
  std::map<ThreadIndex, std::uint64_t> positions_;
  std::vector<Stored> records_;
  bool drop_next_ = false;
};

}  // namespace weft::test

#endif  // WEFT_TESTS_EXPORT_FAKE_TRACE_H_
