// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_SNAPSHOT_REQUEST_H_
#define WEFT_SRC_SNAPSHOT_REQUEST_H_

#include <string>

#include "live_figures.h"

namespace weft {

// request_snapshot() for the helper: false while a control call runs, which may
// be waiting for it.
bool try_request_snapshot(const std::string& reason);

// The process's budgets.
SpanBudgets& span_budgets();

}  // namespace weft

#endif  // WEFT_SRC_SNAPSHOT_REQUEST_H_
