// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_RINGBUF_SLOT_H_
#define WEFT_RINGBUF_SLOT_H_

#include <cstdint>

namespace weft::ringbuf {

// The fixed 16 bytes that rings are made of. What the words mean is written in
// weft/record.h; rings move them and never look inside.
struct alignas(16) Slot {
  std::uint64_t word0;
  std::uint64_t word1;
};
static_assert(sizeof(Slot) == 16, "a slot is two words");

// The most slots one record may have. Rings keep this much margin where a
// record may be half written, so it is part of their protocol.
inline constexpr std::uint32_t kMaxRecordSlots = 64;

}  // namespace weft::ringbuf

#endif  // WEFT_RINGBUF_SLOT_H_
