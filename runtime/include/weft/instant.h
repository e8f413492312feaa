// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_INSTANT_H_
#define WEFT_INSTANT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weft/argument.h"
#include "weft/internal/api.h"
#include "weft/internal/macros.h"
#include "weft/site.h"
#include "weft/span.h"

namespace weft::internal {

// Thread-safe. Hot once the thread and the site are known: one read of the
// cycle counter, one slot and one an argument.
WEFT_API void record_instant(SiteData& site, StringId name,
                             const Argument* arguments,
                             std::size_t count) noexcept;

// Thread-safe. Hot likewise; two slots. `value` is a number of any type.
WEFT_API void record_counter(SiteData& site, const Argument& value) noexcept;

// Thread-safe. Hot likewise. Steps count the iterations of a loop.
WEFT_API void record_step(SiteData& site, std::uint64_t number) noexcept;

template <std::size_t kName>
void instant(SiteData& site, const char (&)[kName], const Argument& a = {},
             const Argument& b = {}, const Argument& c = {},
             const Argument& d = {}) noexcept {
  const Argument list[] = {a, b, c, d};
  record_instant(site, StringId::kNone, list, 4);
}
inline void instant_dyn(SiteData& site, std::string_view name,
                        const Argument& a = {}, const Argument& b = {},
                        const Argument& c = {},
                        const Argument& d = {}) noexcept {
  const Argument list[] = {a, b, c, d};
  record_instant(site, intern(name), list, 4);
}

}  // namespace weft::internal

// WEFT_INSTANT("cache_miss", {"key", k});   a named point in time, up to four
//                                           arguments
// WEFT_COUNTER("queue_depth", depth);       a value sampled over time
// WEFT_STEP("frame", number);               the program begins its next step
#if !defined(WEFT_DISABLED)

#define WEFT_INSTANT(...) WEFT_INSTANT_CAT("", __VA_ARGS__)
#define WEFT_INSTANT_CAT(category, ...)                                 \
  WEFT_INTERNAL_CALL(kInstant, category,                                \
                     WEFT_INTERNAL_FIRST(__VA_ARGS__), instant,         \
                     __VA_ARGS__)
#define WEFT_INSTANT_DYN(...) WEFT_INSTANT_DYN_CAT("", __VA_ARGS__)
#define WEFT_INSTANT_DYN_CAT(category, ...) \
  WEFT_INTERNAL_CALL(kInstant, category, "", instant_dyn, __VA_ARGS__)
#define WEFT_COUNTER(name, value) WEFT_COUNTER_CAT("", name, value)
#define WEFT_COUNTER_CAT(category, name, value)                 \
  WEFT_INTERNAL_CALL(kCounter, category, name, record_counter,  \
                     ::weft::Argument("value", value))
#define WEFT_STEP(name, number) \
  WEFT_INTERNAL_CALL(kStep, "", name, record_step, number)

#define WEFT_INTERNAL_CALL(kind, category, name, function, ...)   \
  do {                                                            \
    WEFT_INTERNAL_SITE(weft_site_, kind, category, name);         \
    if (weft_site_.on())                                          \
      ::weft::internal::function(weft_site_, __VA_ARGS__);        \
  } while (false)

#else

#define WEFT_INSTANT(...) static_assert(true, "")
#define WEFT_INSTANT_CAT(...) static_assert(true, "")
#define WEFT_INSTANT_DYN(...) static_assert(true, "")
#define WEFT_INSTANT_DYN_CAT(...) static_assert(true, "")
#define WEFT_COUNTER(...) static_assert(true, "")
#define WEFT_COUNTER_CAT(...) static_assert(true, "")
#define WEFT_STEP(...) static_assert(true, "")

#endif

#endif  // WEFT_INSTANT_H_
