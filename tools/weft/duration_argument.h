// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_DURATION_ARGUMENT_H_
#define WEFT_TOOLS_WEFT_DURATION_ARGUMENT_H_

#include <chrono>
#include <optional>
#include <string_view>

namespace weft::tools {

// A duration above 0 as typed on a command line: a number, which may have
// decimals, and one of ns, us, ms, s, m, h.
std::optional<std::chrono::nanoseconds> duration_argument(
    std::string_view text);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_DURATION_ARGUMENT_H_
