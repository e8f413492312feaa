// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_TRACE_CATEGORIES_H_
#define WEFT_PROFILE_SRC_TRACE_CATEGORIES_H_

#include <string>

#include "call_observers.h"
#include "weft/profile/profiler_options.h"

namespace weft::profile {

// What options mean to the pipeline: the filter of a subscription.
std::string categories_for(const ProfilerOptions& options);

// And to sites of calls.
CallWants wants_for(const ProfilerOptions& options);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_TRACE_CATEGORIES_H_
