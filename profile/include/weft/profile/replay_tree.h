// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_REPLAY_TREE_H_
#define WEFT_PROFILE_REPLAY_TREE_H_

// The other tree of PyTorch 2.2.2: that of its collector, which nests by what
// is open when something starts, across threads too. Its rules differ from
// those of EventList, whose tree is the one that weft shows; this one serves to
// compare with trees that the reference wrote.
//
//   Events are replayed by start alone. Before each, what ended strictly before
//   its start is closed. Then the open event of its thread is its parent, or
//   that of its forward thread. What touches nests; what overlaps nests.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "weft/profile/function_event.h"

namespace weft::reference {

struct ReplayEvent {
  std::int64_t thread = 1;
  std::int64_t start_ns = 0;
  std::optional<std::int64_t> end_ns;  // none: it never ended
  std::int64_t fwd_thread = 0;
};

struct ReplayNode {
  std::size_t parent = kNoEvent;
  // Without an end of its own an event is finished, with a borrowed end, when
  // what holds it closes.
  bool finished = false;
  std::int64_t end_ns = 0;
};

// A node for each event, at its position.
std::vector<ReplayNode> replay_tree(const std::vector<ReplayEvent>& events);

}  // namespace weft::reference

#endif  // WEFT_PROFILE_REPLAY_TREE_H_
