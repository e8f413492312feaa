// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_EVENT_LIST_OPTIONS_H_
#define WEFT_PROFILE_EVENT_LIST_OPTIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "weft/profile/rules.h"

namespace weft {

// What the session that made a list recorded, and how its rows are treated.
struct EventListOptions {
  Rules rules = Rules::kWeft;
  bool profile_memory = false;   // memory columns
  bool with_flops = false;       // FLOPs column
  std::string device_name = {};  // of DeviceType::kCustom, as tables show it
  bool build_tree = true;        // false: no row has a parent
  // Merges a range into its parent of the same name when it is the only child:
  // an operator that calls its own overload is one row.
  bool remove_duplicates = true;
  std::map<std::int64_t, std::string> thread_names = {};  // in trace files
  // More members of a trace file's top level: key, and value as JSON text.
  std::vector<std::pair<std::string, std::string>> metadata = {};
};

}  // namespace weft

#endif  // WEFT_PROFILE_EVENT_LIST_OPTIONS_H_
