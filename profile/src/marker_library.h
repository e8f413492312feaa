// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_MARKER_LIBRARY_H_
#define WEFT_PROFILE_SRC_MARKER_LIBRARY_H_

// What emission needs of a library that hands ranges on to tools.

#include <string>

namespace weft::profile {

struct MarkerLibrary {
  const char* name;          // as messages call it
  const char* why_missing;   // null: this build has it
  // Whether a tool listens. Loads it at the first call. Cold.
  bool (*attached)() noexcept;
  // Of the calling thread, nested. Thread-safe.
  void (*begin)(const std::string& label) noexcept;
  void (*end)() noexcept;
};

const MarkerLibrary& nvtx_library() noexcept;
const MarkerLibrary& itt_library() noexcept;

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_MARKER_LIBRARY_H_
