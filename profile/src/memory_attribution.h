// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_MEMORY_ATTRIBUTION_H_
#define WEFT_PROFILE_SRC_MEMORY_ATTRIBUTION_H_

#include <span>
#include <vector>

#include "weft/profile/function_event.h"
#include "weft/profile/memory_record.h"
#include "weft/profile/rules.h"

namespace weft::profile {

// The record's bytes, in the class of its device.
MemoryUsage usage_of(const MemoryRecord& record, Rules rules);

// Adds each memory record to the ranges it falls into, but for what failed.
// Returns which were added. Record times are those of `events`.
//
// weft: the innermost range open on the record's thread and what holds that
// range. Reference: every host range at that time, ends included, whatever
// its thread.
std::vector<bool> attribute_memory(std::vector<FunctionEvent>& events,
                                   std::span<const MemoryRecord> records,
                                   Rules rules);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_MEMORY_ATTRIBUTION_H_
