// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_CUPTI_BUFFER_POOL_H_
#define WEFT_GPU_CUPTI_BUFFER_POOL_H_

// The buffers that CUPTI writes activities into.
//
//   free --hand_out()--> CUPTI's --take_back()--> full --next(), give_back()--+
//    ^                                                                        |
//    +------------------------------------------------------------------------+
//
// hand_out() and take_back() run on threads of the program, inside its CUDA
// calls, so they neither allocate nor lock: a buffer is one bit in a word of
// those that are free or of those that are full. A queue would do as well but
// for the memory that it takes when a thread puts something in for the first
// time.
//
// Invariants:
//   B1  A buffer whose bit is in neither word is CUPTI's: nobody reads, clears
//       or frees it, however long that takes.
//   B2  Buffers are faulted in before their bit is set for the first time.
//   B3  A free buffer is all zeros, so CUPTI need not clear it.
//
// Memory order. Two edges:
//   [F] free_: what give_back() and grow() wrote is there before hand_out()
//       can claim the bit.
//   [D] full_: what CUPTI and take_back() wrote is there before next() sees it.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::cupti {

class BufferPool {
 public:
  static constexpr std::size_t kBufferBytes = std::size_t{256} << 10;
  static constexpr std::size_t kMostBuffers = 128;
  // Handed out when nothing else is left to a CUPTI that cannot take no for an
  // answer. What lands in them is counted and thrown away.
  static constexpr std::size_t kSacrifices = 4;

  struct Filled {
    std::size_t place = 0;
    std::uint8_t* data = nullptr;
    std::size_t valid_bytes = 0;
    std::uint32_t run = 0;  // that it was handed out in
    bool sacrifice = false;
  };

  BufferPool() = default;
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();  // for pools that CUPTI never saw

  // Any thread. Hot. Null when none is free.
  std::uint8_t* hand_out(bool may_refuse) noexcept;
  // Any thread. Hot. A pointer that is not out is counted and left alone.
  void take_back(std::uint8_t* data, std::size_t valid_bytes) noexcept;

  // Thread-safe. Cold. The next full buffer is the caller's until it gives it
  // back; false: there is none.
  bool next(Filled* filled) noexcept;
  void give_back(const Filled& filled) noexcept;

  // One thread at a time. Cold.
  //
  // Makes buffers until there are `buffers` (at most kMostBuffers), and the
  // sacrifices. False when memory ran out; what was made stays.
  bool grow(std::size_t buffers);
  void begin_run() noexcept { run_.fetch_add(1, std::memory_order_relaxed); }

  std::uint32_t run() const noexcept {
    return run_.load(std::memory_order_relaxed);
  }
  std::size_t size() const noexcept { return made_; }
  std::size_t free() const noexcept;
  // In CUPTI's hands.
  std::size_t outstanding() const noexcept {
    return outstanding_.load(std::memory_order_acquire);
  }
  std::uint64_t strange() const noexcept {
    return strange_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t kAll = kMostBuffers + kSacrifices;
  static constexpr std::size_t kWords = (kAll + 63) / 64;
  struct Buffer {
    std::atomic<std::uint8_t*> data{nullptr};
    std::size_t valid_bytes = 0;
    std::uint32_t run = 0;
    std::atomic<bool> out{false};
  };

  bool make(std::size_t place);
  std::uint8_t* claim(std::size_t word, std::uint64_t among) noexcept;

  std::array<Buffer, kAll> buffers_;
  std::array<std::atomic<std::uint64_t>, kWords> free_{};
  std::array<std::atomic<std::uint64_t>, kWords> full_{};
  // Relaxed unless said: sums that order nothing.
  std::atomic<std::size_t> outstanding_{0};
  std::atomic<std::uint64_t> strange_{0};
  std::atomic<std::uint32_t> run_{0};
  std::size_t made_ = 0;
};

}  // namespace weft::cupti

#endif  // WEFT_GPU_CUPTI_BUFFER_POOL_H_
