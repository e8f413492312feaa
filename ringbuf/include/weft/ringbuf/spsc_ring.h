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
// thread. From before the record's position is read until after it is published
// the limit reads "busy"; a nested producer that sees that must write elsewhere
// (side_ring.h). A handler that runs just before makes a whole record of its
// own and puts the limit back; the record that it interrupted goes by the limit
// it had read, which is stale, but not too high (I5). So one word is both the
// room check and the guard, and costs one store more than no guard at all.
//
// Invariants:
//   I1  read_pos <= write_pos. write_pos + promised, and every limit that is
//       or may come back, are <= max(read_pos, segment start) + capacity.
//   I2  [read_pos, write_pos) holds only whole, published records.
//   I3  Only the producer stores write_pos, link_* and refused; only the
//       consumer stores read_pos and resets link_pos.
//   I4  capacity is a power of two and >= 2 * kMaxRecordSlots.
//   I5  limit may be stale: lower than it could be, which only sends the
//       producer to refill(), or higher than the last one set, when that one
//       was set after promises came back. None is above highest_limit_.
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
//   [H] limit put back, producer -> whoever waits for it: the record that was
//       under way is published. Free on x86-64.
// A side reads its own position relaxed: nobody else writes it (I3).
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

  // A record under way. Kept in registers between claim() and publish().
  struct Claim {
    std::uint64_t position = 0;  // of its first slot
    std::uint64_t limit = 0;     // to be put back
  };

  // Producer only. Cold. Continues at `position`, or starts at 0.
  void attach(Control* control, const Segment& segment,
              std::uint64_t position) noexcept {
    control_ = control;
    use(segment, position);
    control_->write_pos.store(position, std::memory_order_relaxed);  // not shared
    highest_limit_ = position + 1;
    set_limit(position + 1);
  }

  // Producer only. Hot. Claims room for a record of `slots` slots that promises
  // `promise` more to later ends. After true: put(), then publish(). False: no
  // room, or a record of this thread is being written; see busy().
  [[nodiscard]] WEFT_ALWAYS_INLINE bool claim(std::uint32_t slots,
                                              std::uint32_t promise,
                                              Claim& claim) noexcept {
    claim.limit = limit_.load(std::memory_order_relaxed);  // own thread's
    if (WEFT_UNLIKELY(claim.limit == kBusy)) return false;
    limit_.store(kBusy, std::memory_order_relaxed);  // ordered by the fence
    P::signal_fence();
    claim.position = position();
    if (WEFT_UNLIKELY(claim.position + promised_ + slots + promise >
                      claim.limit)) {
      set_limit(claim.limit);
      return false;
    }
    promised_ += promise;
    return true;
  }

  // Producer only. Hot. Claims the slot that a begin was promised. False when
  // busy, and in a forked child.
  [[nodiscard]] WEFT_ALWAYS_INLINE bool claim_promised(Claim& claim) noexcept {
    claim.limit = limit_.load(std::memory_order_relaxed);  // own thread's
    if (WEFT_UNLIKELY(claim.limit == kBusy)) return false;
    limit_.store(kBusy, std::memory_order_relaxed);  // ordered by the fence
    P::signal_fence();
    claim.position = position();
    --promised_;
    return true;
  }

  // Producer only. Hot. Writes slot `index` of the claimed record.
  WEFT_ALWAYS_INLINE void put(const Claim& claim, std::uint32_t index,
                              std::uint64_t word0,
                              std::uint64_t word1) noexcept {
    typename P::Slot& slot = slots_[(claim.position + index) & mask_];
    P::store(slot.word0, word0);
    P::store(slot.word1, word1);
  }

  // Producer only. Hot. Makes the claimed record visible.
  WEFT_ALWAYS_INLINE void publish(const Claim& claim,
                                  std::uint32_t slots) noexcept {
    control_->write_pos.store(claim.position + slots,
                              std::memory_order_release);  // [A]
    set_limit(claim.limit);
  }

  // Producer only. What cold code does to the ring it does between these two,
  // as if it were a record. False: busy.
  [[nodiscard]] bool enter() noexcept {
    const std::uint64_t limit = limit_.load(std::memory_order_relaxed);
    if (limit == kBusy) return false;
    limit_.store(kBusy, std::memory_order_relaxed);  // ordered by the fence
    P::signal_fence();
    entered_limit_ = limit;
    return true;
  }
  void leave() noexcept { set_limit(entered_limit_); }

  // Producer only. Cold; while entered. Room for `slots` and `promise`, after
  // a look at what the consumer has freed. True: there is, after leave().
  bool refill(std::uint32_t slots, std::uint32_t promise) noexcept {
    take_returned();
    const std::uint64_t read =
        control_->read_pos.load(std::memory_order_acquire);  // [B]
    const std::uint64_t base = read > segment_start_ ? read : segment_start_;
    const std::uint64_t room_end = base + mask_ + 1;
    const std::uint64_t needed = position() + promised_ + slots + promise;
    const std::uint64_t wanted = needed + P::kRefillSlots;
    entered_limit_ = overwrite_ || wanted < room_end ? wanted : room_end;
    if (entered_limit_ > highest_limit_) highest_limit_ = entered_limit_;
    return needed <= entered_limit_;
  }

  // Producer only. Cold; while entered. Moves on to `segment`; refill() then
  // finds its room. False while an earlier link is pending (I6), and when
  // `segment` could not hold what is promised or what a limit allows.
  bool move_to(const Segment& segment) noexcept {
    if (control_->link_pos.load(std::memory_order_acquire) != kNoLink)  // [C]
      return false;
    // The limit stays, and an older one may come back: a handler can get here
    // after the claim that it interrupted has read its limit (I5). A segment
    // that is no smaller always reaches far enough (I1).
    const std::uint64_t room_end = position() + segment.capacity;
    if (position() + promised_ >= room_end || highest_limit_ > room_end)
      return false;
    // Relaxed: published by the next write_pos, see [A].
    control_->link_offset.store(segment.offset, std::memory_order_relaxed);
    control_->link_capacity.store(segment.capacity, std::memory_order_relaxed);
    control_->link_pos.store(position(), std::memory_order_relaxed);
    use(segment, position());
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

  // A record of this thread is being written. Also asked by who waits, at the
  // end of a subscription, for records that are under way.
  bool busy() const noexcept {
    return limit_.load(std::memory_order_acquire) == kBusy;  // [H]
  }

  // Relaxed: nobody else stores it (I3).
  std::uint64_t position() const noexcept {
    return control_->write_pos.load(std::memory_order_relaxed);
  }
  std::uint64_t promised() const noexcept { return promised_; }
  std::uint64_t capacity() const noexcept { return mask_ + 1; }
  std::uint64_t refused() const noexcept { return refused_; }

 private:
  // No limit of an attached ring is 0. A wiped one is, and so busy for ever.
  static constexpr std::uint64_t kBusy = 0;

  WEFT_ALWAYS_INLINE void set_limit(std::uint64_t limit) noexcept {
    P::signal_fence();
    limit_.store(limit, std::memory_order_release);  // [H]
  }

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
  // position + promised may go up to here (I1); kBusy during a record.
  typename P::template Atomic<std::uint64_t> limit_{kBusy};
  std::uint64_t promised_ = 0;  // slots that ends of open spans will need
  Control* control_ = nullptr;
  bool overwrite_ = false;
  std::uint64_t entered_limit_ = 0;  // while entered: the limit to be put back
  std::uint64_t highest_limit_ = 0;  // of all that were set
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
