// SPDX-License-Identifier: Apache-2.0
#include "weft/ringbuf/ring_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace weft::ringbuf {
namespace {

constexpr std::size_t kPage = 4096;

}  // namespace

bool RingMemory::reserve(std::size_t bytes, Use use) noexcept {
  const std::size_t size = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  if (size < bytes) return false;
  // One huge page more, so that an aligned stretch of `size` lies inside.
  const std::size_t mapped = size + kHugePage;
  void* where = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (where == MAP_FAILED) return false;
  auto* begin = static_cast<std::byte*>(where);
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::size_t before = (kHugePage - address % kHugePage) % kHugePage;
  if (before != 0) munmap(begin, before);
  munmap(begin + before + size, kHugePage - before);
  base_ = begin + before;
  bytes_ = size;
  if (use == Use::kWipedOnFork) {
    // Without it a forked child would write where its parent's drainer reads
    // positions of a private copy: harmless, but it would not be silent.
    if (madvise(base_, bytes_, MADV_WIPEONFORK) != 0) {
      unmap();
      return false;
    }
  } else {
    madvise(base_, bytes_, MADV_HUGEPAGE);  // only a wish: may be refused
  }
  return true;
}

void RingMemory::unmap() noexcept {
  if (base_ != nullptr) munmap(base_, bytes_);
  base_ = nullptr;
  bytes_ = 0;
}

void RingMemory::give_back(std::size_t offset, std::size_t bytes) noexcept {
  const std::size_t begin = (offset + kPage - 1) / kPage * kPage;
  const std::size_t end = (offset + bytes) / kPage * kPage;
  if (begin < end) madvise(base_ + begin, end - begin, MADV_DONTNEED);
}

void warm(std::byte* begin, std::size_t bytes) noexcept {
  const auto touch = [begin](std::size_t offset) {
    // Keeps what is there, even what another thread writes meanwhile.
    __atomic_fetch_or(reinterpret_cast<unsigned char*>(begin + offset), 0,
                      __ATOMIC_RELAXED);
  };
  if (bytes == 0) return;
  for (std::size_t i = 0; i < bytes; i += kPage) touch(i);
  touch(bytes - 1);  // `begin` need not lie at the start of a page
}

}  // namespace weft::ringbuf
