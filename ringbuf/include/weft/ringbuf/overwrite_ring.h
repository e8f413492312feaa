// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_RINGBUF_OVERWRITE_RING_H_
#define WEFT_RINGBUF_OVERWRITE_RING_H_

// The flight-recorder form of the ring: nobody drains it, the writer overwrites
// its oldest slots, and a snapshot copies what is there without stopping it.
//
// The writer is BasicRingWriter after set_overwrite(); its hot path is the same.
//
//   write - capacity          write - capacity + 64                write
//        |  may be half overwritten  |  whole records               |
//        [ - - - - - - - - - - - - - | ---------------------------- )
//
// A snapshot copies the slots and then looks at write_pos again. What the
// writer may have touched in the meantime is thrown away: everything older than
// write - capacity, and the 64 slots after that, where a record may be under
// way (kMaxRecordSlots; a claimed record begins at write_pos and is at most
// that long).
//
// Why no record is torn. Let the copy hold a word of position p that the writer
// had already replaced by position q = p + k * capacity. Data words are release
// stores read by acquire loads [E], so the reader then also sees every earlier
// store of the writer, among them the write_pos w at which the record holding q
// began, with q - 63 <= w. The second load of write_pos gives at least w, hence
// p <= q - capacity <= w + 63 - capacity lies below the margin and is dropped.
// Plain or relaxed data words would lose that argument.

#include <atomic>
#include <cstdint>

#include "weft/ringbuf/platform.h"
#include "weft/ringbuf/spsc_ring.h"

namespace weft::ringbuf {

// Where a snapshot's slots lie in the stream.
struct SnapshotRange {
  std::uint64_t begin = 0;  // position of the first slot that is whole
  std::uint64_t end = 0;    // one past the last

  bool empty() const noexcept { return begin >= end; }
};

// Any one thread; the writer goes on. `segment` is the one that the writer is
// in, before and after. Copies the ring's slots to `copy`, which
// has room for segment.capacity slots: position p goes to
// copy[p & (capacity - 1)]. The range may begin in the middle of a record:
// skip continuation slots at its start. `from` is the first position wanted.
template <class P>
SnapshotRange take_ring_snapshot(const BasicRingControl<P>& control,
                                 const BasicSegment<P>& segment,
                                 std::uint64_t from, Slot* copy) noexcept {
  const std::uint64_t capacity = segment.capacity;
  const std::uint64_t mask = capacity - 1;
  SnapshotRange range;
  range.end = control.write_pos.load(std::memory_order_acquire);  // [A]
  range.begin = range.end > capacity ? range.end - capacity : 0;
  if (range.begin < from) range.begin = from;
  for (std::uint64_t p = range.begin; p < range.end; ++p) {
    copy[p & mask].word0 = P::load(segment.slots[p & mask].word0);  // [E]
    copy[p & mask].word1 = P::load(segment.slots[p & mask].word1);  // [E]
  }
  const std::uint64_t now = control.write_pos.load(std::memory_order_acquire);
  const std::uint64_t touched = now + P::kMaxRecordSlots;
  const std::uint64_t safe = touched > capacity ? touched - capacity : 0;
  if (range.begin < safe) range.begin = safe;
  return range;
}

}  // namespace weft::ringbuf

#endif  // WEFT_RINGBUF_OVERWRITE_RING_H_
