// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_RUN_SLICE_H_
#define WEFT_SRC_RUN_SLICE_H_

#include <algorithm>
#include <cstdint>

#include "weft/exporter.h"

namespace weft {

// A run as one sequence of slots, though it lies in two pieces.
inline std::uint32_t size_of(const Run& run) noexcept {
  return run.first_count + run.second_count;
}

inline const Slot& slot_at(const Run& run, std::uint32_t at) noexcept {
  return at < run.first_count ? run.first[at]
                              : run.second[at - run.first_count];
}

// Slots [begin, end) of a run.
inline Run slice_of(const Run& run, std::uint32_t begin, std::uint32_t end) noexcept {
  Run slice = run;
  slice.position = run.position + begin;
  slice.skipped = 0;
  slice.second = nullptr;
  slice.second_count = 0;
  if (begin < run.first_count) {
    slice.first = run.first + begin;
    slice.first_count = std::min(end, run.first_count) - begin;
    if (end > run.first_count) {
      slice.second = run.second;
      slice.second_count = end - run.first_count;
    }
  } else {
    slice.first = run.second + (begin - run.first_count);
    slice.first_count = end - begin;
  }
  return slice;
}

// The end of the slice that begins at `begin`, holds about `slots` slots, and
// does not part a record.
inline std::uint32_t slice_end(const Run& run, std::uint32_t begin,
                               std::uint32_t slots) noexcept {
  const std::uint32_t size = size_of(run);
  if (size - begin <= slots) return size;
  std::uint32_t end = begin + slots;
  while (end < size && is_continuation(slot_at(run, end))) ++end;
  return end;
}

}  // namespace weft

#endif  // WEFT_SRC_RUN_SLICE_H_
