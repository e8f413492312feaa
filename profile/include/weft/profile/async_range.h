// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_ASYNC_RANGE_H_
#define WEFT_PROFILE_ASYNC_RANGE_H_

// Ranges that end where their work ends: on another thread, or when a future is
// ready.
//
//   weft::AsyncRange range = weft::record_async("fetch", url);
//   auto page = range.end_on(client.get(url));  // ends, then `page` is ready
//
// Copies are handles of one range: the first end() on any thread ends it, later
// ones do nothing. A range whose last handle goes without an end is unfinished:
// it then reaches to the end of the session.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/internal/api.h"
#include "weft/profile/record_scope.h"
#include "weft/result.h"

namespace weft {

// Thread-safe, but for assignment to one handle.
class WEFT_API AsyncRange {
 public:
  AsyncRange() noexcept = default;  // of nothing: its calls do nothing

  // Warm.
  void end() noexcept;

  // Has the range end when `future` is ready, on the thread that makes it so.
  // Returns what `future.then(continuation)` does: a future of the same value,
  // ready after the range has ended. The continuation gets what `then` gives
  // it and passes it on; what it throws, and errors, pass as they do in `then`.
  //
  // Once a range: later calls return the future as it is, and count as misuse
  // that end_on_used() tells of.
  template <class Future>
  auto end_on(Future future) {
    const bool first = take_end();
    return std::move(future).then(
        [range = first ? *this : AsyncRange()](auto&& value) mutable {
          range.end();
          return std::forward<decltype(value)>(value);
        });
  }

  // For futures of another form: what has to be called when the work is over.
  // Errors: kBusy  end_on() or on_end() was used before
  [[nodiscard]] Result<std::function<void()>> on_end();

  bool end_on_used() const noexcept;

  // True while it is recorded and has not ended.
  explicit operator bool() const noexcept;

 private:
  friend WEFT_API AsyncRange record_async(std::string_view, std::string_view,
                                          RecordScope) noexcept;
  struct State;
  bool take_end() noexcept;

  std::shared_ptr<State> state_;
};

// Begins a range now. The texts are copied; `args` is the user's own. Does
// nothing while nobody listens. Thread-safe. Warm: allocates.
WEFT_API AsyncRange record_async(
    std::string_view name, std::string_view args = {},
    RecordScope scope = RecordScope::kUserScope) noexcept;

}  // namespace weft

#endif  // WEFT_PROFILE_ASYNC_RANGE_H_
