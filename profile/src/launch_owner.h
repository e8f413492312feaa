// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_LAUNCH_OWNER_H_
#define WEFT_PROFILE_SRC_LAUNCH_OWNER_H_

// Whom device work belongs to when a file offers two: the operation whose
// number the work carries ("External id"), and the innermost range around the
// call that launched it.

#include <cstdint>

namespace weft::profile {

// What the choice needs of a host row.
struct HostSpan {
  std::int64_t start_ns;
  std::int64_t end_ns;
  bool is_user_scope;

  bool holds(const HostSpan& inner) const noexcept {
    return start_ns <= inner.start_ns && inner.end_ns <= end_ns;
  }
};

// The number counts only where the operation was running at the launch: some
// files number something else under the same key. A user's range in between is
// never a number, so it keeps what was launched right inside it.
//
// `around` is null for a call that lies in no range.
inline bool numbered_operation_owns(const HostSpan& operation,
                                    const HostSpan& call,
                                    const HostSpan* around) noexcept {
  if (!operation.holds(call)) return false;
  return around == nullptr || !around->is_user_scope ||
         !operation.holds(*around);
}

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_LAUNCH_OWNER_H_
