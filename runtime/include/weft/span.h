// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SPAN_H_
#define WEFT_SPAN_H_

// Spans: named intervals on the thread that runs them.
//
//   WEFT_SPAN("handle_request");                  // to the end of the block
//   WEFT_SPAN("decode", {"bytes", n});            // with typed arguments
//   WEFT_SPAN_CAT("net", "read");                 // in a category
//   WEFT_SPAN_DYN(std::string("job ") + name);    // a name made at run time
//   WEFT_FUNCTION();                              // named after the function
//   WEFT_SPAN_NAMED(query, "query");              // a variable:
//   query.set("rows", rows);                      //   late arguments
//   query.fail("timeout");                        //   and failure
//
// Arguments are evaluated only when the span is recorded. With -DWEFT_DISABLED
// the macros leave nothing behind, not even the evaluation.
//
// Cost when recorded: two reads of the cycle counter and two 16-byte slots, one
// slot more an argument. When off: one load and a branch at the begin, one
// branch at the end. Whether a span is recorded is decided at its begin.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "weft/argument.h"
#include "weft/internal/api.h"
#include "weft/internal/macros.h"
#include "weft/internal/thread_state.h"
#include "weft/internal/tick_counter.h"
#include "weft/record.h"
#include "weft/site.h"

namespace weft {

class Span;

namespace internal {

// Bit of a span's thread number: its ends must take the slow path, because
// its clock is not the cycle counter.
inline constexpr std::uint32_t kSlowClock = std::uint32_t{1} << 31;

// What is left of a begun span until its end: 16 bytes, in registers mostly.
struct OpenSpan {
  std::uint64_t ids = 0;  // thread << 32 | SiteId; 0: not recorded
  std::uint64_t position = 0;

  constexpr bool recorded() const noexcept { return ids != 0; }
  constexpr std::uint32_t thread() const noexcept {
    return static_cast<std::uint32_t>(ids >> 32);
  }
  constexpr std::uint32_t site() const noexcept {
    return static_cast<std::uint32_t>(ids);
  }
};

// Thread-safe. Warm. The ways around the fast path; each counts what it cannot
// record. `begin_span` returns the ids and not an OpenSpan: GCC 12 would then
// build one in memory on the fast path, too, at 7 % of the floor.
WEFT_API std::uint64_t begin_span(std::uint64_t* position, SiteData& site,
                                  StringId name, const Argument* arguments,
                                  std::size_t count) noexcept;
WEFT_API void end_span(OpenSpan span) noexcept;
WEFT_API void add_argument(OpenSpan span, const Argument& argument) noexcept;
WEFT_API void add_failure(OpenSpan span, std::string_view reason) noexcept;

// The calling thread's number, which it gets now if it has none yet; kNone when
// nobody ever subscribed, or no ring is left. Thread-safe. Warm.
WEFT_API ThreadIndex thread_index() noexcept;

// Thread-safe. Warm: copies new text, otherwise a hash and a lookup.
WEFT_API StringId intern(std::string_view text) noexcept;

WEFT_ALWAYS_INLINE void put_value(ringbuf::RingWriter& writer,
                                  const ringbuf::RingWriter::Claim& claim,
                                  const Argument& argument,
                                  std::uint32_t index) noexcept {
  writer.put(claim, index + 1,
             std::uint64_t{index} << 8 |
                 static_cast<std::uint64_t>(argument.type()),
             argument.bits());
}

// `state` is what the site's was just now: not off. `slow(&position)` begins the
// span some other way and returns its ids.
template <class Slow, class... A>
WEFT_ALWAYS_INLINE void begin_span_or(const Slow& slow, std::uint64_t& ids,
                                      std::uint64_t& position,
                                      std::uint8_t state, SiteData& site,
                                      const A&... arguments) noexcept {
  constexpr std::uint32_t kSlots = 1 + sizeof...(arguments);
  ThreadState& thread = *weft_thread_state;
  ringbuf::RingWriter::Claim claim;
  if (WEFT_LIKELY(
          state == kSiteFast &&
          ((arguments.type() != RecordKind::kText) && ... && true) &&
          thread.writer.claim(kSlots, 1, claim))) {
    // Relaxed: stored before the site became fast.
    const std::uint32_t number = site.number.load(std::memory_order_relaxed);
    thread.writer.put(claim, 0,
                      head_word(RecordKind::kSpanBegin, 0, read_ticks()),
                      pair_word(0, number));
    [[maybe_unused]] std::uint32_t index = 0;
    ((put_value(thread.writer, claim, arguments, index), ++index), ...);
    thread.writer.publish(claim, kSlots);
    ids = thread.tag | number;
    position = claim.position;
  } else {
    std::uint64_t begun_at = 0;
    ids = slow(&begun_at);
    position = begun_at;
  }
}

template <class... A>
WEFT_ALWAYS_INLINE void begin_span_fast(std::uint64_t& ids,
                                        std::uint64_t& position,
                                        std::uint8_t state, SiteData& site,
                                        const A&... arguments) noexcept {
  const auto slow = [&](std::uint64_t* begun_at) noexcept {
    const Argument list[] = {arguments..., Argument()};
    return begin_span(begun_at, site, StringId::kNone, list,
                      sizeof...(arguments));
  };
  begin_span_or(slow, ids, position, state, site, arguments...);
}

// `kSlowEnd` is for ends that find no way here.
template <void (*kSlowEnd)(OpenSpan) noexcept = end_span>
WEFT_ALWAYS_INLINE void end_span_fast(OpenSpan span) noexcept {
  ThreadState& thread = *weft_thread_state;
  ringbuf::RingWriter::Claim claim;
  if (WEFT_UNLIKELY((span.ids ^ thread.tag) >> 32 != 0 ||
                    !thread.writer.claim_promised(claim))) {
    kSlowEnd(span);
    return;
  }
  thread.writer.put(
      claim, 0, head_word(RecordKind::kSpanEnd, 0, read_ticks()),
      pair_word(static_cast<std::uint32_t>(span.position), span.site()));
  thread.writer.publish(claim, 1);
}

}  // namespace internal

// An interval from its construction to its end, made by the macros above.
//
// May be moved, and may end on another thread, as a coroutine's does: it is
// then shown as an asynchronous span. A span that was not begun, because its
// site was off, does nothing.
class Span {
 public:
  Span() noexcept = default;

