// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_EXECUTION_GRAPH_H_
#define WEFT_PROFILE_EXECUTION_GRAPH_H_

// Writes what ran inside what, with shapes, as the execution graph that replay
// tools of PyTorch read.

#include <cstdint>
#include <iosfwd>
#include <string>

#include "weft/profile/event_list.h"
#include "weft/result.h"

namespace weft {

struct ExecutionGraphOptions {
  std::int64_t pid = 0;
  std::string time;  // of the recording, for people
  std::int64_t start_ms = 0;   // of a steady clock
  std::int64_t finish_ms = 0;
};

// Lists of inputs are cut at this many elements.
inline constexpr std::size_t kMostGraphElements = 4096;

// {schema, pid, time, start_ts, nodes, finish_ts}. Nodes are the host rows in
// the order of the list, numbered from 2; the process, number 1, comes last and
// is its own parent. Returns how many lists were cut.
std::uint64_t write_execution_graph(std::ostream& out, const EventList& events,
                                    const ExecutionGraphOptions& options);

// As above, into a file that appears when it is complete; ".gz" compresses.
//
// Errors: kIo  the file cannot be written; the message has path and reason
Result<std::uint64_t> export_execution_graph(
    const std::string& path, const EventList& events,
    const ExecutionGraphOptions& options);

}  // namespace weft

#endif  // WEFT_PROFILE_EXECUTION_GRAPH_H_
