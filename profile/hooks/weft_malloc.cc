// SPDX-License-Identifier: Apache-2.0

// libweft_malloc.so: tells the profiler of the program's memory, without a change
// to the program.
//
//   LD_PRELOAD=libweft_malloc.so ./server       or link with weft::malloc
//
//   program -> malloc here -> the next malloc in line (libc's, jemalloc's ...)
//                  |
//                  +-> weft::report_alloc, in the program or libweft.so
//
// The program must contain weft and let libraries see it: linked with this one,
// with weft::shared, or built with CMake's ENABLE_EXPORTS. Otherwise every call
// passes through. So it does while nobody profiles memory.
//
// What is reported is the usable size of blocks, for allocations and releases
// alike, so that sums agree. operator new is seen where it calls malloc, as
// libstdc++'s does. Not reported: what weft itself takes while it records or on
// its own threads, and what a signal handler takes that interrupts a report.
//
// Nothing here locks, and nothing changes what the program sees: results, errno
// and the order of calls to the allocator are as without.

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>

#include <atomic>

#include "weft/profile/memory_report.h"

#define WEFT_HOOK extern "C" __attribute__((visibility("default")))

namespace weft {

// Null where the program has no weft.
void report_alloc(const void*, std::int64_t, MemoryDevice,
                  MemoryTotals) noexcept __attribute__((weak));
void report_free(const void*, std::int64_t, MemoryDevice,
                 MemoryTotals) noexcept __attribute__((weak));
void report_out_of_memory(std::int64_t, MemoryDevice, MemoryTotals) noexcept
    __attribute__((weak));
bool memory_wanted() noexcept __attribute__((weak));

}  // namespace weft

namespace {

// The allocator that is next in line.
struct Allocator {
  void* (*malloc)(size_t);
  void (*free)(void*);
  void* (*calloc)(size_t, size_t);
  void* (*realloc)(void*, size_t);
  void* (*memalign)(size_t, size_t);
  void* (*aligned_alloc)(size_t, size_t);
  int (*posix_memalign)(void**, size_t, size_t);
  void* (*valloc)(size_t);
  void* (*pvalloc)(size_t);
  size_t (*malloc_usable_size)(void*);
};

Allocator next;
// Release once `next` is filled, acquire by who uses it. Two threads that fill
// it at once write the same.
std::atomic<bool> next_is_known{false};

#define WEFT_HOOK_TLS thread_local __attribute__((tls_model("initial-exec")))
// The thread looks for the next allocator: dlsym() may allocate.
constinit WEFT_HOOK_TLS bool is_looking = false;
// The thread reports: what weft takes for that is not the program's.
constinit WEFT_HOOK_TLS bool is_reporting = false;

enum class Owner : uint8_t { kUnknown, kProgram, kWeft };
constinit WEFT_HOOK_TLS Owner owner = Owner::kUnknown;

// Memory for who asks before the next allocator is known. Never freed.
class FirstMemory {
 public:
  void* take(size_t bytes, size_t alignment = alignof(max_align_t)) noexcept {
    size_t used = used_.load(std::memory_order_relaxed);
    for (;;) {
      // Before each block lies its size, for realloc.
      const size_t at = (used + sizeof(size_t) + alignment - 1) &
                        ~(alignment - 1);
      if (at > kBytes || bytes > kBytes - at) return nullptr;
      // Relaxed: the range is this thread's alone, and it is zero.
      if (!used_.compare_exchange_weak(used, at + bytes,
                                       std::memory_order_relaxed))
        continue;
      memcpy(memory_ + at - sizeof(size_t), &bytes, sizeof bytes);
      return memory_ + at;
    }
  }
  bool holds(const void* block) const noexcept {
    const auto at = reinterpret_cast<uintptr_t>(block);
    const auto begin = reinterpret_cast<uintptr_t>(memory_);
    return at >= begin && at < begin + kBytes;
  }
  size_t size_of(const void* block) const noexcept {
    size_t bytes = 0;
    memcpy(&bytes, static_cast<const char*>(block) - sizeof bytes, sizeof bytes);
    return bytes;
  }

