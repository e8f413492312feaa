// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_FUNCTION_EVENT_H_
#define WEFT_PROFILE_FUNCTION_EVENT_H_

// One finished range or device activity: a row of an EventList.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "weft/profile/device.h"
#include "weft/profile/rare.h"
#include "weft/profile/record_scope.h"

namespace weft {

// Dimensions of one input; empty for what is not an array.
using Shape = std::vector<std::int64_t>;

// Written as `[[2, 3], [], [4]]`.
std::string to_string(const std::vector<Shape>& shapes);

// Device work that a host range started.
struct Kernel {
  std::string name;
  DeviceType device = DeviceType::kCuda;
  int device_index = 0;
  std::int64_t stream = 0;
  std::int64_t duration_ns = 0;
  std::optional<std::int64_t> start_ns;  // unknown for event-pair timing
};

// Bytes allocated less bytes released, by where they lie.
struct MemoryUsage {
  std::int64_t cpu_bytes = 0;
  PerFamily device_bytes;

  MemoryUsage& operator+=(const MemoryUsage& other) noexcept {
    add_wrapping(cpu_bytes, other.cpu_bytes);
    device_bytes += other.device_bytes;
    return *this;
  }
  MemoryUsage& operator-=(const MemoryUsage& other) noexcept {
    subtract_wrapping(cpu_bytes, other.cpu_bytes);
    device_bytes -= other.device_bytes;
    return *this;
  }
};

// What else is known of a call: shown in trace files, part of no key.
struct CallFacts {
  std::vector<std::string> input_types;      // an element an input
  std::vector<std::string> concrete_inputs;  // values of numbers
  std::string args;                    // a user's text
  std::string backend;                 // of ranges measured elsewhere
  std::vector<std::string> modules;    // hierarchy, outermost first
  std::int64_t debug_handle = -1;
  std::uint64_t handle = 0;            // that callbacks knew it by

  bool operator==(const CallFacts&) const = default;
};

inline constexpr std::size_t kNoEvent =
    (std::numeric_limits<std::size_t>::max)();

// Times are nanoseconds since the start of the session. The first part is what
// was recorded; EventList fills in the second and then never changes a row.
struct FunctionEvent {
  std::int64_t id = 0;
  std::int64_t node_id = -1;  // -1: this process
  std::string name;
  // The name before steps were merged; none for memory rows, which no trace
  // file shows as slices.
  std::optional<std::string> trace_name;
  std::int64_t thread = 0;
  std::int64_t fwd_thread = 0;  // where the forward range ran; 0: not backward
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t sequence_nr = -1;
  RecordScope scope = RecordScope::kFunction;
  DeviceType device = DeviceType::kCpu;
  int device_index = 0;
  std::int64_t stream = 0;
  bool is_async = false;   // began and ended on different threads
  bool is_remote = false;  // recorded in another process
  bool is_legacy = false;  // device time measured by a pair of device events
  bool is_user_annotation = false;  // a user range drawn over device work
  bool finished = true;             // false: end_ns is the session's end
  std::vector<Kernel> kernels;
  std::vector<Shape> input_shapes;
  SharedList<std::string> stack;           // innermost frame first
  MemoryUsage memory;                      // inclusive of what runs inside
  std::int64_t requested_bytes = 0;        // of a failed allocation
  std::optional<std::uint64_t> flops = 0;  // none: not known
  Rare<CallFacts> facts;

  // Derived.
  std::size_t parent = kNoEvent;      // positions in the list
  std::vector<std::size_t> children;  // by start
  bool overlaps = false;  // part of another range of the thread, not inside it
  std::int64_t cpu_time_total_ns = 0;
  std::int64_t self_cpu_time_total_ns = 0;
  PerFamily device_time_total_ns;
  PerFamily self_device_time_total_ns;
  MemoryUsage self_memory;

  bool is_host() const noexcept { return device == DeviceType::kCpu; }
  // A point in time that no range may be merged away for: memory rows.
  bool is_instant() const noexcept { return !trace_name.has_value(); }
  std::int64_t duration_ns() const noexcept {
    std::int64_t duration = end_ns;
    subtract_wrapping(duration, start_ns);
    return duration;
  }
};

}  // namespace weft

#endif  // WEFT_PROFILE_FUNCTION_EVENT_H_
