// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_SLOWEST_ROOTS_H_
#define WEFT_TOOLS_WEFT_SLOWEST_ROOTS_H_

// The longest root spans of a trace, in memory that does not grow with it.
//
// Whether a span is a root is known only when all that was open around it has
// ended: a main() that never ends makes its children roots. So each place of a
// line's stack keeps the longest spans that would be roots if nothing further
// out is complete.

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "span_pairing.h"

namespace weft::tools {

class SlowestRoots {
 public:
  explicit SlowestRoots(std::size_t count) : count_(count) {}

  // A complete span; one that belongs to a request is no root of its own.
  void add(const PairedSpan& span);
  void left_stack(LineKey line, std::size_t depth);

  // Once, after everything: longest first.
  std::vector<PairedSpan> take();

 private:
  using Longest = std::vector<PairedSpan>;  // a heap, the shortest on top

  void add_to(Longest* longest, const PairedSpan& span) const;
  std::vector<Longest>& places_of(LineKey line);

  std::size_t count_;
  // [line][depth]: candidates directly inside the frame at depth - 1.
  std::unordered_map<LineKey, std::vector<Longest>> places_;
  std::vector<Longest>* last_places_ = nullptr;
  LineKey last_line_ = 0;
};

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_SLOWEST_ROOTS_H_
