// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_SEGMENT_STOCK_H_
#define WEFT_SRC_SEGMENT_STOCK_H_

// Ring memory of all threads, in three sizes, bounded as a whole.
//
//   kSmall   8 KiB   where a thread begins when there are many
//   kMedium  128 KiB where it begins otherwise
//   kTop     4 MiB   what a thread at full rate needs: 3 ms of spans
//
// A free segment lies on a stack of its size; one more is cut from the arena's
// unused end. When that is used up, a larger free segment is cut into small
// ones. Nothing is merged back: the mix of sizes settles by itself.
//
// take() and give() use no lock and no system call, since a thread may register
// inside a signal handler. The stacks are linked by numbers outside the
// segments (a free segment's memory is not touched), and their heads carry a
// tag against ABA.
//
// The helper keeps some warm segments of each size in stock; a segment cut in
// need by a thread is cold, and its first lap pays 6 to 14 us a page.
//
// Memory order. [K] stack heads: release by give(), acquire by take(), so that
// the last owner's stores are done before the next owner's.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weft/ringbuf/ring_memory.h"
#include "weft/ringbuf/spsc_ring.h"

namespace weft {

enum class Rung : std::uint8_t { kSmall = 0, kMedium = 1, kTop = 2 };
inline constexpr std::size_t kRungs = 3;

class SegmentStock {
 public:
  static constexpr std::size_t kSmallBytes = 8 << 10;
  static constexpr std::size_t kMediumBytes = 128 << 10;

  // `bytes` bounds all segments; `top_bytes` is a power of two.
  bool reserve(std::size_t bytes, std::size_t top_bytes) noexcept;

  // A segment, or none (capacity 0) when the bound is reached.
  // Thread-safe, async-signal-safe.
  ringbuf::Segment take(Rung rung) noexcept;
  void give(const ringbuf::Segment& segment) noexcept;

  ringbuf::Segment at(std::uint64_t offset, std::uint64_t capacity) const noexcept;
  std::size_t bytes_of(Rung rung) const noexcept {
    return sizes_[static_cast<std::size_t>(rung)];
  }
  Rung rung_of(std::uint64_t capacity) const noexcept;

  // What a thread begins with: while three quarters of the bound are free, a ring
  // that holds a burst until the drainer comes; with many threads, a small one.
  Rung first_rung() const noexcept {
    return used_bytes() + kMediumBytes <= bytes_ / 4 ? Rung::kMedium
                                                     : Rung::kSmall;
  }

  // In the hands of threads.
  std::size_t used_bytes() const noexcept {
    return used_.load(std::memory_order_relaxed);  // a figure of its own
  }

  // Helper only. Cuts and warms segments until `count` of this size are free,
  // or they are a quarter of the bound.
  void refill(Rung rung, std::uint32_t count) noexcept;
  std::uint32_t free_count(Rung rung) const noexcept {
    return stacks_[static_cast<std::size_t>(rung)].count.load(
        std::memory_order_relaxed);  // a hint
  }
  // Helper only. Warms up to `count` free segments that release_free() cooled.
  void warm_free(Rung rung, std::uint32_t count) noexcept;
  // Helper only. Gives the memory of free segments back to the system.
  void release_free() noexcept;

 private:
  struct alignas(ringbuf::kCacheLine) Stack {
    std::atomic<std::uint64_t> head{0};  // tag << 32 | segment number + 1
    std::atomic<std::uint32_t> count{0};
  };

  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::uint32_t pop(Rung rung) noexcept;
  void push(Rung rung, std::uint32_t number) noexcept;
  std::uint32_t cut(Rung rung) noexcept;
  bool split_one(Rung rung) noexcept;
  template <class Act>
  void for_free(Rung rung, std::uint32_t count, Act act) noexcept;

  // A segment's number is its offset in small segments.
  ringbuf::RingMemory memory_;
  std::size_t bytes_ = 0;
  std::array<std::size_t, kRungs> sizes_{};
  std::array<Stack, kRungs> stacks_;
  std::atomic<std::size_t> cut_bytes_{0};
  std::atomic<std::size_t> used_{0};
  ringbuf::RingMemory links_memory_;
  std::atomic<std::uint32_t>* links_ = nullptr;  // next in stack, by number
};

}  // namespace weft

#endif  // WEFT_SRC_SEGMENT_STOCK_H_
