// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_RUNTIME_CLOCK_VIRTUAL_MACHINE_H_
#define WEFT_TESTS_RUNTIME_CLOCK_VIRTUAL_MACHINE_H_

#include <cstdint>
#include <random>
#include <vector>

#include "clock_source.h"

namespace weft::testing {

// A machine whose time passes only when its clocks are read or it is told to
// wait. It knows the truth: what each clock showed at any moment.
//
// True time is in picoseconds. The counter steps by 21 ticks of 2.096 GHz, and
// reads cost what was measured on such a machine: a bracket of 84 ticks at
// best, 105 in the middle, and now and then an interruption.
class VirtualMachine final : public ClockHardware {
 public:
  static constexpr std::int64_t kPs = 1000;  // in 1 ns
  static constexpr std::int64_t kMs = 1'000'000 * kPs;
  static constexpr std::int64_t kSecond = 1000 * kMs;

  explicit VirtualMachine(std::uint64_t seed = 1) : random_(seed) {
    cpu.processor = Processor::kX86;
    cpu.invariant = true;
    cpu.readable = true;
    cpu.kernel_clock_source = "tsc";
  }

  // ---- what weft sees ----

  Ticks ticks() override {
    ++tick_reads;
    now_ps_ += 11 * kPs;
    return ticks_at(now_ps_);
  }

  Ticks ticks_fenced() override {
    ++tick_reads;
    now_ps_ += tick_cost_ps / 2;
    const Ticks ticks = ticks_at(now_ps_);
    now_ps_ += tick_cost_ps - tick_cost_ps / 2;
    return ticks;
  }

  std::int64_t ns(ClockId clock) override {
    const std::int64_t cost = clock_cost_ps();
    const std::int64_t before = cost / 4 + static_cast<std::int64_t>(
        random_() % static_cast<std::uint64_t>(cost / 2));
    now_ps_ += before;
    const std::int64_t value = clock_at(clock, now_ps_);
    now_ps_ += cost - before;
    return value;
  }

  CpuFacts facts() override {
    ++fact_reads;
    return cpu;
  }

  // ---- what a test does to it ----

  void wait_ps(std::int64_t ps) { now_ps_ += ps; }

  void set_ntp_ppb(std::int64_t ppb) {
    rates_.push_back({now_ps_, monotonic_ps_at(now_ps_), ppb});
  }

  void set_counter_hz(std::int64_t hz) {
    const Ticks now = ticks_at(now_ps_);
    counters_.push_back({now_ps_, now, hz, counters_.back().step});
  }

  void jump_counter(std::int64_t ticks) {
    const Ticks now = ticks_at(now_ps_) + static_cast<Ticks>(ticks);
    const Counter& last = counters_.back();
    counters_.push_back({now_ps_, now, last.hz, last.step});
  }

  void set_counter(Ticks ticks, std::int64_t hz = kHz, Ticks step = 21) {
    counters_.push_back({now_ps_, ticks, hz, step});
  }

  void step_realtime(std::int64_t by_ns) { realtime_offset_ns_ += by_ns; }

  // MONOTONIC and RAW stand still, BOOTTIME and REALTIME do not; the counter
  // goes on, or comes back at zero.
  void suspend(std::int64_t ps, bool counter_goes_on) {
    if (counter_goes_on)
      jump_counter(static_cast<std::int64_t>(
          static_cast<double>(ps) / 1e12 *
          static_cast<double>(counters_.back().hz)));
    else
      set_counter(0);
    boot_offset_ns_ += ps / kPs;
    realtime_offset_ns_ += ps / kPs;
  }

  // ---- the truth ----

  std::int64_t now_ps() const { return now_ps_; }
  std::int64_t now_ns() const { return monotonic_ps_at(now_ps_) / kPs; }
  Ticks now_ticks() const { return ticks_at(now_ps_); }

  Ticks ticks_at(std::int64_t ps) const {
    const Counter& counter = latest(counters_, ps);
    const auto passed =
        static_cast<Ticks>(static_cast<Wide>(ps - counter.from_ps) *
                           counter.hz / 1'000'000'000'000);
    return counter.base + passed / counter.step * counter.step;
  }

  std::int64_t monotonic_ps_at(std::int64_t ps) const {
    const Rate& rate = latest(rates_, ps);
    const std::int64_t passed = ps - rate.from_ps;
    return rate.base_ps + passed +
           static_cast<std::int64_t>(static_cast<Wide>(passed) * rate.ppb /
                                     1'000'000'000);
  }

  std::int64_t clock_at(ClockId clock, std::int64_t ps) const {
    switch (clock) {
      case ClockId::kMonotonic: return monotonic_ps_at(ps) / kPs;
      case ClockId::kMonotonicRaw: return ps / kPs;
      case ClockId::kRealtime:
        return monotonic_ps_at(ps) / kPs + realtime_offset_ns_;
      case ClockId::kBoottime:
        return monotonic_ps_at(ps) / kPs + boot_offset_ns_;
    }
    return 0;
  }

  std::uint64_t random() { return random_(); }

  static constexpr std::int64_t kHz = 2'096'006'000;

  CpuFacts cpu;
  std::uint64_t tick_reads = 0;
  std::uint64_t fact_reads = 0;
  std::int64_t tick_cost_ps = 14 * kPs;
  std::int64_t slow_clock_ps = 0;  // what each clock read costs on top

 private:
  __extension__ typedef __int128 Wide;

  struct Counter {
    std::int64_t from_ps;
    Ticks base;
    std::int64_t hz;
    Ticks step;
  };
  struct Rate {
    std::int64_t from_ps;
    std::int64_t base_ps;
    std::int64_t ppb;
  };

  // The entry that was in force; the last of several that begin together.
  template <class Entry>
  static const Entry& latest(const std::vector<Entry>& entries,
                             std::int64_t ps) {
    for (std::size_t i = entries.size(); i-- > 1;)
      if (entries[i].from_ps <= ps)
        return entries[i];
    return entries.front();
  }

  std::int64_t clock_cost_ps() {
    const std::uint64_t dice = random_() % 10'000;
    std::int64_t extra = static_cast<std::int64_t>(random_() % 10'000);
    if (dice < 100)
      extra = 20 * kPs;
    if (dice < 10)
      extra = 60 * kPs;
    if (dice < 2)
      extra = static_cast<std::int64_t>(random_() % 40'000) * kPs;
    return 26 * kPs + extra + slow_clock_ps;
  }

  std::mt19937_64 random_;
  std::int64_t now_ps_ = 100 * kSecond;
  std::vector<Counter> counters_{{0, 4'000'000'000'000, kHz, 21}};
  std::vector<Rate> rates_{{0, 0, 0}};
  std::int64_t realtime_offset_ns_ = 1'795'000'000'000'000'000;
  std::int64_t boot_offset_ns_ = 5'000'000'000;
};

}  // namespace weft::testing

#endif  // WEFT_TESTS_RUNTIME_CLOCK_VIRTUAL_MACHINE_H_
