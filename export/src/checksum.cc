// SPDX-License-Identifier: Apache-2.0
#include "checksum.h"

// Compiled into this file alone, so that users of the library link nothing.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weft::exporters {

std::uint64_t checksum(const void* bytes, std::size_t size) noexcept {
  return XXH3_64bits(bytes, size);
}

}  // namespace weft::exporters
