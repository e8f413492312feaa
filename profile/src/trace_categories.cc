// SPDX-License-Identifier: Apache-2.0
#include "trace_categories.h"

#include "call_decoder.h"
#include "coverage_marks.h"

namespace weft::profile {

std::string categories_for(const ProfilerOptions& options) {
  std::string categories;
  const auto add = [&](const std::string& category) {
    if (!categories.empty()) categories += ',';
    categories += category;
  };
  if (options.activities.count(Activity::kCpu) == 0) {
    // Nothing of the host. Nobody has this one.
    add("+nothing");
    add(kCoverageCategory);
    return categories;
  }
  for (const RecordScope scope : options.scopes) add(category_of(scope));
  if (!options.scopes.empty()) {
    add(kBackendCategory);
    add(kCoverageCategory);
  }
  if (options.profile_memory) add(kMemoryCategory);
  if (options.with_modules) add(kModuleCategory);
  return categories;
}

CallWants wants_for(const ProfilerOptions& options) {
  CallWants wants;
  if (options.activities.count(Activity::kCpu) == 0) return wants;
  wants.inputs = options.record_shapes;
  wants.stacks = options.with_stack;
  return wants;
}

}  // namespace weft::profile
