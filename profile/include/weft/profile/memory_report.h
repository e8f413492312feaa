// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_MEMORY_REPORT_H_
#define WEFT_PROFILE_MEMORY_REPORT_H_

// Who allocated and who released: two figures, neither of them negative, in
// place of one difference that means little.

#include <cstdint>
#include <string>
#include <vector>

#include "weft/profile/event_list.h"
#include "weft/profile/memory_record.h"

namespace weft {

// Rows of no range.
inline constexpr char kUnattributedMemory[] = "[unattributed]";
// Releases of blocks that were there before the first record, wherever they
// happened.
inline constexpr char kEarlierMemory[] = "[allocated before]";

struct MemoryRow {
  std::string name;
  std::uint64_t allocations = 0;
  std::uint64_t releases = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t released_bytes = 0;

  std::int64_t net_bytes() const noexcept {
    return static_cast<std::int64_t>(allocated_bytes - released_bytes);
  }
};

struct MemoryReport {
  // A row a name of ranges that allocated or released, in the order of their
  // first record; each record counts in one row: that of the innermost range
  // open on its thread. The net bytes of all rows add up to `change_bytes`.
  std::vector<MemoryRow> rows;
  std::int64_t change_bytes = 0;  // from the first record to the last
  // The most that was in use at once, above what was at the first record; of
  // all devices together. 0 or more.
  std::int64_t peak_bytes = 0;
  std::int64_t peak_at_ns = 0;

  // Name, allocated, released, net, calls of both.
  std::string table() const;
};

// Times of the records are those of the events. Changes of category (0 bytes)
// do not count.
MemoryReport memory_report(const EventList& events,
                           std::vector<MemoryRecord> records);

}  // namespace weft

#endif  // WEFT_PROFILE_MEMORY_REPORT_H_
