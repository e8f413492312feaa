// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_TID_SET_H_
#define WEFT_SRC_TID_SET_H_

#include <cstdint>
#include <vector>

namespace weft {

// Which thread a kernel tid belonged to first. The kernel uses tids again; a
// trace must not, so only the first owner is shown under its tid. A tid beyond
// the table's end counts as used: later threads get synthetic ones. Grows with
// the largest tid seen, 4 bytes each, up to 16 MiB.
class TidSet {
 public:
  // True if `index` is the first thread with this tid.
  bool insert(std::uint32_t tid, std::uint32_t index) {
    constexpr std::uint32_t kMaxTid = 1u << 22;  // the kernel's limit
    if (tid >= kMaxTid) return false;
    std::vector<std::uint32_t>& page = pages_[tid / kPageTids];
    if (page.empty()) page.resize(kPageTids, 0);
    std::uint32_t& owner = page[tid % kPageTids];
    if (owner == 0) owner = index;
    return owner == index;
  }

 private:
  static constexpr std::uint32_t kPageTids = 1024;
  std::vector<std::vector<std::uint32_t>> pages_ =
      std::vector<std::vector<std::uint32_t>>((1u << 22) / kPageTids);
};

}  // namespace weft

#endif  // WEFT_SRC_TID_SET_H_
