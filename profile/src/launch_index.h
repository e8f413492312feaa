// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_LAUNCH_INDEX_H_
#define WEFT_PROFILE_SRC_LAUNCH_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "call_decoder.h"

namespace weft::profile {

// The launches of a session by what their work carries: family of devices and
// correlation.
//
//   entries_   [a1 a1 a1 | b2 | c7 c7 | ...     sorted by key, then by time
//   table_     key -> place of its first entry   open addressing
//
// A number may be used again, and vendors do so after 2^32 launches; hence the
// last launch before a time is asked for.
class LaunchIndex {
 public:
  struct Entry {
    std::uint64_t correlation = 0;
    const Launch* launch = nullptr;
    std::uint32_t family = 0;  // upper bits of the launch word
    bool has_work = false;
  };

  // `launches` must outlive this.
  explicit LaunchIndex(const std::vector<Launch>& launches);

  // The last launch with that number before `ns`; the first, if all were later;
  // null, if there is none. 40 bytes a launch; two cache misses where there are
  // many.
  Entry* find(std::uint32_t family, std::uint64_t correlation,
              std::int64_t ns) noexcept;
  // Those of one key side by side.
  const std::vector<Entry>& entries() const noexcept { return entries_; }

 private:
  std::size_t slot_of(std::uint32_t family,
                      std::uint64_t correlation) const noexcept;

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> table_;  // place + 1; 0: free
  unsigned shift_ = 0;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_LAUNCH_INDEX_H_
