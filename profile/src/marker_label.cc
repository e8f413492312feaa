// SPDX-License-Identifier: Apache-2.0
#include "marker_label.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

namespace weft::profile {

std::string sizes_text(const std::vector<FunctionInput>& inputs) {
  std::vector<Shape> shapes;
  for (const FunctionInput& input : inputs) {
    if (input.kind == FunctionInput::Kind::kArrayList) {
      shapes.insert(shapes.end(), input.list_sizes.begin(),
                    input.list_sizes.end());
    } else {
      shapes.push_back(input.sizes);  // none for what is no array
    }
  }
  return fmt::format("{}", shapes);
}

std::string marker_label(const FunctionCall& call, bool with_shapes) {
  std::string label(call.name);
  const auto out = std::back_inserter(label);
  if (call.sequence_nr >= 0)
    fmt::format_to(out, ", {} = {}",
                   call.scope == RecordScope::kBackwardFunction ? "fwd_seq"
                                                                : "seq",
                   call.sequence_nr);
  if (call.handle != 0) fmt::format_to(out, ", op_id = {}", call.handle);
  if (with_shapes)
    fmt::format_to(out, ", sizes = {}", sizes_text(call.inputs().inputs));
  return label;
}

}  // namespace weft::profile
