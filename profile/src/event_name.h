// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_EVENT_NAME_H_
#define WEFT_PROFILE_SRC_EVENT_NAME_H_

#include <string>

#include "weft/profile/rules.h"

namespace weft::profile {

// How a row is called in a trace, and in tables, where all steps are one row.
std::string trace_name_of(const std::string& recorded, Rules rules);
std::string row_name_of(const std::string& trace_name);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_EVENT_NAME_H_
