// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_BACKEND_EVENT_H_
#define WEFT_PROFILE_BACKEND_EVENT_H_

#include <cstdint>
#include <string_view>

#include "weft/internal/api.h"
#include "weft/profile/record_scope.h"

namespace weft {

// A range of the calling thread that something else has measured and that is
// over. Times are ns of CLOCK_MONOTONIC.
struct BackendEvent {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t debug_handle = -1;  // see ProfilerOptions::post_process
  RecordScope scope = RecordScope::kFunction;
  std::string_view name{};
  std::string_view backend{};
};

// Adds it to the sessions that cover this thread now; without one it is ignored.
// The texts are copied. Thread-safe. Warm.
WEFT_API void report_backend_event(const BackendEvent& event) noexcept;

}  // namespace weft

#endif  // WEFT_PROFILE_BACKEND_EVENT_H_
