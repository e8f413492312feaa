// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_MEMORY_RECORD_H_
#define WEFT_PROFILE_MEMORY_RECORD_H_

#include <cstddef>
#include <cstdint>

#include "weft/profile/device.h"

namespace weft {

// What memory is for. The caller says it; nothing is inferred. The numbers
// appear in outputs.
enum class MemoryCategory : std::uint8_t {
  kParameter = 0,
  kOptimizerState = 1,
  kInput = 2,
  kTemporary = 3,
  kActivation = 4,
  kGradient = 5,
  kAutogradDetail = 6,
  kUnknown = 7,
};
inline constexpr std::size_t kMemoryCategories = 8;

// An allocator's report: a block came, went, or is for something else now.
struct MemoryRecord {
  std::int64_t at_ns = 0;
  std::int64_t thread = 0;
  std::uint64_t address = 0;  // of the block; unique among those of its device
  // Positive: allocated. Negative: released. 0: the block changes its category.
  std::int64_t bytes = 0;
  DeviceType device = DeviceType::kCpu;
  int device_index = 0;
  MemoryCategory category = MemoryCategory::kUnknown;
  // Nothing came: `bytes` were asked for and refused.
  bool failed = false;
  // The allocator's totals after it; -1: unknown.
  std::int64_t total_allocated = -1;
  std::int64_t total_reserved = -1;
};
// A session may hold millions.
static_assert(sizeof(MemoryRecord) <= 64);

}  // namespace weft

#endif  // WEFT_PROFILE_MEMORY_RECORD_H_
