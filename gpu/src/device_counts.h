// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_SRC_DEVICE_COUNTS_H_
#define WEFT_GPU_SRC_DEVICE_COUNTS_H_

#include <atomic>
#include <cstdint>

namespace weft {

// Counted by the source's threads, over all inboxes of one source. Relaxed
// everywhere: sums that order nothing; who needs them exact has closed the
// inbox, which waits for the calls inside.
struct DeviceCounts {
  std::atomic<std::uint64_t> delivered{0};
  std::atomic<std::uint64_t> dropped{0};
  std::atomic<std::uint64_t> late{0};
  std::atomic<std::uint64_t> lost{0};
  std::atomic<std::uint64_t> clock_pairs_dropped{0};

  static void add(std::atomic<std::uint64_t>& counter,
                  std::uint64_t count) noexcept {
    counter.fetch_add(count, std::memory_order_relaxed);
  }
};

}  // namespace weft

#endif  // WEFT_GPU_SRC_DEVICE_COUNTS_H_
