// SPDX-License-Identifier: Apache-2.0
#include <nvtx3/nvToolsExt.h>

#include "marker_library.h"

namespace weft::profile {

const MarkerLibrary& nvtx_library() noexcept {
  static constexpr MarkerLibrary library = {
      "NVTX", nullptr,
      []() noexcept {
        // Without a tool, no domain is made.
        const nvtxDomainHandle_t probe = nvtxDomainCreateA("weft");
        if (probe == nullptr) return false;
        nvtxDomainDestroy(probe);
        return true;
      },
      [](const std::string& label) noexcept {
        nvtxRangePushA(label.c_str());
      },
      []() noexcept { nvtxRangePop(); }};
  return library;
}

}  // namespace weft::profile
