// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_MEMORY_TIMELINE_H_
#define WEFT_PROFILE_MEMORY_TIMELINE_H_

// How much memory was in use when, by what it was for.

#include <array>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "weft/profile/memory_record.h"
#include "weft/profile/memory_report.h"
#include "weft/result.h"

namespace weft {

// The numbers appear in outputs.
enum class MemoryAction : std::uint8_t {
  kPreexisting = 1,  // it was there before the first record
  kCreate = 2,
  kIncrementVersion = 3,  // for something else now: minus old, plus new
  kDestroy = 4,
};

struct MemoryPoint {
  std::int64_t at_ns = 0;  // -1: before the first record
  MemoryAction action = MemoryAction::kCreate;
  std::int64_t bytes = 0;  // by which the category changes
  MemoryCategory category = MemoryCategory::kUnknown;
};

class MemoryTimeline {
 public:
  // Records in any order; equal times keep theirs. A block that is released
  // without having been allocated was there before.
  explicit MemoryTimeline(std::vector<MemoryRecord> records);

  // What an allocation in a session was for, as its user knows it; a release is
  // for what its block was for. Empty: everything is unknown.
  using CategoryOf = std::function<MemoryCategory(const MemoryRecord& record)>;
  // Of a session's memory_records(). Allocations that failed are left out.
  static MemoryTimeline of_session(const std::vector<MemoryRecord>& records,
                                   const CategoryOf& category_of = {});

  // The first device with records, else the host.
  MemoryDevice default_device() const;

  // In the order of time, those from before first.
  std::vector<MemoryPoint> points(MemoryDevice device) const;

  // Bytes in use by category after each distinct microsecond. What was there
  // before counts from the earliest one on.
  struct Sample {
    std::int64_t at_us = 0;
    std::array<std::int64_t, kMemoryCategories> bytes{};
  };
  std::vector<Sample> samples(MemoryDevice device) const;

  // [[us, ...], [[0, bytes of each category], ...]]
  void write_samples(std::ostream& out, MemoryDevice device) const;
  // [[ns, action, bytes, category], ...]
  void write_points(std::ostream& out, MemoryDevice device) const;
  // A page with a picture.
  void write_page(std::ostream& out, MemoryDevice device) const;

  // The form that the name asks for: "....html" the page, "...raw.json.gz" the
  // points, anything else the samples; a name in ".gz" is compressed. Without
  // a device the default one.
  //
  // Errors: kIo  the file cannot be written; the message has path and reason
  Result<void> export_memory_timeline(
      const std::string& path,
      std::optional<MemoryDevice> device = std::nullopt) const;

 private:
  std::vector<MemoryRecord> records_;  // by time
};

}  // namespace weft

#endif  // WEFT_PROFILE_MEMORY_TIMELINE_H_
