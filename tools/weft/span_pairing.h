// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_SPAN_PAIRING_H_
#define WEFT_TOOLS_WEFT_SPAN_PAIRING_H_

// From begins and ends to spans, with their self times.
//
// Each line (a thread, or a thread's signal handlers) has a stack of open
// spans. A span that ends as the innermost one is complete: its self time is
// its duration less that of the complete spans directly inside it. Any other
// span leaves the stack without a trace: what was complete inside it counts as
// directly inside its parent.
//
//   A [----------------------]      complete
//     B [-----------                its end is not there: it leaves with A
//         C [--]                    complete, now directly inside A
//
// Invariants:
//   P1  On each line the self times of complete spans add up to the durations
//       of its roots, the complete spans with no complete one around them.
//   P2  Each begin and each end is part of exactly one PairedSpan.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "line_clock.h"
#include "requests.h"
#include "weft/export/trace_reader.h"

namespace weft::tools {

enum class SpanFate : std::uint8_t {
  kComplete,   // nests
  kNotNested,  // ended out of order or on another thread; it has no self time
  kClipped,    // went on before the trace began or after it ended
  kBeginLost,  // only its end is there; no duration
  kEndLost,    // only its begin is there; no duration
};

struct PairedSpan {
  LineKey line = 0;
  std::uint64_t position = 0;      // of its begin
  std::uint64_t end_position = 0;  // of its end on this line
  StringId name = StringId::kNone;
  SiteId site = SiteId::kNone;
  RequestNumber request = 0;  // that its line worked for when it began
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t self_ns = 0;  // of kComplete
  std::size_t depth = 0;      // of kComplete: place on the stack, 0 outermost
  SpanFate fate = SpanFate::kComplete;
  bool failed = false;
  bool has_loss = false;  // records were lost inside: its self time may be less

  // Unsigned, because times of hostile files may be further apart than a
  // signed number can say.
  std::uint64_t duration_ns() const noexcept {
    return static_cast<std::uint64_t>(end_ns) -
           static_cast<std::uint64_t>(begin_ns);
  }
};

class SpanSink {
 public:
  virtual ~SpanSink() = default;
  virtual void span(const PairedSpan& span) = 0;
  // A span that is not complete has left the stack of its line; those above
  // it move down. `depth` is where it was.
  virtual void left_stack(LineKey line, std::size_t depth) {
    static_cast<void>(line);
    static_cast<void>(depth);
  }
};

class SpanPairing {
 public:
  // Deeper spans are taken as not nested.
  static constexpr std::size_t kMaxDepth = 10'000;

  // All must outlive this. Complete spans are counted to their requests.
  SpanPairing(const exporters::TraceInfo& info, Requests& requests,
              SpanSink& sink);

  // Any record, in the order of the file.
  void add(const exporters::DecodedRecord& record, std::int64_t ns);
  // After the last record: reports what is still open.
  void finish();

  // async_id of the span that a kArgument or kFailure belongs to.
  static std::uint64_t span_of(const exporters::DecodedRecord& late) noexcept;

  // Which request a line works for at present.
  RequestNumber request_of(LineKey line) const;
  // Sum of the durations of a line's roots. Final after finish().
  std::uint64_t root_ns(LineKey line) const;

 private:
  struct Frame {
    PairedSpan span;
    std::uint64_t inside_ns = 0;  // durations of complete spans directly inside
  };
  struct Line {
    std::vector<Frame> stack;  // positions grow from bottom to top
    std::uint64_t root_ns = 0;
    RequestNumber request = 0;
    const Loss* next_loss = nullptr;  // in losses_, and its end
    const Loss* losses_end = nullptr;
  };
  struct EarlyEnd {
    std::int64_t ns = 0;
    std::uint8_t flags = 0;
    SiteId site = SiteId::kNone;
    LineKey line = 0;
    std::uint64_t position = 0;
  };

  Line& line_for(LineKey key);
  void pass_losses(Line& line, std::uint64_t position);
  static std::optional<std::size_t> depth_of(const Line& line,
                                             std::uint64_t position);
  void begin(Line& line, const exporters::DecodedRecord& record,
             std::int64_t ns);
  void end(Line& line, const exporters::DecodedRecord& record,
           std::int64_t ns);
  void end_top(Line& line, const exporters::DecodedRecord& record,
               std::int64_t ns);
  void end_elsewhere(const exporters::DecodedRecord& record, std::int64_t ns);
  void fail(Line& line, const exporters::DecodedRecord& record);
  // Takes the frame off its stack and gives what is inside it to its parent.
  PairedSpan remove(Line& line, std::size_t depth);
  void report_not_nested(PairedSpan span, std::int64_t end_ns,
                         std::uint8_t flags);
  void report(const PairedSpan& span);

  const exporters::TraceInfo& info_;
  Requests& requests_;
  SpanSink& sink_;
  std::vector<Loss> losses_;  // by line, then position
  std::unordered_map<LineKey, Line> lines_;
  Line* last_line_ = nullptr;  // runs are long: mostly the same as before
  LineKey last_key_ = 0;

  // Off their stacks, their end not seen yet. By async_id.
  std::unordered_map<std::uint64_t, PairedSpan> passed_over_;
  // Ends on other threads that lie before their begin in the file. By
  // async_id too.
  std::unordered_map<std::uint64_t, EarlyEnd> early_ends_;
};

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_SPAN_PAIRING_H_
