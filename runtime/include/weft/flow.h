// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_FLOW_H_
#define WEFT_FLOW_H_

#include <cstdint>

#include "weft/instant.h"
#include "weft/internal/api.h"

namespace weft {

namespace internal {

// Thread-safe. Hot; two slots.
WEFT_API void record_flow_out(SiteData& site, std::uint64_t flow) noexcept;
WEFT_API void record_flow_in(SiteData& site, std::uint64_t flow) noexcept;
WEFT_API void record_flow_out_global(SiteData& site,
                                     std::uint64_t flow) noexcept;
WEFT_API void record_flow_in_global(SiteData& site,
                                     std::uint64_t flow) noexcept;

}  // namespace internal

// A new id for a flow: unique in the process. Thread-safe. Warm: takes a block
// of ids from a shared counter now and then.
WEFT_API std::uint64_t next_flow_id() noexcept;

}  // namespace weft

// Arrows from one span to a later one, on any thread:
//
//   sender:    WEFT_FLOW_OUT("hand_off", id);
//   receiver:  WEFT_FLOW_IN("hand_off", id);
//
// Both inside the spans that the arrow joins, with the same name and id. Ids
// mean something in this process only; those of _GLOBAL flows are also joined
// with those of other processes when their files are merged. The receiver reads
// the clock after everything before it, so an arrow never points backwards on
// one machine.
#if !defined(WEFT_DISABLED)

#define WEFT_FLOW_OUT(name, id) \
  WEFT_INTERNAL_CALL(kFlowOut, "", name, record_flow_out, id)
#define WEFT_FLOW_IN(name, id) \
  WEFT_INTERNAL_CALL(kFlowIn, "", name, record_flow_in, id)
#define WEFT_FLOW_OUT_GLOBAL(name, id) \
  WEFT_INTERNAL_CALL(kFlowOut, "", name, record_flow_out_global, id)
#define WEFT_FLOW_IN_GLOBAL(name, id) \
  WEFT_INTERNAL_CALL(kFlowIn, "", name, record_flow_in_global, id)

#else

#define WEFT_FLOW_OUT(...) static_assert(true, "")
#define WEFT_FLOW_IN(...) static_assert(true, "")
#define WEFT_FLOW_OUT_GLOBAL(...) static_assert(true, "")
#define WEFT_FLOW_IN_GLOBAL(...) static_assert(true, "")

#endif

#endif  // WEFT_FLOW_H_