 private:
  static constexpr size_t kBytes = 64 << 10;
  alignas(4096) char memory_[kBytes] = {};
  std::atomic<size_t> used_{0};
};
constinit FirstMemory first_memory;

template <class Function>
void find(Function*& function, const char* name) noexcept {
  function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// False while the calling thread is looking, or there is none.
bool know_next() noexcept {
  if (next_is_known.load(std::memory_order_acquire)) return true;
  if (is_looking) return false;
  is_looking = true;
  const int error = errno;
  find(next.malloc, "malloc");
  find(next.free, "free");
  find(next.calloc, "calloc");
  find(next.realloc, "realloc");
  find(next.memalign, "memalign");
  find(next.aligned_alloc, "aligned_alloc");
  find(next.posix_memalign, "posix_memalign");
  find(next.valloc, "valloc");
  find(next.pvalloc, "pvalloc");
  find(next.malloc_usable_size, "malloc_usable_size");
  errno = error;
  is_looking = false;
  next_is_known.store(true, std::memory_order_release);
  return true;
}

bool is_of_program() noexcept {
  if (owner == Owner::kUnknown) {
    char name[16] = {};
    const int error = errno;
    prctl(PR_GET_NAME, name);
    errno = error;
    owner = strncmp(name, "weft-", 5) == 0 ? Owner::kWeft : Owner::kProgram;
  }
  return owner == Owner::kProgram;
}

// Whether somebody wants to know of what this thread does now.
bool wanted() noexcept {
  return weft::memory_wanted != nullptr && weft::report_alloc != nullptr &&
         weft::report_free != nullptr &&
         weft::report_out_of_memory != nullptr && weft::memory_wanted() &&
         !is_reporting && is_of_program();
}

class Reporting {
 public:
  Reporting() noexcept : error_(errno) { is_reporting = true; }
  Reporting(const Reporting&) = delete;
  Reporting& operator=(const Reporting&) = delete;
  ~Reporting() {
    is_reporting = false;
    errno = error_;
  }

 private:
  int error_;
};

int64_t signed_size(size_t bytes) noexcept {
  return bytes > INT64_MAX ? INT64_MAX : static_cast<int64_t>(bytes);
}

int64_t usable(void* block) noexcept {
  return signed_size(next.malloc_usable_size(block));
}

// After the allocation.
void* report_taken(void* block, size_t requested) noexcept {
  if (!wanted()) return block;
  const Reporting now;
  if (block != nullptr) {
    weft::report_alloc(block, usable(block), {}, {});
  } else if (requested != 0) {
    weft::report_out_of_memory(signed_size(requested), {}, {});
  }
  return block;
}

// Before the release: after it, another thread may get the block.
void report_given(void* block) noexcept {
  if (block == nullptr || !wanted()) return;
  const Reporting now;
  weft::report_free(block, usable(block), {}, {});
}

size_t product(size_t a, size_t b) noexcept {
  size_t bytes = 0;
  return __builtin_mul_overflow(a, b, &bytes) ? SIZE_MAX : bytes;
}

void* out_of_first_memory() noexcept {
  errno = ENOMEM;
  return nullptr;
}

void* take_first(size_t bytes, size_t alignment = alignof(max_align_t)) noexcept {
  void* const block = first_memory.take(bytes, alignment);
  return block != nullptr ? block : out_of_first_memory();
}

// A block from before the allocator was known moves to it.
void* move_to_allocator(void* block, size_t bytes) noexcept {
  void* const moved = know_next() ? next.malloc(bytes) : take_first(bytes);
  if (moved == nullptr) return nullptr;
  const size_t had = first_memory.size_of(block);
  memcpy(moved, block, had < bytes ? had : bytes);
  return report_taken(moved, bytes);
}

}  // namespace

WEFT_HOOK void* malloc(size_t bytes) noexcept {
  if (!know_next()) return take_first(bytes);
  return report_taken(next.malloc(bytes), bytes);
}

WEFT_HOOK void free(void* block) noexcept {
  if (first_memory.holds(block) || !know_next()) return;
  report_given(block);
  next.free(block);
}

WEFT_HOOK void* calloc(size_t count, size_t each) noexcept {
  if (!know_next()) return take_first(product(count, each));
  return report_taken(next.calloc(count, each), product(count, each));
}

WEFT_HOOK void* realloc(void* block, size_t bytes) noexcept {
  if (first_memory.holds(block)) return move_to_allocator(block, bytes);
  if (!know_next()) return block == nullptr ? take_first(bytes) : nullptr;
  if (block == nullptr) return report_taken(next.realloc(block, bytes), bytes);
  report_given(block);
  void* const moved = next.realloc(block, bytes);
  // Without room, the old block stays.
  if (moved == nullptr && bytes != 0) report_taken(block, bytes);
  return report_taken(moved, bytes);
}

WEFT_HOOK void* reallocarray(void* block, size_t count, size_t each) noexcept {
  const size_t bytes = product(count, each);
  if (bytes == SIZE_MAX) {
    report_taken(nullptr, bytes);
    return out_of_first_memory();
  }
  return realloc(block, bytes);
}

WEFT_HOOK void* memalign(size_t alignment, size_t bytes) noexcept {
  if (!know_next()) return take_first(bytes, alignment);
  return report_taken(next.memalign(alignment, bytes), bytes);
}

WEFT_HOOK void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  if (!know_next()) return take_first(bytes, alignment);
  return report_taken(next.aligned_alloc(alignment, bytes), bytes);
}

WEFT_HOOK int posix_memalign(void** block, size_t alignment,
                             size_t bytes) noexcept {
  if (!know_next()) {
    void* const taken = first_memory.take(bytes, alignment);
    if (taken == nullptr) return ENOMEM;
    *block = taken;
    return 0;
  }
  const int error = next.posix_memalign(block, alignment, bytes);
  if (error == 0) {
    report_taken(*block, bytes);
  } else if (error == ENOMEM) {
    report_taken(nullptr, bytes);
  }
  return error;
}

WEFT_HOOK void* valloc(size_t bytes) noexcept {
  if (!know_next()) return take_first(bytes, 4096);
  return report_taken(next.valloc(bytes), bytes);
}

WEFT_HOOK void* pvalloc(size_t bytes) noexcept {
  if (!know_next()) return take_first((bytes + 4095) & ~size_t{4095}, 4096);
  return report_taken(next.pvalloc(bytes), bytes);
}

// Of blocks from before the allocator was known, it knows nothing.
WEFT_HOOK size_t malloc_usable_size(void* block) noexcept {
  if (block == nullptr) return 0;
  if (first_memory.holds(block)) return first_memory.size_of(block);
  return know_next() ? next.malloc_usable_size(block) : 0;
}
