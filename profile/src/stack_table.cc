// SPDX-License-Identifier: Apache-2.0
#include "stack_table.h"

#include <sys/mman.h>

namespace weft::profile {

bool StackTable::reserve() noexcept {
  if (places_ != nullptr) return true;
  constexpr std::size_t kBytes = kPlaces * sizeof(Place);
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  if (madvise(memory, kBytes, MADV_WIPEONFORK) != 0) {
    munmap(memory, kBytes);
    return false;
  }
  places_ = static_cast<Place*>(memory);
  return true;
}

StringId StackTable::find(std::uint64_t hash) const noexcept {
  if (places_ == nullptr) return StringId::kNone;
  const std::uint64_t key = key_of(hash);
  for (std::size_t i = 0; i < kMaxProbes; ++i) {
    const Place& place = places_[(hash + i) % kPlaces];
    const std::uint64_t found = place.key.load(std::memory_order_relaxed);
    if (found == 0) return StringId::kNone;
    if (found == key)
      return static_cast<StringId>(
          place.text.load(std::memory_order_acquire));  // [T]
  }
  return StringId::kNone;
}

bool StackTable::keep(std::uint64_t hash, StringId text) noexcept {
  if (places_ == nullptr) return false;
  const std::uint64_t key = key_of(hash);
  for (std::size_t i = 0; i < kMaxProbes; ++i) {
    Place& place = places_[(hash + i) % kPlaces];
    std::uint64_t found = 0;
    // Relaxed: keys carry nothing.
    if (!place.key.compare_exchange_strong(found, key,
                                           std::memory_order_relaxed) &&
        found != key)
      continue;
    place.text.store(static_cast<std::uint32_t>(text),
                     std::memory_order_release);  // [T]
    return true;
  }
  return false;
}

}  // namespace weft::profile
