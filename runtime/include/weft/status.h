// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_STATUS_H_
#define WEFT_STATUS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "weft/internal/api.h"
#include "weft/record.h"

namespace weft {

enum class RuntimeState : std::uint8_t { kOff = 0, kRecording = 1, kPaused = 2 };

// How the runtime is doing. Counts are of the default session and only grow
// while it lasts; a moment's figures are not taken at one instant.
struct RuntimeStatus {
  RuntimeState state = RuntimeState::kOff;
  std::string output;
  std::string output_error;  // the first failure in words; empty: none
  std::uint64_t delivered = 0;               // records given to the exporter
  std::uint64_t dropped[kDropReasons] = {};  // by DropReason
  std::uint64_t bytes_written = 0;
  std::uint64_t bytes_pending = 0;
  std::uint32_t threads_live = 0;   // that have recorded
  std::uint64_t threads_seen = 0;
  std::size_t ring_bytes_used = 0;  // of InitOptions::ring_bytes
  std::uint32_t strings = 0;
  std::uint64_t other_names = 0;    // names that found no room in the table
  std::uint32_t sites = 0;
  std::uint32_t subscriptions = 0;
  std::uint64_t drain_passes = 0;
  std::uint64_t drain_run_delay_ns = 0;  // the drainer waited for a CPU
  std::uint64_t clock_corrections = 0;
  std::string clock;         // "tsc", "cntvct" or "monotonic"
  std::string clock_reason;
  // "off", "unavailable", "open" or "running", and after a colon why.
  std::string gpu;

  std::uint64_t total_dropped() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : dropped) sum += count;
    return sum;
  }
};

// Thread-safe. Cold.
WEFT_API RuntimeStatus status();

}  // namespace weft

#endif  // WEFT_STATUS_H_