  template <std::size_t kName>
  WEFT_ALWAYS_INLINE Span(std::uint8_t state, internal::SiteData& site,
                          const char (&)[kName]) noexcept {
    internal::begin_span_fast(ids_, position_, state, site);
  }
  template <std::size_t kName>
  WEFT_ALWAYS_INLINE Span(std::uint8_t state, internal::SiteData& site,
                          const char (&)[kName],
                          const Argument& a) noexcept {
    internal::begin_span_fast(ids_, position_, state, site, a);
  }
  template <std::size_t kName>
  WEFT_ALWAYS_INLINE Span(std::uint8_t state, internal::SiteData& site,
                          const char (&)[kName],
                          const Argument& a, const Argument& b) noexcept {
    internal::begin_span_fast(ids_, position_, state, site, a, b);
  }
  template <std::size_t kName>
  WEFT_ALWAYS_INLINE Span(std::uint8_t state, internal::SiteData& site,
                          const char (&)[kName],
                          const Argument& a, const Argument& b,
                          const Argument& c) noexcept {
    internal::begin_span_fast(ids_, position_, state, site, a, b, c);
  }
  // Four to kMaxArguments arguments: by a call.
  template <std::size_t kName>
  Span(std::uint8_t, internal::SiteData& site, const char (&)[kName],
       const Argument& a, const Argument& b, const Argument& c, const Argument& d,
       const Argument& e = {}, const Argument& f = {}, const Argument& g = {},
       const Argument& h = {}) noexcept {
    const Argument list[] = {a, b, c, d, e, f, g, h};
    ids_ = internal::begin_span(&position_, site, StringId::kNone, list,
                                kMaxArguments);
  }
  // A name that was made at run time; see WEFT_SPAN_DYN.
  Span(internal::SiteData& site, StringId name, const Argument& a = {},
       const Argument& b = {}, const Argument& c = {},
       const Argument& d = {}) noexcept {
    const Argument list[] = {a, b, c, d};
    ids_ = internal::begin_span(&position_, site, name, list, 4);
  }

  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  Span(Span&& other) noexcept
      : ids_(std::exchange(other.ids_, 0)), position_(other.position_) {}
  Span& operator=(Span&& other) noexcept {
    if (this != &other) {
      end();
      ids_ = std::exchange(other.ids_, 0);
      position_ = other.position_;
    }
    return *this;
  }

  WEFT_ALWAYS_INLINE ~Span() {
    if (ids_ != 0) internal::end_span_fast({ids_, position_});
  }

  // Ends the span now instead of at the end of its block. Once.
  void end() noexcept {
    if (ids_ != 0) internal::end_span_fast({ids_, position_});
    ids_ = 0;
  }

  // Adds an argument that is known only now. The same key again: both are
  // kept, viewers show the last. One thread at a time. Warm: looks the key up.
  template <std::size_t kKey, class T>
  void set(const char (&key)[kKey], const T& value) noexcept {
    if (ids_ != 0)
      internal::add_argument({ids_, position_}, Argument(key, value));
  }

  // Marks the span as failed; the reason is copied. One thread at a time. Warm.
  void fail(std::string_view reason) noexcept {
    if (ids_ != 0) internal::add_failure({ids_, position_}, reason);
  }

  // True when it is being recorded.
  explicit operator bool() const noexcept { return ids_ != 0; }

