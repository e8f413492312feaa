// SPDX-License-Identifier: Apache-2.0
// now_ticks() and ticks_to_ns(): one process, so the tests run as one story.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "clock_anchors.h"
#include "clock_virtual_machine.h"
#include "process_clock.h"
#include "weft/clock.h"

namespace weft {
namespace {

using testing::VirtualMachine;

constexpr std::int64_t kMs = VirtualMachine::kMs;

// Lines change under a reader's hands from identity to provisional to final
// and back to identity. Each is complete when it is seen; TSan watches.
TEST(K1_03, TheFrozenLineIsSetOnceWhileReadersConvert) {
  EXPECT_EQ(ticks_to_ns(12'345), 12'345);  // nothing chosen: ticks are ns

  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> conversions{0};
  std::thread reader([&] {
    while (!stop.load()) {
      // Within one line the order must hold; across a change it need not.
      const std::int64_t early = ticks_to_ns(now_ticks());
      static_cast<void>(early);
      conversions.fetch_add(1);
    }
  });

  VirtualMachine machine;
  ClockSource source(machine, ClockRequest::kAuto);
  AnchorTaker taker(source);
  const ClockAnchor first = taker.take();
  publish_process_clock(source, first);
  EXPECT_FALSE(internal::ticks_are_monotonic.load());
  EXPECT_NEAR(static_cast<double>(ticks_to_ns(first.tick[0])),
              static_cast<double>(first.ns[0]), 1);

  // Too early to freeze.
  machine.wait_ps(20 * kMs);
  EXPECT_FALSE(offer_to_frozen_line(taker.take()));
  machine.wait_ps(80 * kMs);
  EXPECT_TRUE(offer_to_frozen_line(taker.take()));

  // From now on it stands, whatever NTP does, and is good to 0.5 ppm.
  machine.wait_ps(kMs);
  const Ticks begin = machine.now_ticks();
  const std::int64_t begin_ns = ticks_to_ns(begin);
  const std::int64_t truth = machine.now_ns();
  EXPECT_LE(std::abs(begin_ns - truth), 100);
  machine.wait_ps(1'000 * kMs);
  EXPECT_LE(std::abs(ticks_to_ns(machine.now_ticks()) - machine.now_ns()), 600);
  machine.set_ntp_ppb(500'000);
  machine.wait_ps(1'000 * kMs);
  EXPECT_FALSE(offer_to_frozen_line(taker.take()));
  EXPECT_EQ(ticks_to_ns(begin), begin_ns);

  // A session later in the process does not thaw it.
  const ClockAnchor again = taker.take();
  publish_process_clock(source, again);
  EXPECT_EQ(ticks_to_ns(begin), begin_ns);

  // The counter is given up: ticks are ns again, at once.
  const ClockAnchor fallen = taker.fall_back();
  publish_process_clock(source, fallen);
  EXPECT_TRUE(internal::ticks_are_monotonic.load());
  EXPECT_EQ(ticks_to_ns(fallen.tick[0]), fallen.ns[0]);
  EXPECT_FALSE(offer_to_frozen_line(fallen));

  while (conversions.load() == 0)
    std::this_thread::yield();
  stop.store(true);
  reader.join();
}

}  // namespace
}  // namespace weft
