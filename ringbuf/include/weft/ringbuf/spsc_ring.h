// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_RINGBUF_SPSC_RING_H_
#define WEFT_RINGBUF_SPSC_RING_H_

// A ring of 16-byte slots with one producer thread and one consumer thread.
//
// The producer is an instrumented thread, the consumer is the drainer. A record
// is one or more slots: claimed, filled in place, then published together.
//
//        read_pos                write_pos             read_pos + capacity
//           |                        |                          |
//   [ freed | published records      | free ... | promised      )
//
// Positions count slots since the thread began and only grow; a slot lives at
// `pos & (capacity - 1)` of its segment. At 100 M slots/s a position overflows
// after 5,800 years.
//
// The memory under the positions may change: the producer moves on to another,
// larger or smaller segment and leaves a link to it. Positions, promises and
// counts go on; the consumer follows the link when it gets there.
//
//   segment 0  [..........|            segment 1  |..................)
//                         ^ link_pos = first position in segment 1
//
// Promises. A record that opens something (a span) also promises a slot for the
// record that closes it. An end whose begin was accepted therefore never finds
// the ring full, and begin and end never part.
//
// Signal handlers. A handler may record while it interrupts a record of its own
// thread. `busy` is set from before the record's position is read until after
// it is published; a nested producer that sees it set must write elsewhere
// (side_ring.h). A handler that runs before `busy` is set, or after it is
// cleared, simply makes a whole record of its own.
//
// Invariants:
//   I1  read_pos <= write_pos, and write + promised <= limit
//       <= max(read_pos, segment start) + capacity.
//   I2  [read_pos, write_pos) holds only whole, published records.
//   I3  Only the producer stores write_pos, link_* and refused; only the
//       consumer stores read_pos and resets link_pos.
//   I4  capacity is a power of two and >= 2 * kMaxRecordSlots.
//   I5  limit may be stale; a stale one only sends the producer to refill().
//   I6  At most one link is pending.
//
// Memory order. Each edge is a release store read by an acquire load:
//   [A] write_pos, producer -> consumer: the slots of a record, and a link that
//       lies before it, are complete before the consumer can see the position.
//   [B] read_pos, consumer -> producer: the consumer has finished reading the
//       slots before the producer may overwrite them.
//   [C] link_pos reset, consumer -> producer: the consumer has left the old
//       segment before the producer may leave another link.
//   [D] returned, any thread -> producer: promises given back by an end that
//       was recorded elsewhere.
//   [H] busy cleared, producer -> whoever waits for it: the record that was
//       under way is published. Free on x86-64.
// A side reads its own position from a plain copy: nobody else writes it (I3).
// Nothing here is seq_cst, because no side stores one position and then decides
// by loading the other. A drainer that sleeps until a producer wakes it would
// do exactly that, which is why the drainer polls (ADR 0003).

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weft/ringbuf/cache_line.h"
#include "weft/ringbuf/platform.h"
#include "weft/ringbuf/slot.h"

namespace weft::ringbuf {

inline constexpr std::uint64_t kNoLink = ~std::uint64_t{0};

// What producer and consumer share. Holds offsets and no pointers, so that it
// can lie in a file that another process opens after a crash.
template <class P>
struct BasicRingControl {
  template <class T>
  using Atomic = typename P::template Atomic<T>;

  // Written by the producer.
  alignas(kCacheLine) Atomic<std::uint64_t> write_pos{0};
  Atomic<std::uint64_t> refused{0};        // records refused, since the beginning
  Atomic<std::uint64_t> link_pos{kNoLink};
  Atomic<std::uint64_t> link_offset{0};    // of the next segment, in its memory
  Atomic<std::uint64_t> link_capacity{0};  // slots

  // Written by the consumer.
  alignas(kCacheLine) Atomic<std::uint64_t> read_pos{0};

  // Written by anybody, rarely: owner << 32 | promises given back. The owner is
  // a number of its user's choice, set before others may know the ring.
  alignas(kCacheLine) Atomic<std::uint64_t> returned{0};

  // Any thread. Gives one promise back: its end was recorded elsewhere. False
  // when the ring is no longer `owner`'s. The caller does not touch the ring
  // for that span afterwards.
  bool return_promise(std::uint32_t owner = 0) noexcept {
    // Relaxed: only the first guess of the exchange below.
    std::uint64_t now = returned.load(std::memory_order_relaxed);
    do {
      if (now >> 32 != owner) return false;
    } while (!returned.compare_exchange_weak(now, now + 1,
                                             std::memory_order_release,  // [D]
                                             std::memory_order_relaxed));
    return true;
  }
};

// A piece of ring memory.
template <class P>
struct BasicSegment {
  typename P::Slot* slots = nullptr;
  std::uint64_t capacity = 0;  // slots; a power of two, or 0 for none
  std::uint64_t offset = 0;    // of `slots` in its memory
};

// The producer's side. Lives in memory that only the producer writes; all zero
// is a valid state that refuses everything, which is what a forked child finds
// (ring_memory.h: the page is wiped on fork).
template <class P>
class BasicRingWriter {
 public:
  using Control = BasicRingControl<P>;
  using Segment = BasicSegment<P>;

