// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_FILE_TAIL_H_
#define WEFT_EXPORT_SRC_FILE_TAIL_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "items.h"

namespace weft::exporters {

// Writes the index and the trailer: what stands behind the end block, which a
// reader can do without. `offset` is where they begin in the file; `memory` has
// kMaxBlockBytes. False as soon as `write` is.
bool write_index(
    const std::vector<IndexEntry>& index, std::uint64_t offset,
    std::uint8_t* memory, std::uint64_t* sequence,
    const std::function<bool(const std::uint8_t*, std::size_t)>& write);

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_FILE_TAIL_H_
