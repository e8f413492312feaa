// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_SESSION_COVERAGE_H_
#define WEFT_PROFILE_SRC_SESSION_COVERAGE_H_

// Which sessions run, and which exclude each other: two of one thread, or two of
// all threads.

#include <memory>

#include "call_observers.h"
#include "weft/profile/profiler_options.h"
#include "weft/result.h"

namespace weft::profile {

// Enters a session. Errors: kBusy, naming both.
Result<void> claim_coverage(const std::shared_ptr<SharedSession>& session);
// On any thread.
void give_up_coverage(SharedSession& session) noexcept;

// A session's number: unique in the process.
std::uint64_t next_session_number() noexcept;

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_SESSION_COVERAGE_H_
