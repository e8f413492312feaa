// SPDX-License-Identifier: Apache-2.0
#include "event_name.h"

#include <string_view>

#include "demangle.h"

namespace weft::profile {

std::string trace_name_of(const std::string& recorded, Rules rules) {
  // A single letter would demangle to a type.
  return recorded.size() > 1 ? demangle(recorded, rules) : recorded;
}

std::string row_name_of(const std::string& trace_name) {
  constexpr std::string_view kStep = "ProfilerStep#";
  if (trace_name.compare(0, kStep.size(), kStep) == 0) return "ProfilerStep*";
  return trace_name;
}

}  // namespace weft::profile
