// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_TRACE_ROWS_H_
#define WEFT_TOOLS_WEFT_TRACE_ROWS_H_

#include <string>
#include <vector>

#include "async_pairing.h"
#include "requests.h"
#include "span_pairing.h"
#include "weft/export/trace_reader.h"
#include "weft/profile/event_list.h"

namespace weft::tools {

// The spans of a .weft file as rows of the profiler. Each thread is a thread,
// its signal handlers are another. Spans that ended elsewhere or out of order
// are asynchronous rows; those that lack an end or a begin are left out.
class TraceRows : private SpanSink {
 public:
  // `info` must outlive this.
  explicit TraceRows(const exporters::TraceInfo& info);

  // Every record, in the order of the file; then finish(), once.
  void add(const exporters::DecodedRecord& record, std::int64_t ns);
  void finish();

  // Rows count from the first of them. Ends the object's use.
  EventList take();
  // How many spans were left out.
  std::uint64_t incomplete() const noexcept { return incomplete_; }

 private:
  void span(const PairedSpan& span) override;

  const exporters::TraceInfo& info_;
  Requests requests_;
  SpanPairing pairing_;
  AsyncPairing async_;
  std::vector<FunctionEvent> rows_;
  std::uint64_t incomplete_ = 0;
};

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_TRACE_ROWS_H_
