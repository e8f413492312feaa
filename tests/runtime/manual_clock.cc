// SPDX-License-Identifier: Apache-2.0
#include "runtime/manual_clock.h"

#include "clock_source.h"
#include "immortal.h"

namespace weft {
namespace {

using test::ManualClock;

class ManualHardware final : public ClockHardware {
 public:
  Ticks ticks() override { return ManualClock::counter(); }
  Ticks ticks_fenced() override { return ManualClock::counter(); }
  std::int64_t ns(ClockId clock) override {
    ManualClock::advance(50);
    const std::int64_t now = ManualClock::ns;
    ManualClock::advance(50);
    return clock == ClockId::kRealtime ? now + 1'795'000'000'000'000'000 : now;
  }
  CpuFacts facts() override {
    return {Processor::kX86, ManualClock::invariant, true, "tsc"};
  }
};

}  // namespace

// Takes the place of system_clock.cc.
ClockHardware& system_clock_hardware() {
  static Immortal<ManualHardware> hardware;
  return *hardware;
}

}  // namespace weft
