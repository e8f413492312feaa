// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_ASYNC_SPAN_H_
#define WEFT_ASYNC_SPAN_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "weft/argument.h"
#include "weft/instant.h"
#include "weft/internal/api.h"
#include "weft/site.h"

namespace weft {

class AsyncSpan;

namespace internal {

// Thread-safe. Hot once thread and site are known.
WEFT_API std::uint64_t begin_async(SiteData& site, StringId name,
                                   const Argument* arguments,
                                   std::size_t count) noexcept;
WEFT_API void end_async(std::uint64_t span, SiteId site) noexcept;

}  // namespace internal

// A span that belongs to no thread: it may begin on one and end on another, and
// need not nest with anything.
//
//   weft::AsyncSpan call{"call"};        // a name made at run time works too
//   WEFT_ASYNC_SPAN(call, "call");       // the same with a static site: cheaper
//   queue.push(std::move(call));         // ends where it is destroyed,
//   call.end();                          // or here
//
// Moved from, it does nothing. One thread at a time.
class WEFT_API AsyncSpan {
 public:
  AsyncSpan() noexcept = default;
  // Warm: copies the name. Recorded when category "" is on. Takes no arguments:
  // their keys belong to a site, which WEFT_ASYNC_SPAN has.
  explicit AsyncSpan(std::string_view name) noexcept;
  template <std::size_t kName>
  AsyncSpan(internal::SiteData& site, const char (&)[kName],
            const Argument& a = {}, const Argument& b = {},
            const Argument& c = {}, const Argument& d = {}) noexcept {
    const Argument list[] = {a, b, c, d};
    begin(site, StringId::kNone, list, 4);
  }

  AsyncSpan(const AsyncSpan&) = delete;
  AsyncSpan& operator=(const AsyncSpan&) = delete;
  AsyncSpan(AsyncSpan&& other) noexcept
      : id_(std::exchange(other.id_, 0)), site_(other.site_) {}
  AsyncSpan& operator=(AsyncSpan&& other) noexcept {
    if (this != &other) {
      end();
      id_ = std::exchange(other.id_, 0);
      site_ = other.site_;
    }
    return *this;
  }
  ~AsyncSpan() { end(); }

  // Ends it now. Later calls do nothing.
  void end() noexcept {
    if (id_ != 0) internal::end_async(id_, site_);
    id_ = 0;
  }

  // True while it is being recorded.
  explicit operator bool() const noexcept { return id_ != 0; }

 private:
  void begin(internal::SiteData& site, StringId name,
             const Argument* arguments, std::size_t count) noexcept {
    id_ = internal::begin_async(site, name, arguments, count);
    // Relaxed: set before the span began.
    site_ = static_cast<SiteId>(site.number.load(std::memory_order_relaxed));
  }

  std::uint64_t id_ = 0;
  // Its end may come to the drainer before its begin: filters need to know.
  SiteId site_ = SiteId::kNone;
};

}  // namespace weft

#if !defined(WEFT_DISABLED)

#define WEFT_ASYNC_SPAN(variable, ...)                                       \
  WEFT_INTERNAL_ASYNC(variable,                                              \
                      WEFT_INTERNAL_CONCAT(weft_site_, __COUNTER__), "",     \
                      __VA_ARGS__)
#define WEFT_ASYNC_SPAN_CAT(variable, category, ...)                         \
  WEFT_INTERNAL_ASYNC(variable,                                              \
                      WEFT_INTERNAL_CONCAT(weft_site_, __COUNTER__),         \
                      category, __VA_ARGS__)
#define WEFT_INTERNAL_ASYNC(variable, site, category, ...)            \
  WEFT_INTERNAL_SITE(site, kAsyncSpan, category,                      \
                     WEFT_INTERNAL_FIRST(__VA_ARGS__));               \
  [[maybe_unused]] ::weft::AsyncSpan variable =                       \
      site.on() ? ::weft::AsyncSpan(site, __VA_ARGS__)                \
                : ::weft::AsyncSpan()

#else

#define WEFT_ASYNC_SPAN(variable, ...) \
  [[maybe_unused]] ::weft::AsyncSpan variable
#define WEFT_ASYNC_SPAN_CAT(variable, ...) \
  [[maybe_unused]] ::weft::AsyncSpan variable

#endif

#endif  // WEFT_ASYNC_SPAN_H_