  // A refill hands out this many slots at most, so that the producer looks at
  // returned promises and offered segments now and then. A refill costs some
  // 20 ns: 0.02 ns a slot.
  static constexpr std::uint64_t kRefillSlots = 1024;

  // Producer only. Cold. Continues at `position`, or starts at 0.
  void attach(Control* control, const Segment& segment,
              std::uint64_t position) noexcept {
    control_ = control;
    use(segment, position);
    write_ = position;
    limit_ = position;
  }

  // Producer only. Hot. Claims room for a record of `slots` slots that promises
  // `promise` more to later ends. After true: put(), then publish(). False: no
  // room, or a record of this thread is being written; see busy().
  [[nodiscard]] WEFT_ALWAYS_INLINE bool claim(std::uint32_t slots,
                                              std::uint32_t promise) noexcept {
    if (WEFT_UNLIKELY(busy())) return false;
    enter();
    if (WEFT_UNLIKELY(write_ + promised_ + slots + promise > limit_)) {
      leave();
      return false;
    }
    promised_ += promise;
    return true;
  }

  // Producer only. Hot. Claims the slot that a begin was promised. False when
  // there is no promise (a forked child) or when busy.
  [[nodiscard]] WEFT_ALWAYS_INLINE bool claim_promised() noexcept {
    if (WEFT_UNLIKELY(busy() || promised_ == 0)) return false;
    enter();
    --promised_;
    return true;
  }

  // Producer only. Hot. Writes slot `index` of the claimed record.
  WEFT_ALWAYS_INLINE void put(std::uint32_t index, std::uint64_t word0,
                              std::uint64_t word1) noexcept {
    typename P::Slot& slot = slots_[(write_ + index) & mask_];
    P::store(slot.word0, word0);
    P::store(slot.word1, word1);
  }

  // Producer only. Hot. Makes the claimed record visible.
  WEFT_ALWAYS_INLINE void publish(std::uint32_t slots) noexcept {
    write_ += slots;
    control_->write_pos.store(write_, std::memory_order_release);  // [A]
    leave();
  }

  // Producer only. Cold; while entered. Room for `slots` and `promise`, after
  // a look at what the consumer has freed. True: limit is raised.
  bool refill(std::uint32_t slots, std::uint32_t promise) noexcept {
    take_returned();
    const std::uint64_t read =
        control_->read_pos.load(std::memory_order_acquire);  // [B]
    const std::uint64_t base = read > segment_start_ ? read : segment_start_;
    const std::uint64_t room_end = base + mask_ + 1;
    const std::uint64_t needed = write_ + promised_ + slots + promise;
    if (overwrite_) {
      limit_ = needed + kRefillSlots;
      return true;
    }
    limit_ = needed + kRefillSlots < room_end ? needed + kRefillSlots : room_end;
    return needed <= limit_;
  }

  // Producer only. Cold; while entered. Moves on to `segment`; refill() then
  // finds its room. False while an earlier link is pending (I6), and when
  // `segment` could not hold what is promised and one slot more.
  bool move_to(const Segment& segment) noexcept {
    if (control_->link_pos.load(std::memory_order_acquire) != kNoLink)  // [C]
      return false;
    if (promised_ >= segment.capacity) return false;
    // Relaxed: published by the next write_pos, see [A].
    control_->link_offset.store(segment.offset, std::memory_order_relaxed);
    control_->link_capacity.store(segment.capacity, std::memory_order_relaxed);
    control_->link_pos.store(write_, std::memory_order_relaxed);
    use(segment, write_);
    // The old limit counts the old segment's room, which may be larger.
    limit_ = write_ + promised_;
    return true;
  }

  // Producer only. Counts records that found no room: a begin also stands for
  // the end that will not come.
  void refuse(std::uint32_t records = 1) noexcept {
    refused_ += records;
    // Relaxed: a count of its own; the drainer reads it after a last pass.
    control_->refused.store(refused_, std::memory_order_relaxed);
  }

  // Producer only. Never refuses again: what is oldest gets overwritten, and
  // the reader must be a snapshot (overwrite_ring.h).
  void set_overwrite() noexcept { overwrite_ = true; }

  // A record of this thread is being written. Also read by the drainer at the
  // end of a subscription, to wait for records that are under way.
  bool busy() const noexcept {
    return busy_.load(std::memory_order_acquire) != 0;  // [H]
  }
  WEFT_ALWAYS_INLINE void enter() noexcept {
    busy_.store(1, std::memory_order_relaxed);  // relaxed: ordered by the fence
    P::signal_fence();
  }
  WEFT_ALWAYS_INLINE void leave() noexcept {
    P::signal_fence();
    busy_.store(0, std::memory_order_release);  // [H]
  }

  std::uint64_t position() const noexcept { return write_; }
  std::uint64_t promised() const noexcept { return promised_; }
  std::uint64_t capacity() const noexcept { return mask_ + 1; }
  std::uint64_t refused() const noexcept { return refused_; }
  bool attached() const noexcept { return control_ != nullptr; }

