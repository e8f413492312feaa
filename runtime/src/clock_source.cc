// SPDX-License-Identifier: Apache-2.0
#include "clock_source.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "weft/internal/tick_scale.h"

namespace weft {
namespace {

// The counter against CLOCK_MONOTONIC once: ticks just before and after.
struct Bracket {
  Ticks before = 0;
  Ticks after = 0;
  std::int64_t ns = 0;

  double middle() const {
    return static_cast<double>(before) +
           static_cast<double>(after - before) / 2;
  }
};

Bracket narrowest_bracket(ClockHardware& hardware) {
  constexpr int kRounds = 8;
  Bracket best;
  for (int round = 0; round <= kRounds; ++round) {
    Bracket bracket;
    bracket.before = hardware.ticks_fenced();
    bracket.ns = hardware.ns(ClockId::kMonotonic);
    bracket.after = hardware.ticks_fenced();
    // The first read after a pause is cold and slow; it is taken only as long
    // as there is nothing else.
    if (round <= 1 ||
        bracket.after - bracket.before < best.after - best.before)
      best = bracket;
  }
  return best;
}

struct SelfTest {
  std::string failure;  // empty: passed
  double tick_hz = 0;
  Ticks step = 1;
};

std::string ghz(double hz) {
  const auto khz = static_cast<std::uint64_t>(std::max(hz, 0.0) / 1e3);
  std::string fraction = std::to_string(khz % 1'000'000);
  fraction.insert(0, 6 - fraction.size(), '0');
  return std::to_string(khz / 1'000'000) + "." + fraction + " GHz";
}

// A counter that falls, and the distance between the values it takes.
void test_reads(ClockHardware& hardware, SelfTest& test) {
  constexpr int kReads = 1000;
  Ticks step = 0;
  Ticks last = hardware.ticks();
  for (int i = 1; i < kReads; ++i) {
    const Ticks now = hardware.ticks();
    if (now < last) {
      test.failure = "the counter went back by " + std::to_string(last - now) +
                     " ticks between two reads";
      return;
    }
    step = std::gcd(step, now - last);
    last = now;
  }
  test.step = std::max<Ticks>(step, 1);
}

void wait_until(ClockHardware& hardware, std::int64_t deadline_ns) {
  // A clock that stands still must not hang the program.
  constexpr int kMostReads = 1'000'000;
  for (int i = 0; i < kMostReads; ++i)
    if (hardware.ns(ClockId::kMonotonic) >= deadline_ns)
      return;
}

void test_rate(ClockHardware& hardware, double least_hz, SelfTest& test) {
  constexpr double kMostHz = 10e9;
  constexpr double kTolerance = 100e-6;
  constexpr std::int64_t kApartNs = 450'000;  // twice, so under 1 ms in all

  std::array<Bracket, 3> brackets;
  for (std::size_t i = 0; i < brackets.size(); ++i) {
    if (i > 0)
      wait_until(hardware, brackets[i - 1].ns + kApartNs);
    brackets[i] = narrowest_bracket(hardware);
    const bool forward =
        i == 0 || (brackets[i].before > brackets[i - 1].after &&
                   brackets[i].ns > brackets[i - 1].ns);
    if (!forward || brackets[i].after < brackets[i].before) {
      test.failure = "the counter or CLOCK_MONOTONIC does not advance";
      return;
    }
  }
  const auto ticks = [&](std::size_t a, std::size_t b) {
    return brackets[b].middle() - brackets[a].middle();
  };
  const auto rate = [&](std::size_t a, std::size_t b) {
    return ticks(a, b) * 1e9 /
           static_cast<double>(brackets[b].ns - brackets[a].ns);
  };
  test.tick_hz = rate(0, 2);
  if (test.tick_hz < least_hz || test.tick_hz > kMostHz) {
    test.failure = "the counter's rate of " + ghz(test.tick_hz) +
                   " is outside " + ghz(least_hz) + " to " + ghz(kMostHz);
    return;
  }
  // What the brackets leave open is no evidence against the counter: without a
  // vdso they are 1 us wide, 2000 ppm of the interval.
  double unsure_ticks = 0;
  for (const Bracket& bracket : brackets)
    unsure_ticks += static_cast<double>(bracket.after - bracket.before) +
                    2 * static_cast<double>(test.step);
  const double shortest = std::min(ticks(0, 1), ticks(1, 2));
  const double allowed = kTolerance + unsure_ticks / shortest;
  if (std::abs(rate(0, 1) / rate(1, 2) - 1) > allowed)
    test.failure = "the counter's rate changed from " + ghz(rate(0, 1)) +
                   " to " + ghz(rate(1, 2)) + " within 1 ms";
}

// Where an erratum is worked round the kernel traps every read: then even the
// fastest is slow. One slow read alone may be an interrupt.
void test_read_cost(ClockHardware& hardware, SelfTest& test) {
  constexpr int kReads = 100;
  constexpr std::int64_t kMostNs = 500;
  std::int64_t fastest = INT64_MAX;
  for (int i = 0; i < kReads; ++i) {
    const std::int64_t begin = hardware.ns(ClockId::kMonotonic);
    hardware.ticks();
    fastest = std::min(fastest, hardware.ns(ClockId::kMonotonic) - begin);
  }
  if (fastest > kMostNs)
    test.failure = "a read of the counter takes " + std::to_string(fastest) +
                   " ns, more than " + std::to_string(kMostNs);
}

SelfTest run_self_test(ClockHardware& hardware, Processor processor) {
  SelfTest test;
  const bool arm = processor == Processor::kArm;
  if (arm)
    test_read_cost(hardware, test);
  if (test.failure.empty())
    test_reads(hardware, test);
  if (test.failure.empty())
    test_rate(hardware, arm ? 0.9e6 : 0.5e9, test);
  return test;
}

// The clock sources that Linux turns to when it stopped to trust the TSC.
bool gave_up_on_tsc(std::string_view clock_source) {
  constexpr std::array<std::string_view, 4> kLastResorts = {
      "hpet", "acpi_pm", "jiffies", "refined-jiffies"};
  return std::find(kLastResorts.begin(), kLastResorts.end(), clock_source) !=
         kLastResorts.end();
}

// Why the counter must not be used, or empty.
std::string objection(const CpuFacts& facts, ClockRequest request) {
  if (facts.processor == Processor::kOther)
    return "no counter is known for this processor";
  if (!facts.readable)
    return "reading the TSC is disabled for this process (PR_SET_TSC)";
  if (request == ClockRequest::kTsc)
    return {};
  if (!facts.invariant)
    return "the processor does not promise an invariant TSC";
  if (facts.processor == Processor::kX86 &&
      gave_up_on_tsc(facts.kernel_clock_source))
    return "the kernel gave up on the TSC: its clock source is " +
           facts.kernel_clock_source;
  return {};
}

std::string praise(const CpuFacts& facts, ClockRequest request) {
  std::string text = request == ClockRequest::kTsc ? "asked for; " : "";
  text += facts.invariant ? "invariant" : "not promised to be invariant";
  text += ", self-test passed";
  if (!facts.kernel_clock_source.empty())
    text += ", kernel clock source " + facts.kernel_clock_source;
  return text;
}

}  // namespace

ClockSource::ClockSource(ClockHardware& hardware, ClockRequest request)
    : hardware_(&hardware) {
  if (request == ClockRequest::kMonotonic)
    reason_ = "asked for";
  else
    choose_counter(request);
}

void ClockSource::choose_counter(ClockRequest request) {
  const CpuFacts facts = hardware_->facts();
  reason_ = objection(facts, request);
  if (!reason_.empty())
    return;
  const SelfTest test = run_self_test(*hardware_, facts.processor);
  if (!test.failure.empty()) {
    reason_ = "the self-test failed: " + test.failure;
    return;
  }
  reason_ = praise(facts, request);
  counter_ = facts.processor == Processor::kArm ? CounterKind::kCntvct
                                                : CounterKind::kTsc;
  tick_hz_ = test.tick_hz;
  constexpr double kMostNs = 1e6;  // a counter slower than 1 kHz failed
  step_ns_ = static_cast<std::uint32_t>(std::min(
      std::ceil(static_cast<double>(test.step) * 1e9 / test.tick_hz), kMostNs));
}

const char* ClockSource::name() const noexcept {
  switch (counter()) {
    case CounterKind::kTsc: return "tsc";
    case CounterKind::kCntvct: return "cntvct";
    case CounterKind::kMonotonic: break;
  }
  return "monotonic";
}

std::uint64_t ClockSource::scale() const noexcept {
  return static_cast<std::uint64_t>(
      1e9 / tick_hz() * static_cast<double>(internal::kOneNsPerTick));
}

Ticks ClockSource::ticks_fenced() const {
  return counter() == CounterKind::kMonotonic
             ? static_cast<Ticks>(hardware_->ns(ClockId::kMonotonic))
             : hardware_->ticks_fenced();
}

std::string ClockSource::reason() const {
  const std::scoped_lock lock(mutex_);
  return reason_;
}

void ClockSource::fall_back(std::string reason) {
  {
    const std::scoped_lock lock(mutex_);
    reason_ = std::move(reason);
  }
  counter_ = CounterKind::kMonotonic;
  tick_hz_ = 1e9;
  step_ns_ = 1;
}

}  // namespace weft
