// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_SOURCE_LINES_H_
#define WEFT_PROFILE_SRC_SOURCE_LINES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weft::profile {

struct SourceFrame {
  std::string function;  // as the linker names it, if it does; may be empty
  std::string file;
  std::uint32_t line = 0;
  bool inlined = false;
};

// Debug information of one ELF file. There are two forms of this: with libdw,
// and one that knows nothing.
class SourceLines {
 public:
  // Whether the build has a library for it.
  static bool available() noexcept;

  // `descriptor` stays the caller's and must outlive this.
  explicit SourceLines(int descriptor);
  ~SourceLines();
  SourceLines(SourceLines&&) noexcept;
  SourceLines& operator=(SourceLines&&) = delete;

  // The functions at an address, innermost first; the last is the one that is
  // not inlined. Empty: nothing is known.
  std::vector<SourceFrame> at(std::uint64_t address) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_SOURCE_LINES_H_
