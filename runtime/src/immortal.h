// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_IMMORTAL_H_
#define WEFT_SRC_IMMORTAL_H_

#include <new>
#include <utility>

namespace weft {

// A static that is constructed at its first use and never destroyed: records
// come from destructors of other statics, and from threads that outlive main.
// Lies in static storage, so leak checkers can reach what it owns.
template <class T>
class Immortal {
 public:
  template <class... A>
  explicit Immortal(A&&... arguments) {
    new (storage_) T(std::forward<A>(arguments)...);
  }
  T& operator*() noexcept { return *std::launder(reinterpret_cast<T*>(storage_)); }
  T* operator->() noexcept { return &**this; }

 private:
  alignas(T) unsigned char storage_[sizeof(T)];
};

}  // namespace weft

#endif  // WEFT_SRC_IMMORTAL_H_
