// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_THREAD_REGISTRY_H_
#define WEFT_SRC_THREAD_REGISTRY_H_

// The threads that record, and their rings.
//
// A thread takes one of a fixed number of places at its first record and leaves
// it when it ends; its index is never used again, its place is, as soon as the
// drainer has read what it left.
//
//   free --enroll--> live --thread ends--> ended --drained--> free
//        (thread)          (thread)               (drainer)
//
// A place is spread over three arrays, by who writes: ThreadState (the thread;
// wiped in a forked child), RingControl (shared; dense, so that the drainer's
// scan is sequential), Place (registration and drainer).
//
// enroll() uses no lock and no malloc, since a signal handler may be what
// records first.
//
// Memory order. [P] phase: release by who changes it, acquire by who acts on
// it; everything else in the place is complete before. [A] arrivals_: release by
// who enrolled, acquire by the drainer; its place is live and linked.

#include <atomic>
#include <cstdint>

#include "segment_stock.h"
#include "string_table.h"
#include "weft/catalog.h"
#include "weft/internal/thread_state.h"
#include "weft/ringbuf/ring_memory.h"
#include "weft/ringbuf/spsc_ring.h"

namespace weft {

class ThreadRegistry {
 public:
  static constexpr std::uint32_t kMaxLiveThreads = 1 << 14;

  enum class Phase : std::uint32_t { kFree = 0, kLive = 1, kEnded = 2 };

  struct alignas(ringbuf::kCacheLine) Place {
    std::atomic<std::uint32_t> phase;     // Phase
    // Links free places, or those that the drainer has not met; slot + 1.
    std::atomic<std::uint32_t> next;
    std::uint32_t index;                  // ThreadIndex
    std::uint32_t tid;
    Ticks start_tick;
    Ticks end_tick;
    std::atomic<std::uint32_t> name;      // StringId
    std::atomic<std::uint32_t> revision;  // grows when the name changes
    ringbuf::Segment first_segment;
    // A smaller ring that the thread should move to: Rung + 1, 0 for none.
    std::atomic<std::uint32_t> offer;
    // Refused records of which a loss record tells (thread), or which the
    // drainer reported at the end of a subscription. The larger one counts.
    std::atomic<std::uint64_t> noted;
    std::atomic<std::uint64_t> reported;
  };

  ThreadRegistry(SegmentStock& stock, StringTable& strings)
      : stock_(&stock), strings_(&strings) {}
  bool reserve() noexcept;

  // The calling thread's state with a ring of at most `rung`; null when there
  // is no place or no memory. Async-signal-safe.
  internal::ThreadState* enroll(Rung rung, Ticks now) noexcept;
  // The calling thread is called `name` from now on.
  void rename(std::uint32_t slot, StringId name) noexcept {
    place_[slot].name.store(static_cast<std::uint32_t>(name),
                            std::memory_order_relaxed);
    // Release: who sees the new revision sees the new name.
    place_[slot].revision.fetch_add(1, std::memory_order_release);
  }
  // The calling thread records no more in its ring.
  void leave(internal::ThreadState& state, Ticks now) noexcept;

  // Producer only: a loss record tells of the first `refused` refusals.
  void note_losses(std::uint32_t slot, std::uint64_t refused) noexcept {
    // Relaxed: read after the thread's last record of a subscription.
    place_[slot].noted.store(refused, std::memory_order_relaxed);
  }

  // Any thread. Gives a promised slot back to the thread of this index, if it
  // is still there.
  void return_promise(std::uint32_t index) noexcept;

  // Drainer only. Calls `meet(slot)` for each place that was enrolled since the
  // last time, so that a pass need not look at places that nobody has.
  template <class Meet>
  void meet_arrivals(Meet meet) {
    std::uint32_t next = arrivals_.exchange(0, std::memory_order_acquire);  // [A]
    while (next != 0) {
      const std::uint32_t slot = next - 1;
      next = place_[slot].next.load(std::memory_order_relaxed);  // by [A]
      meet(slot);
    }
  }

  // Drainer only. Everything of an ended place is drained and reported.
  void free_place(std::uint32_t slot) noexcept;

  // One past the highest place ever taken.
  std::uint32_t places() const noexcept {
    return places_.load(std::memory_order_acquire);
  }
  Place& place(std::uint32_t slot) noexcept { return place_[slot]; }
  internal::ThreadState& state(std::uint32_t slot) noexcept {
    return state_[slot];
  }
  ringbuf::RingControl& control(std::uint32_t slot) noexcept {
    return control_[slot];
  }
  // A live thread is in the middle of a record right now.
  bool in_record(std::uint32_t slot) const noexcept {
    return place_[slot].phase.load(std::memory_order_acquire) ==
               static_cast<std::uint32_t>(Phase::kLive) &&  // [P]
           state_[slot].writer.busy();
  }
  std::uint32_t live() const noexcept {
    return live_.load(std::memory_order_relaxed);  // a figure of its own
  }
  std::uint64_t seen() const noexcept {
    return next_index_.load(std::memory_order_relaxed) - 1;
  }

 private:
  static constexpr std::uint32_t kNoPlace = ~std::uint32_t{0};

  std::uint32_t take_place() noexcept;
  void give_place(std::uint32_t slot) noexcept;
  void arrive(std::uint32_t slot) noexcept;

  SegmentStock* stock_;
  StringTable* strings_;
  ringbuf::RingMemory state_memory_;
  ringbuf::RingMemory control_memory_;
  ringbuf::RingMemory place_memory_;
  internal::ThreadState* state_ = nullptr;
  ringbuf::RingControl* control_ = nullptr;
  Place* place_ = nullptr;
  std::atomic<std::uint32_t> places_{0};
  std::atomic<std::uint32_t> next_index_{1};
  std::atomic<std::uint32_t> live_{0};
  std::atomic<std::uint64_t> free_{0};  // tag << 32 | slot + 1
  std::atomic<std::uint32_t> arrivals_{0};  // slot + 1; taken as a whole

  // Where the thread of an index probably is: slot + 1, by the index's low
  // bits. Wrong once another thread took the entry; then the place says so.
  static constexpr std::uint32_t kFinderSize = 1 << 16;
  ringbuf::RingMemory finder_memory_;
  std::atomic<std::uint32_t>* finder_ = nullptr;
};

}  // namespace weft

#endif  // WEFT_SRC_THREAD_REGISTRY_H_
