// SPDX-License-Identifier: Apache-2.0
#include "thread_registry.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <new>

namespace weft {

using internal::ThreadState;
using ringbuf::RingControl;
using ringbuf::RingMemory;
using ringbuf::Segment;

bool ThreadRegistry::reserve() noexcept {
  if (!state_memory_.reserve(kMaxLiveThreads * sizeof(ThreadState),
                             RingMemory::Use::kWipedOnFork) ||
      !control_memory_.reserve(kMaxLiveThreads * sizeof(RingControl),
                               RingMemory::Use::kShared) ||
      !place_memory_.reserve(kMaxLiveThreads * sizeof(Place),
                             RingMemory::Use::kShared) ||
      !finder_memory_.reserve(kFinderSize * sizeof(*finder_),
                              RingMemory::Use::kShared))
    return false;
  finder_ = reinterpret_cast<std::atomic<std::uint32_t>*>(finder_memory_.at(0));
  state_ = reinterpret_cast<ThreadState*>(state_memory_.at(0));
  control_ = reinterpret_cast<RingControl*>(control_memory_.at(0));
  place_ = reinterpret_cast<Place*>(place_memory_.at(0));
  return true;
}

ThreadState* ThreadRegistry::enroll(Rung rung, Ticks now) noexcept {
  const std::uint32_t slot = take_place();
  if (slot == kNoPlace) return nullptr;
  Segment segment;
  for (auto r = static_cast<int>(rung); r >= 0 && segment.capacity == 0; --r)
    segment = stock_->take(static_cast<Rung>(r));
  if (segment.capacity == 0) {
    give_place(slot);
    return nullptr;
  }
  Place& place = place_[slot];
  // Relaxed: numbers are only counted here.
  place.index = next_index_.fetch_add(1, std::memory_order_relaxed);
  live_.fetch_add(1, std::memory_order_relaxed);
  place.tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
  place.start_tick = now;
  place.end_tick = 0;
  place.first_segment = segment;
  char name[16] = {};
  prctl(PR_GET_NAME, name);
  name[15] = '\0';
  place.name.store(static_cast<std::uint32_t>(strings_->intern(name)),
                   std::memory_order_relaxed);  // published by [P]
  place.revision.store(1, std::memory_order_relaxed);
  place.offer.store(0, std::memory_order_relaxed);
  place.noted.store(0, std::memory_order_relaxed);
  place.reported.store(0, std::memory_order_relaxed);
  finder_[place.index % kFinderSize].store(slot + 1, std::memory_order_relaxed);

  RingControl* control = new (&control_[slot]) RingControl();
  control->returned.store(std::uint64_t{place.index} << 32,
                          std::memory_order_relaxed);  // published by [P]
  ThreadState* state = new (&state_[slot]) ThreadState();
  state->writer.attach(control, segment, 0);
  state->index = place.index;
  state->tag = std::uint64_t{place.index} << 32;
  state->slot = slot;
  place.phase.store(static_cast<std::uint32_t>(Phase::kLive),
                    std::memory_order_release);  // [P]
  arrive(slot);
  return state;
}

void ThreadRegistry::leave(ThreadState& state, Ticks now) noexcept {
  Place& place = place_[state.slot];
  place.end_tick = now;
  live_.fetch_sub(1, std::memory_order_relaxed);
  place.phase.store(static_cast<std::uint32_t>(Phase::kEnded),
                    std::memory_order_release);  // [P]
}

void ThreadRegistry::return_promise(std::uint32_t index) noexcept {
  const std::uint32_t slot =
      finder_[index % kFinderSize].load(std::memory_order_relaxed);
  // The count carries its owner's index, so that a promise never reaches a
  // thread that took the place over.
  if (slot != 0) control_[slot - 1].return_promise(index);
}

void ThreadRegistry::free_place(std::uint32_t slot) noexcept {
  place_[slot].phase.store(static_cast<std::uint32_t>(Phase::kFree),
                           std::memory_order_relaxed);  // published by [K]
  give_place(slot);
}

// Only ever taken as a whole, so that a place cannot be gone and back while
// somebody looks at the head.
void ThreadRegistry::arrive(std::uint32_t slot) noexcept {
  std::uint32_t head = arrivals_.load(std::memory_order_relaxed);
  do {
    place_[slot].next.store(head, std::memory_order_relaxed);
  } while (!arrivals_.compare_exchange_weak(head, slot + 1,
                                            std::memory_order_release,  // [A]
                                            std::memory_order_relaxed));
}

// The stack of free places works like the one of segments: see [K] there.
std::uint32_t ThreadRegistry::take_place() noexcept {
  std::uint64_t head = free_.load(std::memory_order_acquire);
  while (static_cast<std::uint32_t>(head) != 0) {
    const auto top = static_cast<std::uint32_t>(head);
    // Relaxed: may be stale if somebody took it meanwhile; the tag tells.
    const std::uint32_t next =
        place_[top - 1].next.load(std::memory_order_relaxed);
    if (free_.compare_exchange_weak(head, ((head >> 32) + 1) << 32 | next,
                                    std::memory_order_acquire))
      return top - 1;
  }
  std::uint32_t slot = places_.load(std::memory_order_relaxed);
  do {
    if (slot == kMaxLiveThreads) return kNoPlace;
  } while (!places_.compare_exchange_weak(slot, slot + 1,
                                          std::memory_order_acq_rel));
  return slot;
}

void ThreadRegistry::give_place(std::uint32_t slot) noexcept {
  std::uint64_t head = free_.load(std::memory_order_relaxed);
  do {
    place_[slot].next.store(static_cast<std::uint32_t>(head),
                                 std::memory_order_relaxed);
  } while (!free_.compare_exchange_weak(head,
                                        ((head >> 32) + 1) << 32 | (slot + 1),
                                        std::memory_order_release,
                                        std::memory_order_relaxed));
}

}  // namespace weft
