// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_RINGBUF_SIDE_RING_H_
#define WEFT_RINGBUF_SIDE_RING_H_

// A bounded queue of short records with any number of producers and one
// consumer, for the few that cannot use a ring of their own: signal handlers
// that interrupted a record of their thread, and threads that are ending.
//
// A ring of cells; each cell holds one record and a turn number that says whose
// move it is (D. Vyukov's bounded queue):
//
//   turn == n          free for the record number n
//   turn == n + 1      record n is complete, the consumer may read it
//   turn == n + cells  free again, for the record one lap later
//
// A producer never waits for another: it takes a number by compare-exchange
// and loses at most to somebody who got one. It may be interrupted for good
// in the middle of a cell; then the consumer stops there, the others find the
// ring full after a lap, and are told so. Nothing is allocated: usable from a
// signal handler at any instruction, nested to any depth.
//
// Memory order. [F] turn, producer -> consumer: the cell is complete.
//               [G] turn, consumer -> producer: the cell has been read.

#include <array>
#include <atomic>
#include <cstdint>

#include "weft/ringbuf/cache_line.h"
#include "weft/ringbuf/platform.h"
#include "weft/ringbuf/slot.h"

namespace weft::ringbuf {

template <class P, std::uint32_t kCells>
class BasicSideRing {
 public:
  static constexpr std::uint32_t kCellSlots = 8;
  static_assert((kCells & (kCells - 1)) == 0, "a power of two");

  struct Cell {
    typename P::template Atomic<std::uint64_t> turn{0};
    std::uint32_t owner = 0;  // the thread that recorded
    std::uint32_t count = 0;  // slots
    std::array<typename P::Slot, kCellSlots> slots{};
  };

  BasicSideRing() noexcept {
    for (std::uint64_t i = 0; i < kCells; ++i)
      // Relaxed: before any producer can know this object.
      cells_[i].turn.store(i, std::memory_order_relaxed);
  }

  // Any thread, any signal handler. The cell to fill and its number; null when
  // the ring is full.
  Cell* claim(std::uint64_t* number) noexcept {
    // Relaxed: only a first guess; the cell's turn decides.
    std::uint64_t n = next_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[n & (kCells - 1)];
      const std::uint64_t turn = cell.turn.load(std::memory_order_acquire);  // [G]
      if (turn == n) {
        // Relaxed: the number alone is shared here, the data go with [F].
        if (next_.compare_exchange_weak(n, n + 1, std::memory_order_relaxed,
                                        std::memory_order_relaxed)) {
          *number = n;
          return &cell;
        }
      } else if (turn < n) {
        return nullptr;
      } else {
        n = next_.load(std::memory_order_relaxed);
      }
    }
  }

  void publish(Cell* cell, std::uint64_t number) noexcept {
    cell->turn.store(number + 1, std::memory_order_release);  // [F]
  }

  // Consumer only. How many records in a row are complete.
  std::uint32_t ready() const noexcept {
    std::uint32_t count = 0;
    while (count < kCells) {
      const std::uint64_t n = read_ + count;
      if (cells_[n & (kCells - 1)].turn.load(std::memory_order_acquire) !=
          n + 1)  // [F]
        break;
      ++count;
    }
    return count;
  }

  // Consumer only. The next complete record, or null.
  const Cell* front() const noexcept {
    const Cell& cell = cells_[read_ & (kCells - 1)];
    if (cell.turn.load(std::memory_order_acquire) != read_ + 1)  // [F]
      return nullptr;
    return &cell;
  }
  std::uint64_t front_number() const noexcept { return read_; }

  void pop() noexcept {
    cells_[read_ & (kCells - 1)].turn.store(read_ + kCells,
                                            std::memory_order_release);  // [G]
    ++read_;
  }

 private:
  alignas(kCacheLine) typename P::template Atomic<std::uint64_t> next_{0};
  alignas(kCacheLine) std::uint64_t read_ = 0;
  alignas(kCacheLine) std::array<Cell, kCells> cells_;
};

}  // namespace weft::ringbuf

#endif  // WEFT_RINGBUF_SIDE_RING_H_
