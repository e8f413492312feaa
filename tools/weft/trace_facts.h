// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_TRACE_FACTS_H_
#define WEFT_TOOLS_WEFT_TRACE_FACTS_H_

// What `weft info` tells of a file, and its two forms.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>

#include "line_clock.h"
#include "weft/export/trace_reader.h"

namespace weft::tools {

class TraceFacts {
 public:
  explicit TraceFacts(const exporters::TraceInfo& info) : info_(info) {}

  // Every record.
  void add(const exporters::DecodedRecord& record, std::int64_t ns);

  const exporters::TraceInfo& info() const noexcept { return info_; }
  std::uint64_t of_kind(RecordKind kind) const noexcept {
    return by_kind_[static_cast<std::uint8_t>(kind)];
  }
  std::uint64_t of_thread(ThreadIndex thread) const;
  std::uint64_t of_category(StringId category) const;
  bool has_records() const noexcept { return first_ns_ <= last_ns_; }
  std::int64_t first_ns() const noexcept { return first_ns_; }
  std::int64_t last_ns() const noexcept { return last_ns_; }

 private:
  const exporters::TraceInfo& info_;
  std::array<std::uint64_t, 256> by_kind_{};
  std::unordered_map<std::uint32_t, std::uint64_t> by_thread_;
  std::unordered_map<std::uint32_t, std::uint64_t> by_category_;
  std::int64_t first_ns_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::min();
};

// "span begins", "counters"; empty for kinds that no record has.
const char* kind_text(RecordKind kind);

std::string facts_text(const std::string& path, const TraceFacts& facts,
                       const ClockLine& line, std::size_t width);
std::string facts_json(const std::string& path, const TraceFacts& facts,
                       const ClockLine& line);

// Where the recording began and ended, in ns of CLOCK_MONOTONIC. The end of a
// file that was cut is its last record.
struct RecordingTimes {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t begin_unix_ns = 0;
  bool is_known = false;

  std::uint64_t duration_ns() const noexcept {
    return static_cast<std::uint64_t>(end_ns) -
           static_cast<std::uint64_t>(begin_ns);
  }
};
RecordingTimes recording_times(const TraceFacts& facts, const ClockLine& line);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_TRACE_FACTS_H_
