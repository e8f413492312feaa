// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_INTERNAL_LAUNCH_H_
#define WEFT_INTERNAL_LAUNCH_H_

#include <cstdint>

#include "weft/internal/api.h"

namespace weft::internal {

// Says that the calling thread now hands work to a device. The record lies in
// that thread's own order, so the innermost span open there is what the work
// belongs to, whatever the clocks say. `call` tells numbers of different
// devices apart; weft/gpu/device_source.h says how.
//
// Thread-safe. Hot: one slot, two for a correlation beyond 32 bits; one load
// when nothing is recorded.
WEFT_API void record_launch(std::uint64_t correlation,
                            std::uint32_t call) noexcept;

}  // namespace weft::internal

#endif  // WEFT_INTERNAL_LAUNCH_H_
