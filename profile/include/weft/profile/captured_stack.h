// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_CAPTURED_STACK_H_
#define WEFT_PROFILE_CAPTURED_STACK_H_

// Stacks as records carry them: one string id a stack, whose text names frames
// by module and place in it, innermost first. Modules are strings too, so that a
// trace holds all that is needed to find the names later, also of what has been
// unloaded, wherever it was loaded.
//
//   stack    "2f+1a2b;2f+99;31+27d1c"     string id of the module + offset, hex
//   module   "module 8f3c...e1 7f00a000 32000 /usr/lib/libworker.so"
//                     build id  load base  bytes of memory, hex; path
//
// An offset is the return address as the module's file numbers it, such as
// addr2line takes. A frame that no module had is "0+ADDRESS". A stack of more
// frames than are kept ends in ";...".

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/internal/api.h"
#include "weft/record.h"

namespace weft {

struct CapturedFrame {
  StringId module = StringId::kNone;  // kNone: no module; a bare address
  std::uint64_t offset = 0;
};

struct CapturedStack {
  std::vector<CapturedFrame> frames;  // innermost first
  bool cut = false;                   // had more frames
};

struct LoadedModule {
  std::string build_id;  // hex digits; empty: it has none
  std::uint64_t load_base = 0;
  std::uint64_t bytes = 0;
  std::string path;

  friend bool operator==(const LoadedModule&, const LoadedModule&) = default;
};

// Empty for text that is no stack or no module. The text may come from a file.
WEFT_API std::optional<CapturedStack> parse_captured_stack(
    std::string_view text);
WEFT_API std::optional<LoadedModule> parse_loaded_module(std::string_view text);

}  // namespace weft

#endif  // WEFT_PROFILE_CAPTURED_STACK_H_
