// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_RECORD_LIST_H_
#define WEFT_PROFILE_RECORD_LIST_H_

// The record lists of profilers that came before device tracing: pushes and
// pops, one list a thread, all times relative to a mark "__start_profile".

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/profile/function_event.h"
#include "weft/profile/rules.h"
#include "weft/result.h"

namespace weft {

inline constexpr char kStartMark[] = "__start_profile";

struct ListRecord {
  enum class Kind : std::uint8_t { kMark, kPush, kPop, kMemory };

  Kind kind = Kind::kMark;
  std::string name;
  std::int64_t thread = 1;
  std::int64_t handle = 0;  // a pop has that of its push
  std::int64_t node_id = -1;
  std::int64_t cpu_ns = 0;
  std::optional<std::int64_t> device_ns;  // of a device event made just then
  int device_index = 0;
  std::int64_t cpu_bytes = 0;  // memory records
  std::int64_t cuda_bytes = 0;
  bool is_async = false;
  bool is_remote = false;
  std::vector<Shape> shapes;  // of a push: its inputs
};

using RecordLists = std::vector<std::vector<ListRecord>>;

struct ParsedRecords {
  std::vector<FunctionEvent> events;
  std::uint64_t ends_without_begin = 0;
  std::uint64_t begins_without_end = 0;
};

// Pairs by order, as lists of 2017 did: a pop ends the push before it. Each
// event has one kernel of its own name between its two device events.
//
// Errors: kCorrupt  no start mark; under Rules::kReference a pop without a push
[[nodiscard]] Result<ParsedRecords> parse_record_lists_2017(
    const RecordLists& lists, Rules rules = Rules::kWeft);

// Pairs by handle and node, as the profiler did that followed. A push right
// after one of the same name is a wrapper's and is dropped.
//
// Errors: as above
[[nodiscard]] Result<ParsedRecords> parse_record_lists(
    const RecordLists& lists, Rules rules = Rules::kWeft);

// A list of another process, to be sent there and back: a JSON array with an
// array of 12 a record: kind (0 mark, 1 push, 2 pop, 3 memory), name, thread,
// handle, node, bytes of the host, ns of the host's clock, whether a device
// event was made, bytes of the device, device, us of that event, shapes. What
// else a record has stays behind.
std::string serialize_records(const std::vector<ListRecord>& records);

// The records are remote from here on.
// Errors: kCorrupt  no such array; a record with more or fewer fields, a field
//                   of another type, a host time that is not positive, or a
//                   negative device or device time. Names the record and field.
[[nodiscard]] Result<std::vector<ListRecord>> deserialize_records(
    std::string_view json);

// Adds a list of another node, whose records are remote from here on. Its own
// start mark moves no times: that of `lists` comes first.
void add_remote_records(RecordLists& lists, std::vector<ListRecord> remote);

}  // namespace weft

#endif  // WEFT_PROFILE_RECORD_LIST_H_
