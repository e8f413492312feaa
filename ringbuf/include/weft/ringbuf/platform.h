// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_RINGBUF_PLATFORM_H_
#define WEFT_RINGBUF_PLATFORM_H_

#include <atomic>
#include <cstdint>

#include "weft/ringbuf/slot.h"

#if defined(__GNUC__)
#define WEFT_LIKELY(x) __builtin_expect(!!(x), 1)
#define WEFT_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define WEFT_ALWAYS_INLINE inline __attribute__((always_inline))
#else
#define WEFT_LIKELY(x) (!!(x))
#define WEFT_UNLIKELY(x) (!!(x))
#define WEFT_ALWAYS_INLINE inline
#endif

namespace weft::ringbuf {

// What the ring protocols are built on. They are templates over this, so that
// the model checker runs the very same code on its own atomics (tests/model).
struct Platform {
  template <class T>
  using Atomic = std::atomic<T>;

  using Slot = ringbuf::Slot;

  // The margin of a snapshot; models have shorter records and tiny rings.
  static constexpr std::uint32_t kMaxRecordSlots = ringbuf::kMaxRecordSlots;

  // A refill hands out this many slots at most, so that the producer looks at
  // returned promises and offered segments now and then. A refill costs some
  // 20 ns: less than 0.1 ns a slot. Below half of the smallest segment.
  static constexpr std::uint64_t kRefillSlots = 256;

  // Slot words are release stores and acquire loads, because in an overwriting
  // ring a reader may see a word of a record that is not published yet, and
  // must then also see how far the writer was (overwrite_ring.h). On x86-64
  // both are plain moves.
  static WEFT_ALWAYS_INLINE void store(std::uint64_t& word,
                                       std::uint64_t value) noexcept {
    __atomic_store_n(&word, value, __ATOMIC_RELEASE);
  }
  static std::uint64_t load(const std::uint64_t& word) noexcept {
    return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
  }

  // Orders memory accesses against a signal handler of the same thread.
  static WEFT_ALWAYS_INLINE void signal_fence() noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
};

}  // namespace weft::ringbuf

#endif  // WEFT_RINGBUF_PLATFORM_H_
