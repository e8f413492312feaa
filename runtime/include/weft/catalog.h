// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_CATALOG_H_
#define WEFT_CATALOG_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/internal/api.h"
#include "weft/record.h"

namespace weft {

// What a site records.
enum class SiteKind : std::uint8_t {
  kNone = 0,
  kSpan = 1,
  kInstant = 2,
  kCounter = 3,
  kFlowOut = 4,
  kFlowIn = 5,
  kAsyncSpan = 6,
  kStep = 7,
};

inline constexpr std::size_t kMaxArguments = 8;

struct SiteArgument {
  StringId key = StringId::kNone;
  RecordKind type = RecordKind::kNone;  // of the values: a continuation kind
};

struct SiteInfo {
  SiteId number = SiteId::kNone;
  SiteKind kind = SiteKind::kNone;
  StringId name = StringId::kNone;
  StringId category = StringId::kNone;
  StringId file = StringId::kNone;
  std::uint32_t line = 0;
  std::uint8_t argument_count = 0;
  std::array<SiteArgument, kMaxArguments> arguments{};
};

struct ThreadInfo {
  ThreadIndex index = ThreadIndex::kNone;
  std::uint32_t tid = 0;       // the kernel's; may be used again after exit
  bool tid_is_unique = false;  // no earlier thread of this process had `tid`
  StringId name = StringId::kNone;
  Ticks start_tick = 0;
  Ticks exit_tick = 0;         // 0 while it runs
  std::uint32_t revision = 0;  // changes when name or exit_tick does
};

// What ids mean, read by exporters. Ids are dense from 1 and only grow; an id
// that appears in a run is always readable here before that run is handed out.
// An id below the end may be unreadable for a moment, while its owner still
// writes it: such an id is in no run yet, so try again at the next call.
//
// Drainer only. Nothing here allocates or blocks.
class WEFT_API Catalog {
 public:
  virtual ~Catalog() = default;

  virtual std::uint32_t string_end() const noexcept = 0;  // one past the last id
  virtual bool string(StringId number, std::string_view* text) const noexcept = 0;
  virtual std::uint32_t site_end() const noexcept = 0;
  virtual bool site(SiteId number, SiteInfo* info) const noexcept = 0;

  // Threads whose entry changed since `*cursor`, which starts at 0 and is moved
  // on. False when there are no more.
  virtual bool next_thread(std::uint64_t* cursor,
                           ThreadInfo* info) const noexcept = 0;

  // Key and value pairs of set_metadata(), in the order they were set; a key
  // that is set again appears again. One past the last; pairs never change.
  virtual std::uint32_t metadata_end() const noexcept = 0;
  virtual std::pair<StringId, StringId> metadata(
      std::uint32_t index) const noexcept = 0;
};

// The process that is traced, known when a subscription begins.
struct ProcessInfo {
  std::uint32_t pid = 0;
  std::string executable;    // path
  std::string build_id;      // hexadecimal; empty if it has none
  std::string command_line;  // arguments joined by spaces
  std::string host;
  std::string boot_id;       // processes with equal ones share raw ticks
  std::string kernel;
  std::string weft_version;
  std::string clock;         // "tsc", "cntvct" or "monotonic"
  std::string clock_reason;  // why that one
  std::uint32_t cpus = 0;
  double tick_hz = 0;        // best estimate at the start; anchors are exact
};

}  // namespace weft

#endif  // WEFT_CATALOG_H_
