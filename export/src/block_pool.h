// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_BLOCK_POOL_H_
#define WEFT_EXPORT_SRC_BLOCK_POOL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "file_format.h"
#include "weft/result.h"

namespace weft::exporters {

// The memory between drainer and disk: blocks of kMaxBlockBytes, mapped once
// and given back as a whole.
class BlockPool {
 public:
  // Rounds `bytes` down to whole blocks; at least kMinBlocks.
  // Errors: kInvalidArgument, kOutOfMemory.
  static Result<BlockPool> create(std::size_t bytes);
  static constexpr std::size_t kMinBlocks = 4;

  BlockPool(BlockPool&& other) noexcept;
  BlockPool& operator=(BlockPool&&) = delete;
  ~BlockPool();

  std::uint32_t count() const noexcept { return count_; }
  std::uint8_t* block(std::uint32_t index) const noexcept {
    return memory_ + index * kMaxBlockBytes;
  }
  // Gives out each block once, in order: one whose pages nobody has touched.
  // False when there are no more. Thread-safe.
  bool claim(std::uint32_t* index) noexcept;
  std::uint32_t unclaimed() const noexcept {
    return count_ - claimed_.load(std::memory_order_relaxed);
  }
  // Takes the page faults of a block before the drainer would.
  void touch(std::uint32_t index) const noexcept;

 private:
  BlockPool(std::uint8_t* memory, std::uint32_t count) noexcept
      : memory_(memory), count_(count) {}

  std::uint8_t* memory_;
  std::uint32_t count_;
  std::atomic<std::uint32_t> claimed_{0};
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_BLOCK_POOL_H_
