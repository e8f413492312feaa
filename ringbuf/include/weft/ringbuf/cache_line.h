// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_RINGBUF_CACHE_LINE_H_
#define WEFT_RINGBUF_CACHE_LINE_H_

#include <cstddef>

namespace weft::ringbuf {

// Fields with different writers are kept this far apart. Twice the 64-byte
// line, because x86 prefetchers fetch lines in pairs and some aarch64 cores
// have lines of 128 bytes.
inline constexpr std::size_t kCacheLine = 128;

}  // namespace weft::ringbuf

#endif  // WEFT_RINGBUF_CACHE_LINE_H_