 private:
  // As in OpenSpan.
  std::uint64_t ids_ = 0;
  std::uint64_t position_ = 0;
};

#if defined(WEFT_DISABLED)
// What WEFT_SPAN_NAMED declares when everything is compiled out.
struct DisabledSpan {
  template <std::size_t kKey, class T>
  void set(const char (&)[kKey], const T&) noexcept {}
  void fail(std::string_view) noexcept {}
  void end() noexcept {}
  explicit operator bool() const noexcept { return false; }
};
#endif

}  // namespace weft

#if !defined(WEFT_DISABLED)

#define WEFT_SPAN(...) WEFT_SPAN_CAT("", __VA_ARGS__)
#define WEFT_SPAN_CAT(category, ...) \
  WEFT_INTERNAL_SPAN(__COUNTER__, category, __VA_ARGS__)
#define WEFT_SPAN_NAMED(variable, ...) \
  WEFT_SPAN_NAMED_CAT(variable, "", __VA_ARGS__)
#define WEFT_SPAN_NAMED_CAT(variable, category, ...)                         \
  WEFT_INTERNAL_SPAN_VARIABLE(variable,                                      \
                              WEFT_INTERNAL_CONCAT(weft_site_, __COUNTER__), \
                              category, __VA_ARGS__)
#define WEFT_SPAN_DYN(...) WEFT_SPAN_DYN_CAT("", __VA_ARGS__)
#define WEFT_SPAN_DYN_CAT(category, ...) \
  WEFT_INTERNAL_SPAN_DYN(__COUNTER__, category, __VA_ARGS__)
#define WEFT_FUNCTION() WEFT_INTERNAL_FUNCTION(__COUNTER__)

#define WEFT_INTERNAL_SPAN(number, category, ...)       \
  WEFT_INTERNAL_SPAN_VARIABLE(                          \
      const WEFT_INTERNAL_CONCAT(weft_span_, number),   \
      WEFT_INTERNAL_CONCAT(weft_site_, number), category, __VA_ARGS__)
#define WEFT_INTERNAL_SPAN_VARIABLE(variable, site, category, ...) \
  WEFT_INTERNAL_SITE(site, kSpan, category,                        \
                     WEFT_INTERNAL_FIRST(__VA_ARGS__));            \
  const auto WEFT_INTERNAL_CONCAT(site, _state) = site.wanted();   \
  [[maybe_unused]] ::weft::Span variable =                         \
      WEFT_INTERNAL_CONCAT(site, _state) != 0                      \
          ? ::weft::Span(WEFT_INTERNAL_CONCAT(site, _state), site, \
                         __VA_ARGS__)                              \
          : ::weft::Span()
#define WEFT_INTERNAL_SPAN_DYN(number, category, ...)                      \
  WEFT_INTERNAL_SITE(WEFT_INTERNAL_CONCAT(weft_site_, number), kSpan,      \
                     category, "");                                        \
  [[maybe_unused]] const ::weft::Span WEFT_INTERNAL_CONCAT(weft_span_,     \
                                                           number) =       \
      WEFT_INTERNAL_CONCAT(weft_site_, number).on()                        \
          ? ::weft::internal::make_dynamic_span(                           \
                WEFT_INTERNAL_CONCAT(weft_site_, number), __VA_ARGS__)     \
          : ::weft::Span()
#define WEFT_INTERNAL_FUNCTION(number)                                      \
  static ::weft::internal::Site WEFT_INTERNAL_CONCAT(weft_site_, number)(   \
      ::weft::SiteKind::kSpan, __func__, "", __FILE__, __LINE__);           \
  const auto WEFT_INTERNAL_CONCAT(weft_state_, number) =                    \
      WEFT_INTERNAL_CONCAT(weft_site_, number).wanted();                    \
  [[maybe_unused]] const ::weft::Span WEFT_INTERNAL_CONCAT(weft_span_,      \
                                                           number) =        \
      WEFT_INTERNAL_CONCAT(weft_state_, number) != 0                        \
          ? ::weft::Span(WEFT_INTERNAL_CONCAT(weft_state_, number),         \
                         WEFT_INTERNAL_CONCAT(weft_site_, number), "")      \
          : ::weft::Span()

namespace weft::internal {

// The name is copied before this returns.
inline Span make_dynamic_span(SiteData& site, std::string_view name,
                              const Argument& a = {}, const Argument& b = {},
                              const Argument& c = {},
                              const Argument& d = {}) noexcept {
  return Span(site, intern(name), a, b, c, d);
}

}  // namespace weft::internal

#else

#define WEFT_SPAN(...) static_assert(true, "")
#define WEFT_SPAN_CAT(...) static_assert(true, "")
#define WEFT_SPAN_NAMED(variable, ...) \
  [[maybe_unused]] ::weft::DisabledSpan variable
#define WEFT_SPAN_NAMED_CAT(variable, ...) \
  [[maybe_unused]] ::weft::DisabledSpan variable
#define WEFT_SPAN_DYN(...) static_assert(true, "")
#define WEFT_SPAN_DYN_CAT(...) static_assert(true, "")
#define WEFT_FUNCTION() static_assert(true, "")

#endif

#endif  // WEFT_SPAN_H_
