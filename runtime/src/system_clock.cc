// SPDX-License-Identifier: Apache-2.0
//
// The machine that weft runs on, as its clock source asks it.

#include <sys/prctl.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <fstream>
#include <string>

#include "clock_source.h"
#include "immortal.h"
#include "weft/internal/tick_counter.h"

namespace weft {
namespace {

std::string kernel_clock_source() {
  std::ifstream file(
      "/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  std::getline(file, name);
  return name;
}

#if defined(__x86_64__)

CpuFacts read_cpu_facts() {
  CpuFacts facts;
  facts.processor = Processor::kX86;
  constexpr unsigned kPowerLeaf = 0x80000007;
  constexpr unsigned kInvariantTsc = 1u << 8;  // in EDX
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  facts.invariant = __get_cpuid(kPowerLeaf, &eax, &ebx, &ecx, &edx) != 0 &&
                    (edx & kInvariantTsc) != 0;
  int mode = PR_TSC_ENABLE;
  // A kernel that does not know the question has nothing to forbid.
  facts.readable = prctl(PR_GET_TSC, &mode) != 0 || mode == PR_TSC_ENABLE;
  facts.kernel_clock_source = kernel_clock_source();
  return facts;
}

#elif defined(__aarch64__)

CpuFacts read_cpu_facts() {
  return {Processor::kArm, true, true, kernel_clock_source()};
}

#else

CpuFacts read_cpu_facts() { return {}; }

#endif

clockid_t kernel_id(ClockId clock) {
  switch (clock) {
    case ClockId::kMonotonic: return CLOCK_MONOTONIC;
    case ClockId::kMonotonicRaw: return CLOCK_MONOTONIC_RAW;
    case ClockId::kRealtime: return CLOCK_REALTIME;
    case ClockId::kBoottime: return CLOCK_BOOTTIME;
  }
  return CLOCK_MONOTONIC;
}

class SystemClockHardware final : public ClockHardware {
 public:
  Ticks ticks() override { return internal::read_ticks(); }
  Ticks ticks_fenced() override { return internal::read_ticks_fenced(); }
  std::int64_t ns(ClockId clock) override {
    timespec now{};
    clock_gettime(kernel_id(clock), &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }
  CpuFacts facts() override { return read_cpu_facts(); }
};

}  // namespace

ClockHardware& system_clock_hardware() {
  static Immortal<SystemClockHardware> hardware;  // read until the very end
  return *hardware;
}

}  // namespace weft
