// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_RAW_EVENT_H_
#define WEFT_PROFILE_RAW_EVENT_H_

// What a collector hands over, and its way into rows of an EventList.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "weft/profile/event_list_options.h"
#include "weft/profile/function_event.h"
#include "weft/profile/memory_record.h"
#include "weft/profile/rare.h"

namespace weft {

// Names of records that are not ranges.
inline constexpr char kMemoryRecord[] = "[memory]";
inline constexpr char kOutOfMemoryRecord[] = "[OutOfMemory]";

struct RawEvent {
  std::string name;
  std::int64_t start_ns = 0;  // on the session's clock
  std::int64_t end_ns = 0;
  // An operation's own number. Launches and device work have numbers of
  // another kind here: the device tracer's.
  std::int64_t id = 0;
  std::int64_t linked_op = 0;  // the operation that caused this; 0: none
  std::int64_t thread = 1;
  std::optional<std::int64_t> end_thread;  // none: where it began
  std::int64_t fwd_thread = 0;
  DeviceType device = DeviceType::kCpu;
  int device_index = 0;
  std::int64_t stream = 0;
  RecordScope scope = RecordScope::kFunction;
  std::int64_t sequence_nr = -1;
  bool is_async = false;
  bool is_user_annotation = false;
  bool finished = true;
  std::vector<Shape> input_shapes;
  SharedList<std::string> stack;  // innermost first
  std::optional<std::uint64_t> flops = 0;
  std::int64_t bytes = 0;  // memory records; negative: released
  Rare<CallFacts> facts;
  std::int64_t node_id = -1;
  // Between a pair of device events around the operation; none if there is no
  // pair or it could not be measured.
  std::optional<std::int64_t> cuda_elapsed_ns;
  std::optional<std::int64_t> custom_elapsed_ns;
};

struct RawEventOptions {
  std::int64_t trace_start_ns = 0;
  std::vector<std::string> hidden_names;
  // A frame with both texts of a pair in it is left out of stacks.
  std::vector<std::pair<std::string, std::string>> hidden_frames;
};

// What PyTorch 2.2.2 hides.
RawEventOptions reference_raw_event_options();

struct RawEventStatistics {
  std::uint64_t unattributed_device_rows = 0;  // device work of no operation
  std::uint64_t launches_without_work = 0;
};

struct ParsedEvents {
  std::vector<FunctionEvent> events;  // by start, then longest first
  RawEventStatistics statistics;
};

// Links device work to operations, moves launches to their operation's thread,
// charges memory records to ranges, and gives those that none takes a row of
// their own. Memory records are those of `raw` with one of the names above.
// `raw` is used up; beside it and the rows nothing large is held.
ParsedEvents parse_raw_events(std::vector<RawEvent> raw,
                              const EventListOptions& session,
                              const RawEventOptions& options = {});

// The same with memory records in their compact form, of the node
// `memory_node_id`, with times as the rows will have them. `raw` holds none,
// whatever its names.
ParsedEvents parse_raw_events(std::vector<RawEvent> raw,
                              std::span<const MemoryRecord> memory,
                              std::int64_t memory_node_id,
                              const EventListOptions& session,
                              const RawEventOptions& options = {});

}  // namespace weft

#endif  // WEFT_PROFILE_RAW_EVENT_H_
