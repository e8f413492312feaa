// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_SPAN_TREES_H_
#define WEFT_TOOLS_WEFT_SPAN_TREES_H_

// The slowest requests and roots of a trace in full, collected by reading it a
// second time: which ones to keep is known only after the first.

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "async_pairing.h"
#include "trace_summary.h"

namespace weft::tools {

struct SpanTree {
  RequestNumber request = 0;  // 0: the spans inside `root`
  RequestId id;
  PairedSpan root;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  // The longest, by line and position of their begin: so a parent comes before
  // its children, and is there if they are.
  std::vector<PairedSpan> spans;
  std::uint64_t span_count = 0;  // with those that were left out

  std::uint64_t duration_ns() const noexcept {
    return static_cast<std::uint64_t>(end_ns) -
           static_cast<std::uint64_t>(begin_ns);
  }
};

// The `count` slowest requests and roots outside requests, slowest first; their
// spans are still to come. At most as many as the summary kept roots.
std::vector<SpanTree> slowest_trees(const TraceSummary& summary,
                                    std::size_t count);

class SpanTrees : private SpanSink {
 public:
  // Spans kept of one tree, the longest.
  static constexpr std::size_t kMaxSpans = 1000;

  SpanTrees(const exporters::TraceInfo& info, std::vector<SpanTree> trees);

  // Every record again, in the same order; then finish(), once.
  void add(const exporters::DecodedRecord& record, std::int64_t ns);
  void finish();

  const std::vector<SpanTree>& trees() const noexcept { return trees_; }
  // Arguments and failures of a kept span: `bytes=12 FAILED="timeout"`.
  const std::string& arguments(const PairedSpan& span) const;

 private:
  void span(const PairedSpan& span) override;
  void add_arguments(const exporters::DecodedRecord& record);
  SpanTree* tree_of(RequestNumber request, LineKey line,
                    std::uint64_t position);
  void shorten(SpanTree* tree);

  const exporters::TraceInfo& info_;
  std::vector<SpanTree> trees_;
  std::unordered_map<RequestNumber, std::size_t> by_request_;
  std::unordered_map<LineKey, std::vector<std::size_t>> roots_by_line_;
  Requests requests_;  // numbers come out as at the first reading
  SpanPairing pairing_;
  AsyncPairing async_pairing_;
  std::unordered_map<std::uint64_t, std::string> arguments_;  // by async_id
};

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_SPAN_TREES_H_
