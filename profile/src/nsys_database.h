// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_NSYS_DATABASE_H_
#define WEFT_PROFILE_SRC_NSYS_DATABASE_H_

#include <cstdint>

namespace weft::profile {

// NVTX_EVENTS.eventType.
inline constexpr std::int64_t kNsysMark = 34;
inline constexpr std::int64_t kNsysPushPop = 59;
inline constexpr std::int64_t kNsysStartEnd = 60;

// The low 24 bits of a global id are the thread, those above the process:
// without the former it is a globalPid.
inline constexpr std::int64_t kNsysThreadBits = 24;
inline constexpr std::int64_t kNsysThreadMask =
    (std::int64_t{1} << kNsysThreadBits) - 1;

constexpr std::int64_t nsys_process(std::int64_t global_id) noexcept {
  return global_id & ~kNsysThreadMask;
}

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_NSYS_DATABASE_H_