 private:
  void take_returned() noexcept {
    const auto count = static_cast<std::uint32_t>(
        control_->returned.load(std::memory_order_acquire));  // [D]
    if (count == 0) return;
    // Relaxed: takes away what was seen; [D] was the load. Others only add.
    control_->returned.fetch_add(0 - std::uint64_t{count},
                                 std::memory_order_relaxed);
    promised_ -= count < promised_ ? count : promised_;
  }

  void use(const Segment& segment, std::uint64_t start) noexcept {
    slots_ = segment.slots;
    mask_ = segment.capacity - 1;
    segment_start_ = start;
  }

  typename P::Slot* slots_ = nullptr;
  std::uint64_t mask_ = 0;
  std::uint64_t write_ = 0;     // own copy of write_pos
  std::uint64_t limit_ = 0;     // write_ + promised_ may go up to here (I1)
  std::uint64_t promised_ = 0;  // slots that ends of open spans will need
  Control* control_ = nullptr;
  typename P::template Atomic<std::uint32_t> busy_{0};
  bool overwrite_ = false;
  std::uint64_t segment_start_ = 0;
  std::uint64_t refused_ = 0;
};

// The consumer's side.
template <class P>
class BasicRingReader {
 public:
  using Control = BasicRingControl<P>;
  using Segment = BasicSegment<P>;

  // Published slots, in at most two pieces.
  struct Slots {
    const typename P::Slot* first = nullptr;
    std::uint32_t first_count = 0;
    const typename P::Slot* second = nullptr;
    std::uint32_t second_count = 0;
    std::uint32_t size() const noexcept { return first_count + second_count; }
  };

  // Consumer only.
  void attach(Control* control, const Segment& segment,
              std::uint64_t position) noexcept {
    control_ = control;
    segment_ = segment;
    read_ = position;
  }

  // Consumer only. Everything that is published in the present segment. Stays
  // readable until release().
  Slots peek() const noexcept {
    const std::uint64_t end = readable_end();
    Slots slots;
    if (end == read_) return slots;
    const std::uint64_t count = end - read_;
    const std::uint64_t begin = read_ & (segment_.capacity - 1);
    const std::uint64_t to_wrap = segment_.capacity - begin;
    slots.first = segment_.slots + begin;
    slots.first_count =
        static_cast<std::uint32_t>(count < to_wrap ? count : to_wrap);
    if (count > to_wrap) {
      slots.second = segment_.slots;
      slots.second_count = static_cast<std::uint32_t>(count - to_wrap);
    }
    return slots;
  }

  // Consumer only. Gives `count` slots of peek() back to the producer.
  void release(std::uint32_t count) noexcept {
    read_ += count;
    control_->read_pos.store(read_, std::memory_order_release);  // [B]
  }

  // Consumer only. True when everything before a link is released and there is
  // something behind it: then resolve the offset and call follow().
  bool at_link(std::uint64_t* offset, std::uint64_t* capacity) const noexcept {
    // A position behind the link makes the link's fields visible; one that is
    // not yet behind it proves nothing about them.
    if (control_->write_pos.load(std::memory_order_acquire) <= read_)  // [A]
      return false;
    if (control_->link_pos.load(std::memory_order_relaxed) != read_)
      return false;
    *offset = control_->link_offset.load(std::memory_order_relaxed);
    *capacity = control_->link_capacity.load(std::memory_order_relaxed);
    return true;
  }

  // Consumer only. Moves on to the link's segment; returns the one that is now
  // free to be used again.
  Segment follow(const Segment& next) noexcept {
    const Segment old = segment_;
    segment_ = next;
    control_->link_pos.store(kNoLink, std::memory_order_release);  // [C]
    return old;
  }

  std::uint64_t position() const noexcept { return read_; }
  const Segment& segment() const noexcept { return segment_; }

 private:
  std::uint64_t readable_end() const noexcept {
    const std::uint64_t write =
        control_->write_pos.load(std::memory_order_acquire);  // [A]
    const std::uint64_t link =
        control_->link_pos.load(std::memory_order_relaxed);  // after [A]
    return link < write ? link : write;
  }

  Control* control_ = nullptr;
  Segment segment_;
  std::uint64_t read_ = 0;  // own copy of read_pos
};

using RingControl = BasicRingControl<Platform>;
using RingWriter = BasicRingWriter<Platform>;
using RingReader = BasicRingReader<Platform>;
using Segment = BasicSegment<Platform>;

static_assert(alignof(RingControl) == kCacheLine);
static_assert(offsetof(RingControl, read_pos) -
                      offsetof(RingControl, write_pos) >= kCacheLine,
              "producer and consumer write separate lines");
static_assert(offsetof(RingControl, returned) -
                      offsetof(RingControl, read_pos) >= kCacheLine,
              "foreign writes have a line of their own");

}  // namespace weft::ringbuf

#endif  // WEFT_RINGBUF_SPSC_RING_H_
