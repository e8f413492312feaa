// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_LIVE_PAGE_H_
#define WEFT_TOOLS_WEFT_LIVE_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace weft::tools {

// What one metrics page of a process says; see weft/live.h.
struct LivePage {
  struct Span {
    std::uint64_t count = 0;
    double total = 0;                          // seconds
    double p50 = 0, p99 = 0, p999 = 0, greatest = 0;
  };
  std::map<std::string, Span> spans;  // by name
  std::uint64_t delivered = 0;
  std::uint64_t dropped = 0;
  std::uint64_t over_budget = 0;
};

// Lines that it does not know are left out.
LivePage parse_live_page(std::string_view text);

// The busiest `rows` names by their share of time since `before`, as a table,
// under a line of totals. `seconds` lie between the two.
std::string live_text(const LivePage& before, const LivePage& now,
                      double seconds, std::size_t rows, std::size_t width);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_LIVE_PAGE_H_
