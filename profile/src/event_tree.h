// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_EVENT_TREE_H_
#define WEFT_PROFILE_SRC_EVENT_TREE_H_

// The steps that turn loose rows into a list's tree, in the order of their use.

#include <cstdint>
#include <vector>

#include "weft/profile/function_event.h"
#include "weft/profile/rules.h"

namespace weft::profile {

// Sets parent and children. Returns the number of ranges that overlap another
// of their thread without nesting; these are marked.
std::uint64_t link_parents(std::vector<FunctionEvent>& events, Rules rules);

// Merges single children into parents of the same name, however deep. Returns
// how many rows went away.
std::uint64_t merge_duplicates(std::vector<FunctionEvent>& events, Rules rules);

// Gives backward ranges, and what runs inside them, the stack of the forward
// range with their sequence number.
void inherit_forward_stacks(std::vector<FunctionEvent>& events, Rules rules);

// Fills in the totals and self figures. `custom_device`: a session of the
// reference counts either the custom device or CUDA.
void derive_metrics(std::vector<FunctionEvent>& events, Rules rules,
                    bool custom_device);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_EVENT_TREE_H_
