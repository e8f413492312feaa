// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_ENFORCE_UNIQUE_H_
#define WEFT_PROFILE_ENFORCE_UNIQUE_H_

#include <set>
#include <tuple>

namespace weft {

// Notices keys that come twice. Not thread-safe.
template <class... Parts>
class EnforceUnique {
 public:
  // False if this key was seen before.
  [[nodiscard]] bool see(const Parts&... parts) {
    return seen_.emplace(parts...).second;
  }

 private:
  std::set<std::tuple<Parts...>> seen_;
};

}  // namespace weft

#endif  // WEFT_PROFILE_ENFORCE_UNIQUE_H_
