// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_MEMORY_RECORD_H_
#define WEFT_PROFILE_SRC_MEMORY_RECORD_H_

// The instants of memory reports and backend events, as they are written and
// read.

#include <functional>
#include <string_view>

#include "weft/export/decoded_record.h"
#include "weft/profile/raw_event.h"

namespace weft::profile {

inline constexpr char kAllocName[] = "alloc";
inline constexpr char kFreeName[] = "free";
inline constexpr char kOutOfMemoryName[] = "out_of_memory";

// Fills in address, device, bytes (as reported: positive) and totals.
void read_memory_record(const exporters::DecodedRecord& record,
                        MemoryRecord& memory);

// Fills in what was measured. `text` knows interned strings.
void read_backend_record(
    const exporters::DecodedRecord& record, RawEvent& event,
    const std::function<std::string_view(StringId)>& text);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_MEMORY_RECORD_H_
