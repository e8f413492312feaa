// SPDX-License-Identifier: Apache-2.0
#include "block_pool.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace weft::exporters {
namespace {

constexpr std::size_t kMaxBlocks = std::size_t{1} << 20;  // 256 GiB
constexpr std::size_t kPageBytes = 4096;  // larger pages are touched too often

}  // namespace

Result<BlockPool> BlockPool::create(std::size_t bytes) {
  const std::size_t count = bytes / kMaxBlockBytes;
  if (count < kMinBlocks || count > kMaxBlocks) {
    return Error{ErrorCode::kInvalidArgument,
                 "block_pool_bytes is " + std::to_string(bytes) +
                     ", its limits are " +
                     std::to_string(kMinBlocks * kMaxBlockBytes) + " and " +
                     std::to_string(kMaxBlocks * kMaxBlockBytes)};
  }
  void* memory = mmap(nullptr, count * kMaxBlockBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Error{ErrorCode::kOutOfMemory,
                 "block_pool_bytes of " + std::to_string(bytes) +
                     " could not be mapped: " + std::strerror(errno)};
  }
  return BlockPool(static_cast<std::uint8_t*>(memory),
                   static_cast<std::uint32_t>(count));
}

BlockPool::BlockPool(BlockPool&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      count_(other.count_),
      claimed_(other.claimed_.load(std::memory_order_relaxed)) {}

BlockPool::~BlockPool() {
  if (memory_ != nullptr) munmap(memory_, count_ * kMaxBlockBytes);
}

bool BlockPool::claim(std::uint32_t* index) noexcept {
  // Relaxed: the number alone; nobody has written to the block.
  std::uint32_t next = claimed_.load(std::memory_order_relaxed);
  do {
    if (next == count_) return false;
  } while (!claimed_.compare_exchange_weak(next, next + 1,
                                           std::memory_order_relaxed));
  *index = next;
  return true;
}

void BlockPool::touch(std::uint32_t index) const noexcept {
  for (std::size_t at = 0; at < kMaxBlockBytes; at += kPageBytes) {
    // Through volatile, or the store would be dropped as dead.
    *static_cast<volatile std::uint8_t*>(block(index) + at) = 0;
  }
}

}  // namespace weft::exporters
