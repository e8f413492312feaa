// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_METADATA_LIST_H_
#define WEFT_SRC_METADATA_LIST_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "weft/record.h"

namespace weft {

// Keys and values of set_metadata(), append-only. Thread-safe without a lock.
class MetadataList {
 public:
  static constexpr std::uint32_t kMaxPairs = 1024;

  // False when the list is full.
  bool add(StringId key, StringId value) noexcept {
    // Relaxed: the number alone; the pair goes with its own release.
    std::uint32_t at = next_.load(std::memory_order_relaxed);
    do {
      if (at == kMaxPairs) return false;
    } while (
        !next_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed));
    pairs_[at].store(std::uint64_t{static_cast<std::uint32_t>(key)} << 32 |
                         static_cast<std::uint32_t>(value),
                     std::memory_order_release);
    return true;
  }

  // One past the last of the pairs that are complete from the start on.
  std::uint32_t end() const noexcept {
    std::uint32_t at = complete_;
    while (at < next_.load(std::memory_order_relaxed) &&
           pairs_[at].load(std::memory_order_acquire) != 0)
      ++at;
    return complete_ = at;
  }
  std::pair<StringId, StringId> pair(std::uint32_t at) const noexcept {
    const std::uint64_t both = pairs_[at].load(std::memory_order_acquire);
    return {static_cast<StringId>(both >> 32),
            static_cast<StringId>(static_cast<std::uint32_t>(both))};
  }

 private:
  std::atomic<std::uint32_t> next_{0};
  std::array<std::atomic<std::uint64_t>, kMaxPairs> pairs_{};
  mutable std::uint32_t complete_ = 0;  // drainer only: where end() got to
};

}  // namespace weft

#endif  // WEFT_SRC_METADATA_LIST_H_
