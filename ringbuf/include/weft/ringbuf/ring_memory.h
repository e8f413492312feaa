// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_RINGBUF_RING_MEMORY_H_
#define WEFT_RINGBUF_RING_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace weft::ringbuf {

// A stretch of address space, reserved at once and paid for when touched.
// Never moves, so offsets in it are as good as pointers.
//
// One thread at a time. Cold: each call is a system call.
class RingMemory {
 public:
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;

  enum class Use {
    kShared,       // seen by every thread; a forked child keeps a copy
    kWipedOnFork,  // a forked child finds zeros
  };

  RingMemory() = default;
  RingMemory(const RingMemory&) = delete;
  RingMemory& operator=(const RingMemory&) = delete;

  // Reserves `bytes`, rounded up to whole huge pages and aligned to one. False
  // when the system refuses; the object is then empty.
  bool reserve(std::size_t bytes, Use use) noexcept;
  void unmap() noexcept;

  // Gives the pages under [offset, offset + bytes) back to the system; they
  // read as zeros afterwards. Rounded inwards to whole pages.
  void give_back(std::size_t offset, std::size_t bytes) noexcept;

  std::byte* at(std::size_t offset) const noexcept { return base_ + offset; }
  std::size_t bytes() const noexcept { return bytes_; }
  explicit operator bool() const noexcept { return base_ != nullptr; }

 private:
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

// Writes one word to each page of [begin, begin + bytes), so that nobody meets a
// first-touch stall later: 6 to 14 us a page, and populating by madvise does
// not avoid it (DESIGN.md).
void warm(std::byte* begin, std::size_t bytes) noexcept;

}  // namespace weft::ringbuf

#endif  // WEFT_RINGBUF_RING_MEMORY_H_
