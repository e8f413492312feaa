// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_INDEX_QUEUE_H_
#define WEFT_EXPORT_SRC_INDEX_QUEUE_H_

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::exporters {

// Numbers of blocks on their way from one thread to another: one pushes, one
// pops. Holds every block there is, so a push always finds room.
//
// Memory order. Two edges, each a release store read by an acquire load:
//   [A] pushed_: the block's bytes are complete before its number is seen.
//   [B] popped_: the entry was read before the pusher may write over it.
class IndexQueue {
 public:
  explicit IndexQueue(std::size_t capacity)
      : entries_(std::bit_ceil(capacity)) {}

  void push(std::uint32_t index) noexcept {
    const std::size_t at = pushed_.load(std::memory_order_relaxed);  // own
    entries_[at & (entries_.size() - 1)] = index;
    pushed_.store(at + 1, std::memory_order_release);  // [A]
  }

  // False when empty.
  bool pop(std::uint32_t* index) noexcept {
    const std::size_t at = popped_.load(std::memory_order_relaxed);  // own
    if (at == pushed_.load(std::memory_order_acquire)) return false;  // [A]
    *index = entries_[at & (entries_.size() - 1)];
    popped_.store(at + 1, std::memory_order_release);  // [B]
    return true;
  }

  std::size_t size() const noexcept {
    const std::size_t popped = popped_.load(std::memory_order_acquire);  // [B]
    return pushed_.load(std::memory_order_acquire) - popped;  // [A]
  }

 private:
  std::vector<std::uint32_t> entries_;
  std::atomic<std::size_t> pushed_{0};
  std::atomic<std::size_t> popped_{0};
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_INDEX_QUEUE_H_
