// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_LINE_CLOCK_H_
#define WEFT_TOOLS_WEFT_LINE_CLOCK_H_

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "weft/clock_line.h"
#include "weft/export/trace_reader.h"

namespace weft::tools {

// A thread's records lie on one line of time, those of its signal handlers on
// another: they have positions of their own and come apart in the file.
using LineKey = std::uint64_t;

inline LineKey line_of(const exporters::DecodedRecord& record) noexcept {
  return static_cast<std::uint64_t>(record.thread) << 1 |
         ((record.position & kSidePosition) != 0 ? 1 : 0);
}
inline ThreadIndex thread_of(LineKey line) noexcept {
  return static_cast<ThreadIndex>(line >> 1);
}
inline bool is_side_line(LineKey line) noexcept { return (line & 1) != 0; }

// Times of all records of a file, in ns of CLOCK_MONOTONIC, never decreasing
// on one line.
class LineClock {
 public:
  explicit LineClock(const exporters::TraceInfo& info)
      : line_(std::make_unique<ClockLine>(info.process.tick_hz)) {
    for (const ClockAnchor& anchor : info.anchors) line_->add(anchor);
  }

  // Of the next record of its line.
  std::int64_t time_of(const exporters::DecodedRecord& record) {
    const LineKey key = line_of(record);
    if (last_ == nullptr || key != last_key_) {
      last_ = &times_.try_emplace(key, *line_).first->second;
      last_key_ = key;
    }
    if ((record.flags & kFlagMonotonic) != 0)
      return last_->next_ns(static_cast<std::int64_t>(record.tick));
    return last_->next(record.tick);
  }

  // Begins again with the first record of the file.
  void rewind() {
    times_.clear();
    last_ = nullptr;
  }

  const ClockLine& line() const noexcept { return *line_; }

 private:
  std::unique_ptr<ClockLine> line_;
  std::unordered_map<LineKey, MonotoneTime> times_;
  MonotoneTime* last_ = nullptr;  // runs are long: mostly the same as before
  LineKey last_key_ = 0;
};

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_LINE_CLOCK_H_
