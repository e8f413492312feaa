// SPDX-License-Identifier: Apache-2.0
#include "cupti/buffer_pool.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

namespace weft::cupti {
namespace {

constexpr std::size_t kPage = 4096;

constexpr std::uint64_t bit_of(std::size_t place) {
  return std::uint64_t{1} << (place % 64);
}

}  // namespace

BufferPool::~BufferPool() {
  for (Buffer& buffer : buffers_)
    std::free(buffer.data.load(std::memory_order_relaxed));
}

bool BufferPool::make(std::size_t place) {
  Buffer& buffer = buffers_[place];
  if (buffer.data.load(std::memory_order_relaxed) != nullptr) return true;
  auto* data =
      static_cast<std::uint8_t*>(std::aligned_alloc(kPage, kBufferBytes));
  if (data == nullptr) return false;
  std::memset(data, 0, kBufferBytes);
  // Released by the bit [F]; take_back() of a wrong pointer looks as well.
  buffer.data.store(data, std::memory_order_release);
  free_[place / 64].fetch_or(bit_of(place), std::memory_order_release);  // [F]
  return true;
}

bool BufferPool::grow(std::size_t buffers) {
  for (std::size_t i = kMostBuffers; i < kAll; ++i)
    if (!make(i)) return false;
  for (; made_ < std::min(buffers, kMostBuffers); ++made_)
    if (!make(made_)) return false;
  return true;
}

std::uint8_t* BufferPool::claim(std::size_t word,
                                std::uint64_t among) noexcept {
  // Relaxed: only a hint of which bit to try.
  std::uint64_t seen = free_[word].load(std::memory_order_relaxed) & among;
  while (seen != 0) {
    const std::uint64_t bit = seen & (~seen + 1);
    const std::uint64_t before =
        free_[word].fetch_and(~bit, std::memory_order_acquire);  // [F]
    if ((before & bit) != 0) {
      Buffer& buffer =
          buffers_[word * 64 + static_cast<std::size_t>(std::countr_zero(bit))];
      buffer.run = run();
      outstanding_.fetch_add(1, std::memory_order_relaxed);
      // Released to take_back() by CUPTI itself, and by this in any case.
      buffer.out.store(true, std::memory_order_release);
      return buffer.data.load(std::memory_order_relaxed);
    }
    seen = before & among & ~bit;
  }
  return nullptr;
}

std::uint8_t* BufferPool::hand_out(bool may_refuse) noexcept {
  constexpr std::size_t kSacrificeWord = kMostBuffers / 64;
  for (std::size_t word = 0; word < kSacrificeWord; ++word)
    if (std::uint8_t* data = claim(word, ~std::uint64_t{0}); data != nullptr)
      return data;
  return may_refuse ? nullptr : claim(kSacrificeWord, ~std::uint64_t{0});
}

void BufferPool::take_back(std::uint8_t* data,
                           std::size_t valid_bytes) noexcept {
  for (std::size_t place = 0; place < kAll; ++place) {
    Buffer& buffer = buffers_[place];
    if (buffer.data.load(std::memory_order_acquire) != data) continue;
    // Pairs with hand_out(): of two returns of one buffer the second is
    // strange.
    if (data == nullptr ||
        !buffer.out.exchange(false, std::memory_order_acq_rel))
      break;
    buffer.valid_bytes = std::min(valid_bytes, kBufferBytes);
    full_[place / 64].fetch_or(bit_of(place),
                               std::memory_order_release);  // [D]
    // After the bit: who sees none outstanding finds all of them full.
    outstanding_.fetch_sub(1, std::memory_order_release);
    return;
  }
  strange_.fetch_add(1, std::memory_order_relaxed);
}

bool BufferPool::next(Filled* filled) noexcept {
  for (std::size_t word = 0; word < kWords; ++word) {
    // Relaxed: a hint; the bit is claimed below.
    std::uint64_t seen = full_[word].load(std::memory_order_relaxed);
    while (seen != 0) {
      const auto at = static_cast<std::size_t>(std::countr_zero(seen));
      const std::uint64_t before =
          full_[word].fetch_and(~bit_of(at), std::memory_order_acquire);  // [D]
      if ((before & bit_of(at)) != 0) {
        const std::size_t place = word * 64 + at;
        const Buffer& buffer = buffers_[place];
        *filled = {place, buffer.data.load(std::memory_order_relaxed),
                   buffer.valid_bytes, buffer.run, place >= kMostBuffers};
        return true;
      }
      seen = before & ~bit_of(at);
    }
  }
  return false;
}

void BufferPool::give_back(const Filled& filled) noexcept {
  std::memset(filled.data, 0, filled.valid_bytes);
  free_[filled.place / 64].fetch_or(bit_of(filled.place),
                                    std::memory_order_release);  // [F]
}

std::size_t BufferPool::free() const noexcept {
  std::size_t count = 0;
  for (std::size_t word = 0; word < kMostBuffers / 64; ++word)
    count += static_cast<std::size_t>(
        std::popcount(free_[word].load(std::memory_order_relaxed)));
  return count;
}

}  // namespace weft::cupti
