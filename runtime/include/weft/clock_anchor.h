// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_CLOCK_ANCHOR_H_
#define WEFT_CLOCK_ANCHOR_H_

#include <array>
#include <cstdint>

#include "weft/record.h"

namespace weft {

enum class ClockId : std::uint8_t {
  kMonotonic = 0,
  kMonotonicRaw = 1,
  kRealtime = 2,
  kBoottime = 3,
};
inline constexpr std::size_t kClocks = 4;

// Flags of an anchor.
inline constexpr std::uint16_t kAnchorWide = 1;  // no narrow bracket was found
inline constexpr std::uint16_t kAnchorSuspend = 2;    // the machine slept
inline constexpr std::uint16_t kAnchorBackwards = 4;  // the counter fell
inline constexpr std::uint16_t kAnchorRate = 8;  // the counter's rate changed
inline constexpr std::uint16_t kAnchorRealtimeStep = 16;
inline constexpr std::uint16_t kAnchorJump = 32;  // it missed its prediction
inline constexpr std::uint16_t kAnchorMonotonicTicks = 64;  // ticks are ns

// A half width that did not fit: the true one is this or more.
inline constexpr std::uint16_t kHalfWidthUnknown = 0xffff;

// The counter against the clocks of the system at one moment. Taken by the
// drainer at start, at stop, and every 100 ms between (5 s when idle).
struct ClockAnchor {
  std::array<Ticks, kClocks> tick{};       // middle of each clock's best bracket
  std::array<std::int64_t, kClocks> ns{};  // what that clock read then
  std::array<std::uint16_t, kClocks> half_width{};  // +- ns; saturates
  std::uint16_t flags = 0;
  std::uint32_t epoch = 0;  // grows when the line breaks; lines never cross one
};

}  // namespace weft

#endif  // WEFT_CLOCK_ANCHOR_H_
