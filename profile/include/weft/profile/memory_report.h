// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_MEMORY_REPORT_H_
#define WEFT_PROFILE_MEMORY_REPORT_H_

// What allocators tell a profiler. Recorded only while some session wants
// memory (ProfilerOptions::profile_memory); otherwise one byte is looked at.
//
//   void* Pool::take(std::size_t bytes) {
//     void* block = ...;
//     if (block == nullptr) weft::report_out_of_memory(bytes);
//     else weft::report_alloc(block, bytes, {}, {pool.used(), pool.held()});
//     return block;
//   }
//
// Thread-safe; also in signal handlers. Hot when recorded: one record of six
// slots. Allocates nothing once the thread has recorded anything.

#include <cstdint>

#include "weft/internal/api.h"
#include "weft/profile/device.h"

namespace weft {

struct MemoryDevice {
  DeviceType type = DeviceType::kCpu;
  int index = 0;
};

// Of the allocator, after what is reported; -1: not known.
struct MemoryTotals {
  std::int64_t allocated = -1;
  std::int64_t reserved = -1;
};

// Sizes are bytes, and positive in all three.
WEFT_API void report_alloc(const void* address, std::int64_t bytes,
                           MemoryDevice device = {},
                           MemoryTotals totals = {}) noexcept;
WEFT_API void report_free(const void* address, std::int64_t bytes,
                          MemoryDevice device = {},
                          MemoryTotals totals = {}) noexcept;
// An allocation of `requested` bytes has failed.
WEFT_API void report_out_of_memory(std::int64_t requested,
                                   MemoryDevice device = {},
                                   MemoryTotals totals = {}) noexcept;

// Whether somebody wants reports, for allocators that must compute them.
// Thread-safe. Hot.
WEFT_API bool memory_wanted() noexcept;

}  // namespace weft

#endif  // WEFT_PROFILE_MEMORY_REPORT_H_
