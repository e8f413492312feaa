// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_ROW_ORDER_H_
#define WEFT_PROFILE_SRC_ROW_ORDER_H_

#include <vector>

#include "weft/profile/function_event.h"

namespace weft::profile {

// By start, then longest first; equal ones keep their order. Rows are large and
// many: what is sorted are their times, and each row moves once.
void sort_rows(std::vector<FunctionEvent>& rows);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_ROW_ORDER_H_
