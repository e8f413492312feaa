// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_FOLDED_SPANS_H_
#define WEFT_TOOLS_WEFT_FOLDED_SPANS_H_

// Where time went, as stacks: which span inside which, or the frames that were
// recorded with each, and the time that was spent right there.

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "weft/profile/event_list.h"

namespace weft::tools {

// A frame and all that is above it. Children by name, so that the same file
// gives the same picture.
struct StackNode {
  std::int64_t self_ns = 0;
  std::map<std::string, std::unique_ptr<StackNode>> children;

  StackNode& child(const std::string& name);
};

// What the stacks are made of.
enum class FrameSource : std::uint8_t {
  kAuto,      // recorded frames if any row has some
  kSpans,     // names of the spans around
  kRecorded,  // the rows' own stacks, with the row's name as innermost frame
};

// The root has no name.
std::unique_ptr<StackNode> stack_tree(const EventList& events,
                                      StackMetric metric, FrameSource source);

// Lines "outermost;...;innermost N", N in `unit_ns`; those of 0 are left out.
std::string folded_text(const StackNode& root, std::int64_t unit_ns);

// A picture: a box a frame, as wide as its time; parents below.
std::string flame_graph_svg(const StackNode& root, const std::string& title);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_FOLDED_SPANS_H_
