// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_WAKEUP_H_
#define WEFT_SRC_WAKEUP_H_

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace weft {

// Lets one thread rest until a time has passed or somebody calls it. A call
// that comes before the rest is not lost. call() is async-signal-safe.
class Wakeup {
 public:
  void call() noexcept {
    // seq_cst, as in rest(): who stores "called" and who stores "resting" must
    // not both miss the other.
    calls_.fetch_add(1, std::memory_order_seq_cst);
    if (resting_.load(std::memory_order_seq_cst) != 0)
      syscall(SYS_futex, &calls_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }

  // One thread only. Returns at a call, after `ns` at the latest; ns < 0 waits
  // for a call alone. May return early.
  void rest(std::int64_t ns) noexcept {
    resting_.store(1, std::memory_order_seq_cst);
    const std::uint32_t now = calls_.load(std::memory_order_seq_cst);
    if (now == seen_) {
      const timespec limit{ns / 1'000'000'000, ns % 1'000'000'000};
      syscall(SYS_futex, &calls_, FUTEX_WAIT_PRIVATE, now,
              ns < 0 ? nullptr : &limit, nullptr, 0);
    }
    resting_.store(0, std::memory_order_relaxed);  // a hint for call()
    seen_ = calls_.load(std::memory_order_acquire);
  }

 private:
  std::atomic<std::uint32_t> calls_{0};
  std::atomic<std::uint32_t> resting_{0};
  std::uint32_t seen_ = 0;
};

}  // namespace weft

#endif  // WEFT_SRC_WAKEUP_H_
