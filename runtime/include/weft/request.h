// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_REQUEST_H_
#define WEFT_REQUEST_H_

#include <cstdint>

#include "weft/internal/api.h"

namespace weft {

// Which request the work belongs to: a number, or the 128 bits of a W3C trace
// id. All zero: none.
struct RequestId {
  std::uint64_t low = 0;
  std::uint64_t high = 0;  // 0 for plain 64-bit ids

  friend constexpr bool operator==(const RequestId& a,
                                   const RequestId& b) noexcept {
    return a.low == b.low && a.high == b.high;
  }
};

// Ties what this thread records to a request until it ends; then the request
// that was current before is current again. To carry it to another thread, pass
// `Request::current()` along and open a Request there.
//
// Stays on the thread that made it. Hot: a record of two or three slots at
// each end, when anything is recorded at all.
class WEFT_API Request {
 public:
  explicit Request(std::uint64_t number) noexcept
      : Request(RequestId{number, 0}) {}
  explicit Request(RequestId request) noexcept;
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  ~Request();

  // The request of the calling thread. Thread-safe. Hot.
  static RequestId current() noexcept;

 private:
  RequestId previous_;
};

}  // namespace weft

#endif  // WEFT_REQUEST_H_
