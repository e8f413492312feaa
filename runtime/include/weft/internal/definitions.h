// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_INTERNAL_DEFINITIONS_H_
#define WEFT_INTERNAL_DEFINITIONS_H_

// What the numbers in delivered records mean, for who keeps records in memory
// and looks at them later. Readable until the process ends; a forked child
// knows none of its parent's.

#include <string_view>

#include "weft/catalog.h"
#include "weft/internal/api.h"
#include "weft/record.h"

namespace weft::internal {

// Empty when unknown. Thread-safe.
WEFT_API std::string_view text_of(StringId number) noexcept;
// False when unknown. Thread-safe.
WEFT_API bool describe_site(SiteId number, SiteInfo* info) noexcept;

}  // namespace weft::internal

#endif  // WEFT_INTERNAL_DEFINITIONS_H_
