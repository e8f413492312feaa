// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_COVERAGE_MARKS_H_
#define WEFT_PROFILE_SRC_COVERAGE_MARKS_H_

// Marks in a thread's records that say from where on a session covers it. They
// lie in the thread's own order, so what a session has is exact, wherever it is
// looked at.
//
//   instant, site {category "coverage", name "coverage"}
//   value 0  session's number      value 1  covered from here on: bool

#include <cstdint>

#include "weft/record.h"

namespace weft::profile {

inline constexpr char kCoverageCategory[] = "coverage";

void mark_coverage(std::uint64_t session, bool covered) noexcept;

// The number of the marks' site; kNone while none was ever recorded.
SiteId coverage_site() noexcept;

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_COVERAGE_MARKS_H_
