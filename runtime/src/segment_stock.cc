// SPDX-License-Identifier: Apache-2.0
#include "segment_stock.h"

namespace weft {

using ringbuf::Segment;
using ringbuf::Slot;

bool SegmentStock::reserve(std::size_t bytes, std::size_t top_bytes) noexcept {
  sizes_ = {kSmallBytes, kMediumBytes, top_bytes};
  bytes_ = bytes / kSmallBytes * kSmallBytes;
  links_ = nullptr;
  if (!memory_.reserve(bytes_, ringbuf::RingMemory::Use::kShared) ||
      !links_memory_.reserve(bytes_ / kSmallBytes * sizeof(*links_),
                             ringbuf::RingMemory::Use::kShared))
    return false;
  links_ = reinterpret_cast<std::atomic<std::uint32_t>*>(links_memory_.at(0));
  return true;
}

Segment SegmentStock::at(std::uint64_t offset,
                         std::uint64_t capacity) const noexcept {
  return {reinterpret_cast<Slot*>(memory_.at(offset)), capacity, offset};
}

Rung SegmentStock::rung_of(std::uint64_t capacity) const noexcept {
  const std::size_t bytes = capacity * sizeof(Slot);
  if (bytes == sizes_[0]) return Rung::kSmall;
  return bytes == sizes_[1] ? Rung::kMedium : Rung::kTop;
}

Segment SegmentStock::take(Rung rung) noexcept {
  std::uint32_t number = pop(rung);
  if (number == kNone) number = cut(rung);
  while (number == kNone && rung == Rung::kSmall &&
         (split_one(Rung::kMedium) || split_one(Rung::kTop)))
    number = pop(rung);
  if (number == kNone) return {};
  used_.fetch_add(bytes_of(rung), std::memory_order_relaxed);
  return at(std::uint64_t{number} * kSmallBytes, bytes_of(rung) / sizeof(Slot));
}

void SegmentStock::give(const Segment& segment) noexcept {
  const Rung rung = rung_of(segment.capacity);
  used_.fetch_sub(bytes_of(rung), std::memory_order_relaxed);
  push(rung, static_cast<std::uint32_t>(segment.offset / kSmallBytes));
}

std::uint32_t SegmentStock::pop(Rung rung) noexcept {
  Stack& stack = stacks_[static_cast<std::size_t>(rung)];
  std::uint64_t head = stack.head.load(std::memory_order_acquire);  // [K]
  for (;;) {
    const auto top = static_cast<std::uint32_t>(head);
    if (top == 0) return kNone;
    // Relaxed: may be stale if somebody popped it meanwhile; the tag tells.
    const std::uint32_t next =
        links_[top - 1].load(std::memory_order_relaxed);
    const std::uint64_t tag = (head >> 32) + 1;
    if (stack.head.compare_exchange_weak(head, tag << 32 | next,
                                         std::memory_order_acquire)) {  // [K]
      stack.count.fetch_sub(1, std::memory_order_relaxed);
      return top - 1;
    }
  }
}

void SegmentStock::push(Rung rung, std::uint32_t number) noexcept {
  Stack& stack = stacks_[static_cast<std::size_t>(rung)];
  stack.count.fetch_add(1, std::memory_order_relaxed);
  std::uint64_t head = stack.head.load(std::memory_order_relaxed);
  std::uint64_t wanted;
  do {
    // Relaxed: published by the head.
    links_[number].store(static_cast<std::uint32_t>(head),
                         std::memory_order_relaxed);
    wanted = ((head >> 32) + 1) << 32 | (number + 1);
  } while (!stack.head.compare_exchange_weak(
      head, wanted, std::memory_order_release,  // [K]
      std::memory_order_relaxed));
}

std::uint32_t SegmentStock::cut(Rung rung) noexcept {
  const std::size_t size = bytes_of(rung);
  std::size_t offset = cut_bytes_.load(std::memory_order_relaxed);
  do {
    if (size > bytes_ - offset) return kNone;
    // Relaxed: the offset alone is shared; the memory is new to everybody.
  } while (!cut_bytes_.compare_exchange_weak(offset, offset + size,
                                             std::memory_order_relaxed));
  return static_cast<std::uint32_t>(offset / kSmallBytes);
}

bool SegmentStock::split_one(Rung rung) noexcept {
  const std::uint32_t number = pop(rung);
  if (number == kNone) return false;
  const auto pieces = static_cast<std::uint32_t>(bytes_of(rung) / kSmallBytes);
  for (std::uint32_t i = 0; i < pieces; ++i) push(Rung::kSmall, number + i);
  return true;
}

void SegmentStock::refill(Rung rung, std::uint32_t count) noexcept {
  // With a small bound, what lies in stock in one size is missing in another.
  const std::size_t share = bytes_ / 4 / bytes_of(rung);
  while (free_count(rung) < count && free_count(rung) < share) {
    const std::uint32_t number = cut(rung);
    if (number == kNone) return;
    ringbuf::warm(memory_.at(std::size_t{number} * kSmallBytes), bytes_of(rung));
    push(rung, number);
  }
}

// Takes up to `count` free segments of a size off their stack while `act` runs
// on each, so that no thread gets one in the meantime. What is held is linked
// as on a stack.
template <class Act>
void SegmentStock::for_free(Rung rung, std::uint32_t count, Act act) noexcept {
  std::uint32_t held = 0;  // number + 1
  for (std::uint32_t number; count > 0 && (number = pop(rung)) != kNone;
       --count) {
    act(std::size_t{number} * kSmallBytes, bytes_of(rung));
    // Relaxed: only this thread has it.
    links_[number].store(held, std::memory_order_relaxed);
    held = number + 1;
  }
  while (held != 0) {
    const std::uint32_t number = held - 1;
    held = links_[number].load(std::memory_order_relaxed);
    push(rung, number);
  }
}

void SegmentStock::warm_free(Rung rung, std::uint32_t count) noexcept {
  for_free(rung, count, [this](std::size_t offset, std::size_t bytes) {
    ringbuf::warm(memory_.at(offset), bytes);
  });
}

void SegmentStock::release_free() noexcept {
  for (const Rung rung : {Rung::kSmall, Rung::kMedium, Rung::kTop})
    for_free(rung, ~std::uint32_t{0}, [this](std::size_t offset, std::size_t bytes) {
      memory_.give_back(offset, bytes);
    });
}

}  // namespace weft
