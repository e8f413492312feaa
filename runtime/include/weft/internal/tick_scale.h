// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_INTERNAL_TICK_SCALE_H_
#define WEFT_INTERNAL_TICK_SCALE_H_

// Ticks to nanoseconds in integers. A scale is ns per tick times 2^40.
//
// Doubles will not do: near today's CLOCK_REALTIME their steps are 256 ns. With
// a shift of 40 the rounding of a scale costs at most 1 ns in an hour from the
// base; with 32 it would be 843 ns.
//
// Every function is total: what does not fit is clamped, nothing is undefined.

#include <cstdint>
#include <limits>

namespace weft::internal {

__extension__ typedef unsigned __int128 Uint128;

inline constexpr unsigned kScaleShift = 40;
inline constexpr std::uint64_t kOneNsPerTick = std::uint64_t{1} << kScaleShift;

constexpr std::uint64_t clamp_to_64(Uint128 value) noexcept {
  return value > (std::numeric_limits<std::uint64_t>::max)()
             ? (std::numeric_limits<std::uint64_t>::max)()
             : static_cast<std::uint64_t>(value);
}

// The scale at which `ticks` last `ns`, rounded down; 0 if there are no ticks.
constexpr std::uint64_t scale_of(std::uint64_t ns,
                                 std::uint64_t ticks) noexcept {
  return ticks == 0 ? 0 : clamp_to_64((Uint128{ns} << kScaleShift) / ticks);
}

// How long `ticks` last, rounded down.
constexpr std::uint64_t scaled(std::uint64_t ticks,
                               std::uint64_t scale) noexcept {
  return clamp_to_64((Uint128{ticks} * scale) >> kScaleShift);
}

// b - a for a <= b; right where the difference does not fit a signed one.
constexpr std::uint64_t ns_between(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a);
}

constexpr std::int64_t add_clamped(std::int64_t ns,
                                   std::uint64_t more) noexcept {
  return more > ns_between(ns, (std::numeric_limits<std::int64_t>::max)())
             ? (std::numeric_limits<std::int64_t>::max)()
             : static_cast<std::int64_t>(static_cast<std::uint64_t>(ns) + more);
}

constexpr std::int64_t subtract_clamped(std::int64_t ns,
                                        std::uint64_t less) noexcept {
  return less > ns_between((std::numeric_limits<std::int64_t>::min)(), ns)
             ? (std::numeric_limits<std::int64_t>::min)()
             : static_cast<std::int64_t>(static_cast<std::uint64_t>(ns) - less);
}

// The time of `tick` on the line through (base_tick, base_ns), rounded down on
// both sides of the base.
constexpr std::int64_t line_at(std::uint64_t tick, std::uint64_t base_tick,
                               std::int64_t base_ns,
                               std::uint64_t scale) noexcept {
  if (tick >= base_tick)
    return add_clamped(base_ns, scaled(tick - base_tick, scale));
  const Uint128 product = Uint128{base_tick - tick} * scale;
  const Uint128 rounded_up =
      (product >> kScaleShift) + ((product & (kOneNsPerTick - 1)) != 0 ? 1 : 0);
  return subtract_clamped(base_ns, clamp_to_64(rounded_up));
}

}  // namespace weft::internal

#endif  // WEFT_INTERNAL_TICK_SCALE_H_
