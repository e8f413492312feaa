// SPDX-License-Identifier: Apache-2.0
#include "process_clock.h"

#include "weft/clock.h"

namespace weft {
namespace internal {

namespace {
constexpr FrozenLine kIdentity{};
}

std::atomic<const FrozenLine*> frozen_line{&kIdentity};
std::atomic<bool> ticks_are_monotonic{true};

}  // namespace internal

namespace {

using internal::FrozenLine;

constexpr std::int64_t kFreezeAfterNs = 50'000'000;
constexpr std::size_t kMonotonic =
    static_cast<std::size_t>(ClockId::kMonotonic);

// Each line is written once in the process, before its address is published;
// that is what lets readers go without a lock.
struct CounterLines {
  FrozenLine provisional;
  FrozenLine final;
  bool has_provisional = false;
  bool has_final = false;
  ClockAnchor first;  // the final line's base
};

CounterLines& counter_lines() {
  static CounterLines lines;
  return lines;
}

void publish(const FrozenLine* line) {
  internal::frozen_line.store(line, std::memory_order_release);  // [L]
}

}  // namespace

void publish_process_clock(const ClockSource& source,
                           const ClockAnchor& first) {
  if (source.counter() == CounterKind::kMonotonic) {
    publish(&internal::kIdentity);
    internal::ticks_are_monotonic.store(true, std::memory_order_relaxed);
    return;
  }
  CounterLines& lines = counter_lines();
  if (!lines.has_provisional) {
    lines.provisional = {first.tick[kMonotonic], first.ns[kMonotonic],
                         source.scale()};
    lines.has_provisional = true;
  }
  if (!lines.has_final)
    lines.first = first;
  publish(lines.has_final ? &lines.final : &lines.provisional);
  internal::ticks_are_monotonic.store(false, std::memory_order_relaxed);
}

bool offer_to_frozen_line(const ClockAnchor& anchor) {
  CounterLines& lines = counter_lines();
  if (!lines.has_provisional || lines.has_final ||
      (anchor.flags & kAnchorMonotonicTicks) != 0 ||
      anchor.half_width[kMonotonic] == kHalfWidthUnknown)
    return false;
  if (anchor.epoch != lines.first.epoch ||
      lines.first.half_width[kMonotonic] == kHalfWidthUnknown) {
    lines.first = anchor;
    return false;
  }
  const ClockAnchor& first = lines.first;
  if (anchor.tick[kMonotonic] <= first.tick[kMonotonic] ||
      anchor.ns[kMonotonic] - first.ns[kMonotonic] < kFreezeAfterNs)
    return false;
  const std::uint64_t ns =
      internal::ns_between(first.ns[kMonotonic], anchor.ns[kMonotonic]);
  lines.final = {
      first.tick[kMonotonic], first.ns[kMonotonic],
      internal::scale_of(ns, anchor.tick[kMonotonic] - first.tick[kMonotonic])};
  lines.has_final = true;
  publish(&lines.final);
  return true;
}

}  // namespace weft
