// SPDX-License-Identifier: Apache-2.0
#include "clock_source.h"

#include <gtest/gtest.h>

#include <cmath>

#include "clock_anchors.h"
#include "clock_virtual_machine.h"

namespace weft {
namespace {

using testing::VirtualMachine;

TEST(ClockSource, TakesAnInvariantCounterWhateverTheKernelCallsItsOwn) {
  for (const char* name : {"tsc", "kvm-clock", "xen",
                           "hyperv_clocksource_tsc_page", ""}) {
    VirtualMachine machine;
    machine.cpu.kernel_clock_source = name;
    const ClockSource source(machine, ClockRequest::kAuto);
    EXPECT_EQ(source.counter(), CounterKind::kTsc) << source.reason();
    EXPECT_STREQ(source.name(), "tsc");
    EXPECT_NE(source.reason().find("invariant"), std::string::npos);
  }
}

TEST(ClockSource, DistrustsACounterThatTheKernelGaveUp) {
  for (const char* name : {"hpet", "acpi_pm", "jiffies", "refined-jiffies"}) {
    VirtualMachine machine;
    machine.cpu.kernel_clock_source = name;
    const ClockSource source(machine, ClockRequest::kAuto);
    EXPECT_EQ(source.counter(), CounterKind::kMonotonic);
    EXPECT_NE(source.reason().find(name), std::string::npos) << source.reason();
  }
}

TEST(ClockSource, ARequestForTheCounterOverridesWhatIsOnlySuspicion) {
  VirtualMachine machine;
  machine.cpu.invariant = false;
  machine.cpu.kernel_clock_source = "hpet";
  const ClockSource source(machine, ClockRequest::kTsc);
  EXPECT_EQ(source.counter(), CounterKind::kTsc) << source.reason();
  EXPECT_NE(source.reason().find("asked for"), std::string::npos);
}

// rdtsc would raise SIGSEGV in the traced program.
TEST(ClockSource, NeverReadsACounterThatFaults) {
  for (ClockRequest request : {ClockRequest::kAuto, ClockRequest::kTsc}) {
    VirtualMachine machine;
    machine.cpu.readable = false;
    const ClockSource source(machine, request);
    EXPECT_EQ(source.counter(), CounterKind::kMonotonic);
    EXPECT_EQ(machine.tick_reads, 0u);
    EXPECT_NE(source.reason().find("PR_SET_TSC"), std::string::npos);
  }
}

TEST(ClockSource, SelfTestTakesLessThanAMillisecondAndFindsRateAndStep) {
  VirtualMachine machine;
  const std::int64_t begin = machine.now_ps();
  const ClockSource source(machine, ClockRequest::kAuto);
  EXPECT_LT(machine.now_ps() - begin, VirtualMachine::kMs);
  EXPECT_LT(std::abs(source.tick_hz() / VirtualMachine::kHz - 1), 200e-6);
  EXPECT_EQ(source.step_ns(), 11u);  // 21 ticks are 10.02 ns
}

TEST(ClockSource, AsksForTheProcessorOnce) {
  VirtualMachine machine;
  ClockSource source(machine, ClockRequest::kAuto);
  AnchorTaker taker(source);
  for (int i = 0; i < 10; ++i)
    taker.take();
  EXPECT_EQ(machine.fact_reads, 1u);  // cpuid traps: 7 us
}

TEST(ClockSource, RefusesACounterThatStandsStillOrIsAbsurd) {
  for (std::int64_t hz : {std::int64_t{0}, std::int64_t{1'000'000},
                          std::int64_t{40'000'000'000}}) {
    VirtualMachine machine;
    machine.set_counter(1000, hz, 1);
    const ClockSource source(machine, ClockRequest::kAuto);
    EXPECT_EQ(source.counter(), CounterKind::kMonotonic) << hz;
    EXPECT_NE(source.reason().find("self-test"), std::string::npos);
  }
}

// Hardware that misbehaves while it is tested.
class Faulty final : public ClockHardware {
 public:
  enum class Fault { kFallsOnce, kChangesRate, kClockStandsStill };
  explicit Faulty(Fault fault) : fault_(fault) {}

  Ticks ticks() override {
    if (fault_ == Fault::kFallsOnce && ++reads_ == 500)
      machine_.jump_counter(-2100);
    return machine_.ticks();
  }
  Ticks ticks_fenced() override { return machine_.ticks_fenced(); }
  std::int64_t ns(ClockId clock) override {
    if (fault_ == Fault::kChangesRate && !changed_ &&
        machine_.now_ps() > begin_ps_ + VirtualMachine::kMs / 2) {
      changed_ = true;
      machine_.set_counter_hz(VirtualMachine::kHz * 13 / 10);
    }
    return fault_ == Fault::kClockStandsStill ? 5 : machine_.ns(clock);
  }
  CpuFacts facts() override { return machine_.facts(); }

 private:
  Fault fault_;
  VirtualMachine machine_;
  std::int64_t begin_ps_ = machine_.now_ps();
  int reads_ = 0;
  bool changed_ = false;
};

TEST(ClockSource, SelfTestNoticesFaultsAndEnds) {
  for (Faulty::Fault fault :
       {Faulty::Fault::kFallsOnce, Faulty::Fault::kChangesRate,
        Faulty::Fault::kClockStandsStill}) {
    Faulty hardware(fault);
    const ClockSource source(hardware, ClockRequest::kTsc);
    EXPECT_EQ(source.counter(), CounterKind::kMonotonic) << source.reason();
    EXPECT_NE(source.reason().find("self-test"), std::string::npos);
  }
}

// Without a vdso a clock read is a system call of 1.2 us; that is no evidence
// against the counter.
TEST(ClockSource, SlowClockReadsDoNotFailTheSelfTest) {
  VirtualMachine machine;
  machine.slow_clock_ps = 1200 * VirtualMachine::kPs;
  const ClockSource source(machine, ClockRequest::kAuto);
  EXPECT_EQ(source.counter(), CounterKind::kTsc) << source.reason();
}

TEST(ClockSource, UsesASlowArmCounterWithItsStep) {
  VirtualMachine machine;
  machine.cpu.processor = Processor::kArm;
  machine.set_counter(77, 1'000'000, 1);  // 1 us a step
  const ClockSource source(machine, ClockRequest::kAuto);
  EXPECT_EQ(source.counter(), CounterKind::kCntvct) << source.reason();
  EXPECT_STREQ(source.name(), "cntvct");
  EXPECT_GE(source.step_ns(), 990u);
  EXPECT_LE(source.step_ns(), 1010u);
}

TEST(ClockSource, RefusesAnArmCounterThatTraps) {
  class Trapping final : public ClockHardware {
   public:
    Ticks ticks() override {
      machine.wait_ps(700 * VirtualMachine::kPs);
      return machine.ticks();
    }
    Ticks ticks_fenced() override { return machine.ticks_fenced(); }
    std::int64_t ns(ClockId clock) override { return machine.ns(clock); }
    CpuFacts facts() override { return {Processor::kArm, true, true, "x"}; }
    VirtualMachine machine;
  } hardware;
  const ClockSource source(hardware, ClockRequest::kAuto);
  EXPECT_EQ(source.counter(), CounterKind::kMonotonic);
  EXPECT_NE(source.reason().find("takes"), std::string::npos);
}

// (a) The switch switches: no read of the counter, not even a question.
TEST(K1_01, AskedForMonotonicNeverReadsTheCounter) {
  VirtualMachine machine;
  ClockSource source(machine, ClockRequest::kMonotonic);
  AnchorTaker taker(source);
  for (int i = 0; i < 100; ++i) {
    machine.wait_ps(100 * VirtualMachine::kMs);
    const ClockAnchor anchor = taker.take();
    EXPECT_EQ(anchor.tick[0], static_cast<Ticks>(anchor.ns[0]));
    EXPECT_EQ(anchor.half_width[0], 0);
    EXPECT_NE(anchor.flags & kAnchorMonotonicTicks, 0);
  }
  EXPECT_EQ(machine.tick_reads, 0u);
  EXPECT_EQ(machine.fact_reads, 0u);
  EXPECT_STREQ(source.name(), "monotonic");
  EXPECT_EQ(source.reason(), "asked for");
}

// (b) No invariant counter: monotonic by itself, with the reason.
TEST(K1_01, WithoutAnInvariantCounterTheClockIsMonotonic) {
  VirtualMachine machine;
  machine.cpu.invariant = false;
  const ClockSource source(machine, ClockRequest::kAuto);
  EXPECT_STREQ(source.name(), "monotonic");
  EXPECT_NE(source.reason().find("invariant"), std::string::npos);
  EXPECT_EQ(machine.tick_reads, 0u);
}

// The one test on real time: nothing here depends on how fast the machine is.
TEST(ClockSource, AnchorsOfThisMachineAreNarrowOrSayThatTheyAreNot) {
  ClockSource source(system_clock_hardware(), ClockRequest::kAuto);
  EXPECT_FALSE(source.reason().empty());
  AnchorTaker taker(source);
  const ClockAnchor first = taker.take();
  const ClockAnchor second = taker.take();
  EXPECT_GT(second.tick[0], first.tick[0]);
  EXPECT_GT(second.ns[0], first.ns[0]);
  EXPECT_EQ(second.epoch, first.epoch);
  for (const ClockAnchor& anchor : {first, second})
    for (std::uint16_t half_width : anchor.half_width)
      EXPECT_TRUE(half_width <= 2000 || (anchor.flags & kAnchorWide) != 0)
          << half_width;
}

}  // namespace
}  // namespace weft
