// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_MARKER_LABEL_H_
#define WEFT_PROFILE_SRC_MARKER_LABEL_H_

#include <string>
#include <vector>

#include "weft/profile/function_input.h"
#include "weft/profile/record_callback.h"

namespace weft::profile {

// What a marker shows of a call; see emit_markers.h.
std::string marker_label(const FunctionCall& call, bool with_shapes);

// "[[2, 3], [], [4]]"; lists of arrays give one element an array.
std::string sizes_text(const std::vector<FunctionInput>& inputs);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_MARKER_LABEL_H_
