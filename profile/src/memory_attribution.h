// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_MEMORY_ATTRIBUTION_H_
#define WEFT_PROFILE_SRC_MEMORY_ATTRIBUTION_H_

#include <cstddef>
#include <vector>

#include "weft/profile/function_event.h"
#include "weft/profile/raw_event.h"
#include "weft/profile/rules.h"

namespace weft::profile {

// The record's bytes, in the class of its device.
MemoryUsage usage_of(const RawEvent& record, Rules rules);

// Adds each memory record to the ranges it falls into. Returns those that fall
// into none, in the order given. Record times are those of `events`.
//
// weft: the innermost range open on the record's thread and what holds that
// range. Reference: every host range at that time, ends included, whatever
// its thread.
std::vector<RawEvent> attribute_memory(std::vector<FunctionEvent>& events,
                                       std::vector<RawEvent> records,
                                       Rules rules);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_MEMORY_ATTRIBUTION_H_
