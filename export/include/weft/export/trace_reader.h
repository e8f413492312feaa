// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_TRACE_READER_H_
#define WEFT_EXPORT_TRACE_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "weft/catalog.h"
#include "weft/clock_anchor.h"
#include "weft/export/decoded_record.h"
#include "weft/exporter.h"
#include "weft/internal/api.h"
#include "weft/result.h"

namespace weft::exporters {

// Something in a file that is not as it should be, and where.
struct TraceProblem {
  std::uint64_t offset = 0;  // bytes from the start of the file
  std::string what;          // names the value and what was expected
  bool fatal = false;        // the rest of the file could not be used
};

// What a file says of itself and of everything in it. Names and threads are
// those known at the end of the file.
struct WEFT_API TraceInfo {
  std::uint32_t format_version = 0;
  ProcessInfo process;
  SubscriptionInfo subscription;
  SubscriptionEnd end;
  bool complete = false;  // it was closed; false: cut, `end` holds nothing
  std::uint64_t file_bytes = 0;
  std::uint64_t blocks = 0;
  std::uint64_t records = 0;
  std::uint64_t slots = 0;
  std::uint64_t unknown_items = 0;  // of newer versions, left out
  // Encoded, then not written because the disk or reader failed.
  std::uint64_t lost_blocks = 0;
  std::uint64_t lost_records = 0;
  std::vector<std::string> strings;        // by StringId; [0] is empty
  std::vector<SiteInfo> sites;             // by SiteId; [0] is empty
  std::vector<ThreadInfo> threads;         // in the order of their index
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<ClockAnchor> anchors;        // in the order of the file
  std::vector<Loss> losses;
  std::vector<TraceProblem> problems;      // found by open(); more by check()

  std::string_view text(StringId number) const noexcept;  // "" if unknown
  const SiteInfo& site(SiteId number) const noexcept;     // sites[0] if unknown
  // The name a record shows: its dynamic one, else its site's.
  std::string_view name_of(const DecodedRecord& record) const noexcept;
};

// Reads a .weft file, whole or cut, in bounded memory.
//
//   auto reader = TraceReader::open("service.weft");
//   if (!reader) ... reader.error().message
//   DecodedRecord record;
//   while (reader->next(&record)) ...
//
// Records come in the order of the file: in time order per thread, threads
// interleaved by blocks. Never trusts a byte: any input ends in records,
// problems, or an error, in time and memory proportional to its size.
// One thread at a time. Cold.
class WEFT_API TraceReader {
 public:
  // Reads headers, definitions and anchors of all blocks; not the records.
  // A cut file is no error: it reads up to its last whole block, and
  // info().complete is false.
  // Errors: kIo, kCorrupt (not a .weft file), kUnsupported (newer version).
  static Result<TraceReader> open(const std::string& path);
  // The same over bytes in memory, which must outlive the reader.
  static Result<TraceReader> open_bytes(const std::uint8_t* data,
                                        std::size_t size);

  TraceReader(TraceReader&&) noexcept;
  TraceReader& operator=(TraceReader&&) noexcept;
  ~TraceReader();

  const TraceInfo& info() const noexcept;

  // The next record; false at the end. A block that fails its check is
  // skipped and becomes a problem.
  bool next(DecodedRecord* record);
  // Back to the first record.
  void rewind();
  // Fraction of the file read so far, 0 to 1, for progress.
  double progress() const noexcept;

 private:
  struct State;
  explicit TraceReader(std::unique_ptr<State> state);
  friend std::vector<TraceProblem> check_trace(TraceReader& reader);
  friend Result<std::uint64_t> repair_trace(const std::string& from,
                                            const std::string& to);
  std::unique_ptr<State> state_;
};

// Everything that is wrong with a file: checksums, sizes, order of time and of
// positions per thread, gaps that no loss explains, ids never defined, accounts
// that do not add up. Empty: it is whole and consistent. Reads all of it.
WEFT_API std::vector<TraceProblem> check_trace(TraceReader& reader);

// Writes what is whole in `from` to `to` as a complete file, and returns how
// many records that is. What is missing is told in the new file's accounts.
// Errors: kIo, kCorrupt (nothing of it could be used), kUnsupported,
//         kInvalidArgument (`from` and `to` are one file).
WEFT_API Result<std::uint64_t> repair_trace(const std::string& from,
                                            const std::string& to);

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_TRACE_READER_H_
