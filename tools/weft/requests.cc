// SPDX-License-Identifier: Apache-2.0
#include "requests.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::tools {

RequestNumber Requests::number_of(const exporters::DecodedRecord& context) {
  RequestId id;
  if (context.value_count > 0) id.low = context.values[0].bits;
  if (context.value_count > 1) id.high = context.values[1].bits;
  if (id == RequestId{}) return 0;
  const auto [found, is_new] =
      numbers_.emplace(id, static_cast<RequestNumber>(totals_.size()));
  if (is_new) totals_.push_back({.id = id});
  return found->second;
}

void Requests::add_span(RequestNumber number, std::int64_t begin_ns,
                        std::int64_t end_ns) {
  if (number == 0) return;
  RequestTotals& request = totals_[number];
  if (request.spans++ == 0) {
    request.begin_ns = begin_ns;
    request.end_ns = end_ns;
    return;
  }
  request.begin_ns = std::min(request.begin_ns, begin_ns);
  request.end_ns = std::max(request.end_ns, end_ns);
}

DurationHistogram Requests::durations() const {
  DurationHistogram out;
  for (const RequestTotals& request : totals_)
    if (request.spans != 0) out.add(request.duration_ns());
  return out;
}

std::string request_text(const RequestId& id) {
  if (id.high == 0) return fmt::format("{}", id.low);
  return fmt::format("{:016x}{:016x}", id.high, id.low);
}

}  // namespace weft::tools
