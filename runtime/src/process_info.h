// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_PROCESS_INFO_H_
#define WEFT_SRC_PROCESS_INFO_H_

#include "clock_source.h"
#include "weft/catalog.h"

namespace weft {

// What files say of this process. Cold: reads some files under /proc; what
// cannot be read stays empty.
ProcessInfo describe_process(const ClockSource& clock);

}  // namespace weft

#endif  // WEFT_SRC_PROCESS_INFO_H_
