// SPDX-License-Identifier: Apache-2.0
#include "marker_library.h"

namespace weft::profile {

const MarkerLibrary& itt_library() noexcept {
  static constexpr MarkerLibrary library = {
      "ITT", "weft was built without Intel's ittapi (WEFT_ITTAPI_DIR)",
      []() noexcept { return false; }, [](const std::string&) noexcept {},
      []() noexcept {}};
  return library;
}

}  // namespace weft::profile
