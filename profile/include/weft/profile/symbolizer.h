// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SYMBOLIZER_H_
#define WEFT_PROFILE_SYMBOLIZER_H_

// From modules and offsets to functions and source lines, any time after they
// were captured, on any machine that has the files.
//
//   weft::Symbolizer symbolizer;
//   for (const std::string& frame :
//        symbolizer.frames(text_of_stack, [&](StringId id) { return info.text(id); }))
//     std::cout << frame << '\n';    // "server.cc(57): serve(Request const&)"
//
// Functions come from the symbol tables of the module or of its debug file; that
// one is looked for by build id, as distributions and `objcopy
// --only-keep-debug` lay them out. Lines, and functions that were inlined, come
// from debug information, if weft was built with elfutils' libdw
// (WEFT_WITH_LIBDW). A file whose build id is not the captured one is not used:
// the program has been built again since.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/internal/api.h"
#include "weft/profile/captured_stack.h"
#include "weft/record.h"

namespace weft {

struct SymbolizerOptions {
  // Where debug files lie: DIR/.build-id/8f/3c...e1.debug, and for those without
  // build id DIR/usr/lib/libworker.so.debug.
  std::vector<std::string> debug_dirs{"/usr/lib/debug"};
  // Put in front of modules' paths, for files of another machine.
  std::string root{};
  bool source_lines = true;  // false: faster, symbol tables only
};

struct ResolvedFrame {
  std::string function;  // demangled; empty: not known
  std::string file;      // empty: not known
  std::uint32_t line = 0;
  bool inlined = false;  // has no frame of its own
  std::string module;    // name of its file without folders; empty: none
  std::uint64_t offset = 0;

  // "file(line): function", "module: function", "module+0x1234", "0x1234".
  WEFT_API std::string text() const;
};

// Thread-safe for none: one thread at a time. Cold: reads files.
class WEFT_API Symbolizer {
 public:
  explicit Symbolizer(SymbolizerOptions options = {});
  Symbolizer(Symbolizer&&) noexcept;
  Symbolizer& operator=(Symbolizer&&) noexcept;
  ~Symbolizer();

  // The functions at a return address, innermost first: those inlined there, and
  // the one that has the frame. At least one. Valid until the next call.
  const std::vector<ResolvedFrame>& resolve(const LoadedModule& module,
                                            std::uint64_t offset);

  // The frames of a captured stack in words, innermost first, without those that
  // belong to weft's recording; text that is no stack is its own only frame.
  // `text_of` gives the text of module ids.
  std::vector<std::string> frames(
      std::string_view stack,
      const std::function<std::string_view(StringId)>& text_of);

  // Why frames were left without names or lines, a sentence a module.
  std::vector<std::string> problems() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Whether this build of weft finds source lines.
WEFT_API bool source_lines_available() noexcept;

}  // namespace weft

#endif  // WEFT_PROFILE_SYMBOLIZER_H_
