// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_ASYNC_PAIRING_H_
#define WEFT_TOOLS_WEFT_ASYNC_PAIRING_H_

// Asynchronous spans, which have no line and no self time. Either end may come
// first in the file, which interleaves threads by blocks.

#include <cstdint>
#include <functional>
#include <unordered_map>

#include "span_pairing.h"

namespace weft::tools {

class AsyncPairing {
 public:
  // Called for each: kNotNested, kClipped, kBeginLost or kEndLost.
  using Sink = std::function<void(const PairedSpan&)>;

  AsyncPairing(const exporters::TraceInfo& info, Sink sink)
      : info_(info), sink_(std::move(sink)) {}

  // Any kAsyncBegin or kAsyncEnd; ends of spans of a thread are left alone.
  void add(const exporters::DecodedRecord& record, std::int64_t ns,
           RequestNumber request);
  void finish();

 private:
  struct End {
    std::int64_t ns = 0;
    std::uint8_t flags = 0;
    LineKey line = 0;
    std::uint64_t position = 0;
  };

  void report(PairedSpan span, const End& end);

  const exporters::TraceInfo& info_;
  Sink sink_;
  std::unordered_map<std::uint64_t, PairedSpan> open_;
  std::unordered_map<std::uint64_t, End> early_;
};

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_ASYNC_PAIRING_H_
