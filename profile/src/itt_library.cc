// SPDX-License-Identifier: Apache-2.0
#include <ittnotify.h>

#include "marker_library.h"

namespace weft::profile {
namespace {

__itt_domain* domain() noexcept {
  static __itt_domain* const the_domain = __itt_domain_create("weft");
  return the_domain;
}

}  // namespace

const MarkerLibrary& itt_library() noexcept {
  static constexpr MarkerLibrary library = {
      "ITT", nullptr,
      []() noexcept {
        // Loads the collector, which making a domain does not. Without one, no
        // domain is made, or it is switched off.
        __itt_get_collection_state();
        return domain() != nullptr && domain()->flags != 0;
      },
      [](const std::string& label) noexcept {
        __itt_task_begin(domain(), __itt_null, __itt_null,
                         __itt_string_handle_create(label.c_str()));
      },
      []() noexcept { __itt_task_end(domain()); }};
  return library;
}

}  // namespace weft::profile
