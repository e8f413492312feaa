// SPDX-License-Identifier: Apache-2.0
#include "file_tail.h"

#include <algorithm>
#include <cstddef>

#include "checksum.h"

namespace weft::exporters {

bool write_index(
    const std::vector<IndexEntry>& index, std::uint64_t offset,
    std::uint8_t* memory, std::uint64_t* sequence,
    const std::function<bool(const std::uint8_t*, std::size_t)>& write) {
  BlockEncoder block;
  std::size_t at = 0;
  do {
    const std::size_t count = std::min(kIndexEntriesPerBlock, index.size() - at);
    block.start(memory, kMaxBlockBytes);
    put_index(block, index.data() + at, count);
    if (!write(memory, block.finish((*sequence)++))) return false;
    at += count;
  } while (at < index.size());

  Trailer trailer{kTrailerMagic, offset, 0};
  trailer.hash = checksum(&trailer, offsetof(Trailer, hash));
  store(memory, trailer);
  return write(memory, sizeof trailer);
}

}  // namespace weft::exporters
