// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_MODEL_MODEL_PLATFORM_H_
#define WEFT_TESTS_MODEL_MODEL_PLATFORM_H_

// The rings' platform on the atomics of the Relacy model checker, which runs
// all threads as fibers, chooses who goes next and which of the values that the
// C++ memory model allows a load returns.
//
// A model proves something only if it can fail. So each atomic can be weakened:
// its release stores, or its acquire loads, become relaxed in chosen threads.
// For every edge of the protocol a scenario does that and expects a failure.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weft/ringbuf/platform.h"

// Last: it defines macros, `$` and `delete` among them, that no other header
// should meet. Hence <array> above, which ring headers include.
#include <relacy/relacy.hpp>

// They would turn std::memory_order_release into `mo_release, $`.
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst

namespace weft::model {

// Bit i stands for thread i of the model.
struct Weakening {
  std::uint32_t release_threads = 0;  // whose release stores are relaxed
  std::uint32_t acquire_threads = 0;  // whose acquire loads are relaxed
};

inline constexpr Weakening kNothingWeak{};
inline constexpr Weakening kReleaseWeak{~0u, 0};
inline constexpr Weakening kAcquireWeak{0, ~0u};

// What the ring code uses of std::atomic.
template <class T, Weakening kAtFirst>
class ModelAtomic {
 public:
  ModelAtomic() : ModelAtomic(T{}) {}
  ModelAtomic(T value) : atomic_(value) {}

  T load(std::memory_order order) const {
    return atomic_.load(effective(order), RL_INFO);
  }
  void store(T value, std::memory_order order) {
    atomic_.store(value, effective(order), RL_INFO);
  }
  T exchange(T value, std::memory_order order) {
    return atomic_.exchange(value, effective(order), RL_INFO);
  }
  T fetch_add(T value, std::memory_order order) {
    return atomic_.fetch_add(value, effective(order), RL_INFO);
  }
  bool compare_exchange_weak(T& expected, T value, std::memory_order order,
                             std::memory_order failure_order) {
    return atomic_.compare_exchange_weak(expected, value, effective(order),
                                         RL_INFO, effective(failure_order),
                                         RL_INFO);
  }

  void weaken(Weakening weakening) { weakening_ = weakening; }

 private:
  rl::memory_order effective(std::memory_order order) const {
    const std::uint32_t self = 1u << rl::thread_index();
    switch (order) {
      case std::memory_order_release:
        return weakening_.release_threads & self ? rl::mo_relaxed
                                                 : rl::mo_release;
      case std::memory_order_acquire:
        return weakening_.acquire_threads & self ? rl::mo_relaxed
                                                 : rl::mo_acquire;
      case std::memory_order_relaxed:
        return rl::mo_relaxed;
      default:
        RL_ASSERT(order == std::memory_order_relaxed);  // no other is used
        return rl::mo_seq_cst;
    }
  }

  rl::atomic<T> atomic_;
  Weakening weakening_ = kAtFirst;
};

// How the words of a slot are modelled.
enum class Words {
  kAtomic,  // as they are: release stores and acquire loads [E]
  kPlain,   // stricter: any unordered access is reported as a data race
};

template <Words kWords, std::uint32_t kMaxSlots = 2,
          Weakening kAtFirst = kNothingWeak>
struct ModelPlatform {
  template <class T>
  using Atomic = ModelAtomic<T, kAtFirst>;

  static constexpr std::uint32_t kMaxRecordSlots = kMaxSlots;
  static constexpr std::uint64_t kRefillSlots = 1;

  struct Slot {
    Atomic<std::uint64_t> word0;
    Atomic<std::uint64_t> word1;
  };

  static void store(Atomic<std::uint64_t>& word, std::uint64_t value) {
    word.store(value, std::memory_order_release);
  }
  static std::uint64_t load(const Atomic<std::uint64_t>& word) {
    return word.load(std::memory_order_acquire);
  }

  // Handlers of the thread itself are not modelled: Relacy's threads are
  // distinct. tests/ringbuf/ring_single_step_test.cc runs one at every
  // instruction instead.
  static void signal_fence() {}
};

template <std::uint32_t kMaxSlots, Weakening kAtFirst>
struct ModelPlatform<Words::kPlain, kMaxSlots, kAtFirst> {
  template <class T>
  using Atomic = ModelAtomic<T, kAtFirst>;

  static constexpr std::uint32_t kMaxRecordSlots = kMaxSlots;
  static constexpr std::uint64_t kRefillSlots = 1;

  struct Slot {
    rl::var<std::uint64_t> word0{0};
    rl::var<std::uint64_t> word1{0};
  };

  static void store(rl::var<std::uint64_t>& word, std::uint64_t value) {
    word(RL_INFO).store(value);
  }
  static std::uint64_t load(const rl::var<std::uint64_t>& word) {
    return word(RL_INFO).load();
  }

  static void signal_fence() {}
};

}  // namespace weft::model

#endif  // WEFT_TESTS_MODEL_MODEL_PLATFORM_H_
