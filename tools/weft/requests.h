// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_REQUESTS_H_
#define WEFT_TOOLS_WEFT_REQUESTS_H_

// The requests of a trace: which one each thread works for, and from when to
// when each was worked for by anybody.

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "duration_histogram.h"
#include "weft/export/decoded_record.h"
#include "weft/request.h"

namespace weft::tools {

// Number of a request in one Requests, in the order they were met. 0: none.
using RequestNumber = std::uint32_t;

struct RequestTotals {
  RequestId id;
  std::int64_t begin_ns = 0;  // of its first span
  std::int64_t end_ns = 0;    // of its last
  std::uint64_t spans = 0;    // complete ones; 0: the times mean nothing

  std::uint64_t duration_ns() const noexcept {
    return static_cast<std::uint64_t>(end_ns) -
           static_cast<std::uint64_t>(begin_ns);
  }
};

class Requests {
 public:
  Requests() : totals_(1) {}

  // The request that a kContext record names.
  RequestNumber number_of(const exporters::DecodedRecord& context);

  // A complete span of `number` was found.
  void add_span(RequestNumber number, std::int64_t begin_ns,
                std::int64_t end_ns);

  // How long the requests took that have a complete span.
  DurationHistogram durations() const;

  // By number; [0] is no request.
  const std::vector<RequestTotals>& totals() const noexcept { return totals_; }

 private:
  struct Hash {
    std::size_t operator()(const RequestId& id) const noexcept {
      return static_cast<std::size_t>(
          (id.low ^ id.high * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu >> 7);
    }
  };

  std::vector<RequestTotals> totals_;
  std::unordered_map<RequestId, RequestNumber, Hash> numbers_;
};

// Decimal for 64-bit ids, 32 hexadecimal digits for W3C trace ids.
std::string request_text(const RequestId& id);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_REQUESTS_H_
