// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_VERSION_H_
#define WEFT_VERSION_H_

#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0
#define WEFT_VERSION "0.1.0"

#include "weft/internal/api.h"

namespace weft {

// Of the library that runs; the macros are of the headers that were compiled.
WEFT_API const char* version() noexcept;

}  // namespace weft

#endif  // WEFT_VERSION_H_
