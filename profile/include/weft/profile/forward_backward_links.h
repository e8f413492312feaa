// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_FORWARD_BACKWARD_LINKS_H_
#define WEFT_PROFILE_FORWARD_BACKWARD_LINKS_H_

// Which forward range each backward range goes back to: of those with its
// sequence number on its forward thread, the one that began last.

#include <cstddef>
#include <vector>

#include "weft/profile/function_event.h"

namespace weft {

struct ForwardBackwardLink {
  std::size_t forward;  // positions in the list
  std::size_t backward;

  bool operator==(const ForwardBackwardLink&) const = default;
};

// In the order in which the backward ranges ended. A forward range has one link
// at most: to the first of its backward ranges that ended.
std::vector<ForwardBackwardLink> forward_backward_links(
    const std::vector<FunctionEvent>& events);

}  // namespace weft

#endif  // WEFT_PROFILE_FORWARD_BACKWARD_LINKS_H_
