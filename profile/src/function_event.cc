// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/function_event.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace weft {

std::string to_string(const std::vector<Shape>& shapes) {
  return fmt::format("{}", shapes);
}

}  // namespace weft
