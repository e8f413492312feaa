// SPDX-License-Identifier: Apache-2.0
#include "marker_library.h"

namespace weft::profile {

const MarkerLibrary& nvtx_library() noexcept {
  static constexpr MarkerLibrary library = {
      "NVTX", "weft was built without NVTX's headers (WEFT_NVTX_INCLUDE)",
      []() noexcept { return false; }, [](const std::string&) noexcept {},
      []() noexcept {}};
  return library;
}

}  // namespace weft::profile
