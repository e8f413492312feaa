// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_IMPORTED_TRACE_H_
#define WEFT_TOOLS_WEFT_IMPORTED_TRACE_H_

#include <optional>
#include <string>

#include "weft/profile/event_list.h"

namespace weft::tools {

// The rows of any trace that weft reads. What was not read goes to standard
// error, a line each. Empty if the file cannot be read, which it then has said
// why.
std::optional<EventList> import_trace(const std::string& path);

// The averages over those rows; of Chrome JSON by name without keeping them.
std::optional<KeyAverages> key_averages_of(const std::string& path,
                                           const KeyOptions& options);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_IMPORTED_TRACE_H_
