// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_MODULE_SCOPE_H_
#define WEFT_PROFILE_MODULE_SCOPE_H_

// Where calls belong in the program's own hierarchy: what lies inside of
//
//   WEFT_MODULE("TOP(Net)::forward");
//     WEFT_MODULE("A0(Attention)::forward");
//
// has both names in its row, outermost first, in sessions with with_modules.
// In others, and in traces, modules do not appear, and cost a disabled span.

#include "weft/internal/macros.h"
#include "weft/span.h"

#if !defined(WEFT_DISABLED)
#define WEFT_MODULE(name) WEFT_SPAN_CAT("+module", name)
#define WEFT_MODULE_DYN(name) WEFT_SPAN_DYN_CAT("+module", name)
#else
#define WEFT_MODULE(name) static_assert(true, "")
#define WEFT_MODULE_DYN(name) static_assert(true, "")
#endif

#endif  // WEFT_PROFILE_MODULE_SCOPE_H_
