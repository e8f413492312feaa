// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SITE_H_
#define WEFT_SITE_H_

// The static descriptor of an instrumented place in the source.
//
// Every macro makes one, constant-initialised, so that it costs nothing before
// its first use. Its state byte is all that a disabled site looks at:
//
//   0x80 unregistered --first use, 0x81--> 0 off  <--+
//                        |                           | categories, start, stop
//                        +---------> 2 on, slow path-+
//                                    |  first record: gets its id, names copied
//                                    v               |
//                                    1 on, fast path-+
//
// State 2 is also where a site stays whose clock is not the cycle counter. Bit 4
// beside these says that somebody wants to see the calls themselves, with their
// inputs or from inside: only sites of instrumented calls (SiteRole::kCall)
// have it, and it leads around the fast path.
// Text is copied into the process's string table at the first record, so a
// plugin may be unloaded while its records are still on their way.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weft/catalog.h"
#include "weft/internal/api.h"
#include "weft/ringbuf/platform.h"

namespace weft::internal {

inline constexpr std::uint8_t kSiteOff = 0;
inline constexpr std::uint8_t kSiteFast = 1;
inline constexpr std::uint8_t kSiteSlow = 2;
inline constexpr std::uint8_t kSiteObserved = 4;  // beside one of the above
inline constexpr std::uint8_t kSiteUnregistered = 0x80;
inline constexpr std::uint8_t kSiteRegistering = 0x81;  // by another thread, or
                                                        // by what this one interrupts

struct ModuleAnchorData;

enum class SiteRole : std::uint8_t {
  kPlain = 0,
  kCall = 1,  // can be observed; its arguments are those of call_record.h
};

// What the library sees of a site. Exported type; the descriptors themselves
// are Site below.
struct SiteData {
  std::atomic<std::uint8_t> state{kSiteUnregistered};
  SiteKind kind;
  SiteRole role;
  std::atomic<std::uint32_t> number{0};  // SiteId; 0 until its first record
  std::uint32_t line;
  const char* name;
  const char* category;
  const char* file;
  ModuleAnchorData* module;
  SiteData* next = nullptr;  // list of registered sites

  constexpr SiteData(SiteKind the_kind, const char* the_name,
                     const char* the_category, const char* the_file,
                     std::uint32_t the_line, ModuleAnchorData* the_module,
                     SiteRole the_role = SiteRole::kPlain)
      : kind(the_kind),
        role(the_role),
        line(the_line),
        name(the_name),
        category(the_category),
        file(the_file),
        module(the_module) {}

  // The state, off for a site that was not registered and is not wanted. Hot
  // when off or on: one load and a branch, or two.
  WEFT_ALWAYS_INLINE std::uint8_t wanted() noexcept;
  // True when a record is wanted.
  WEFT_ALWAYS_INLINE bool on() noexcept { return wanted() != kSiteOff; }
};

// Thread-safe. Cold: the state of a site that is neither off nor fast, made
// known before if it was not.
WEFT_API std::uint8_t settle_site(SiteData& site) noexcept;

// Thread-safe. Cold. Whether calls are observed: counted, so that each true has
// its false.
WEFT_API void observe_calls(bool observed);

// Thread-safe. Cold: forgets all sites of a module that is being unloaded.
WEFT_API void unlink_module(ModuleAnchorData& module) noexcept;

WEFT_ALWAYS_INLINE std::uint8_t SiteData::wanted() noexcept {
  // Relaxed: the byte is a switch, it publishes nothing.
  const std::uint8_t now = state.load(std::memory_order_relaxed);
  if (WEFT_LIKELY(now == kSiteOff)) return kSiteOff;
  if (WEFT_LIKELY(now == kSiteFast)) return kSiteFast;
  return settle_site(*this);
}

struct ModuleAnchorData {};

// One in each shared object. The visibility is on the types, where the
// compiler heeds it: statics of a hidden type in templates and inline functions
// do not become STB_GNU_UNIQUE symbols, which would pin the plugin for ever.
struct __attribute__((visibility("hidden"))) ModuleAnchor : ModuleAnchorData {
  constexpr ModuleAnchor() noexcept = default;
  ~ModuleAnchor() { unlink_module(*this); }
};
// Of the variable too: its guard does not follow the type.
__attribute__((visibility("hidden"))) inline ModuleAnchor module_anchor;

struct __attribute__((visibility("hidden"))) Site : SiteData {
  template <std::size_t kName, std::size_t kCategory>
  constexpr Site(SiteKind the_kind, const char (&the_name)[kName],
                 const char (&the_category)[kCategory], const char* the_file,
                 std::uint32_t the_line, SiteRole the_role = SiteRole::kPlain)
      : Site(the_kind, the_name, static_cast<const char*>(the_category),
             the_file, the_line, the_role) {}
  constexpr Site(SiteKind the_kind, const char* the_name,
                 const char* the_category, const char* the_file,
                 std::uint32_t the_line, SiteRole the_role)
      : SiteData(the_kind, the_name, the_category, the_file, the_line,
                 &module_anchor, the_role) {}
};

}  // namespace weft::internal

#endif  // WEFT_SITE_H_
