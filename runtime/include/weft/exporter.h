// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORTER_H_
#define WEFT_EXPORTER_H_

// What turns drained records into one file format, or into a result in memory.
//
// Two threads call an exporter. The drainer hands it runs of records and must
// never wait: the exporter copies (encodes) them into memory of its own, within
// its bound, or refuses. The helper may block: it writes what was encoded.
//
//   drainer:  begin  { define* consume* lose* anchor* settle }*  end
//   helper:            work*                                     work until false
//
// The exporter owns the hand-off between the two. `status` may be called from
// any thread at any time between construction and destruction.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "weft/catalog.h"
#include "weft/clock_anchor.h"
#include "weft/internal/api.h"
#include "weft/record.h"
#include "weft/result.h"
#include "weft/snapshot.h"

namespace weft {

// Consecutive whole records of one thread, straight out of its ring: `first`,
// then `second` when the ring wraps in between. A record may lie across the
// two. Valid during the call only.
struct Run {
  ThreadIndex thread = ThreadIndex::kNone;
  std::uint64_t position = 0;  // of the first slot; may have kSidePosition
  std::uint64_t skipped = 0;   // slots just before, left out by the filter
  const Slot* first = nullptr;
  std::uint32_t first_count = 0;
  const Slot* second = nullptr;
  std::uint32_t second_count = 0;
  Ticks reference = 0;  // not older than any record here; for unwrap_tick()
};

// Records that are in no run. `position` is where they would have been: that
// of the next slot of their thread.
struct Loss {
  ThreadIndex thread = ThreadIndex::kNone;
  std::uint64_t position = 0;
  std::uint64_t records = 0;
  DropReason reason = DropReason::kNone;
};

struct SubscriptionInfo {
  std::string name;     // "default", or what its user called it
  Ticks start_tick = 0;
  std::string filter;   // categories in words; empty: everything
  bool filtered = false;
};

struct SubscriptionEnd {
  Ticks stop_tick = 0;
  std::uint64_t delivered = 0;  // records handed to consume() and accepted
  std::uint64_t dropped[kDropReasons] = {};
  std::uint64_t run_delay_ns = 0;  // the drainer waited this long for a CPU
  std::string reason;              // "stop", "shutdown", "limit: 1000 records"
};

inline constexpr std::int64_t kFlushNow = INT64_MAX;

struct ExporterStatus {
  std::uint64_t bytes_written = 0;
  std::uint64_t bytes_pending = 0;  // encoded, not yet written
  std::uint64_t records_lost = 0;   // accepted, then lost by failed writes
  std::string error;                // the first failure in words; empty: none
};

// What a snapshot has to hold, and who waits for it.
struct SnapshotOrder {
  std::string path;
  // The path is a pattern: a number that is still free goes before its suffix.
  bool numbered = false;
  std::string reason;
  Ticks from = 0;  // records that are older need not be in it; 0: all
  Ticks to = 0;    // the moment of the snapshot
  // Called once, by the drainer or the helper; must not block.
  std::function<void(const Result<SnapshotInfo>&)> finish;
};

class WEFT_API Exporter {
 public:
  virtual ~Exporter() = default;

  // Drainer only; none of these blocks, and after begin() none allocates, but
  // for define() as threads come.
  virtual void begin(const ProcessInfo& process,
                     const SubscriptionInfo& subscription) = 0;
  virtual void define(const Catalog& catalog) = 0;
  // Takes the whole run, or refuses it: then the pipeline counts its records
  // and reports them by lose().
  [[nodiscard]] virtual bool consume(const Run& run) = 0;
  virtual void lose(const Loss& loss) = 0;
  virtual void anchor(const ClockAnchor& anchor) = 0;
  // Once after every pass, with the time in ns of CLOCK_MONOTONIC: closes what
  // has waited longer than the flush promise. kFlushNow closes everything.
  virtual void settle(std::int64_t now_ns) = 0;
  virtual void end(const SubscriptionEnd& end) = 0;
  // Keeps what `order` asks for until the helper, in work(), has written it.
  // An exporter that keeps nothing refuses.
  virtual void snapshot(SnapshotOrder order);
  // Thread-safe. Asks for another output file from the next settle() on. False:
  // this one has a single output.
  virtual bool rotate() { return false; }
  // After settle(): whether the helper should be called for work().
  virtual bool has_work() const noexcept { return true; }

  // Helper only; may block. Writes what is ready; true if it did anything.
  // After end(), called until it returns false; then the output is complete.
  virtual bool work() = 0;

  // Thread-safe.
  virtual ExporterStatus status() const = 0;
};

// When a .weft output goes on in another file, and how many are kept. 0: never,
// all.
struct Rotation {
  std::uint64_t bytes = 0;             // a file is complete when it has so many
  std::chrono::nanoseconds after{0};   // or when it is so old
  std::uint64_t keep_bytes = 0;        // of all files together; oldest go first

  constexpr bool wanted() const noexcept {
    return bytes != 0 || after.count() != 0;
  }
};

// How a path becomes an exporter. Its implementation lives in export/, above
// this folder: runtime refers to it weakly and export's link option pulls it
// in, so that a program without export gets an error and no missing symbol.
struct OutputOptions {
  std::string path;              // ".weft", ".json" or ".json.gz"
  // Memory between drainer and disk; of a recorder, what it keeps.
  std::size_t block_pool_bytes = 16u << 20;
  bool flight_recorder = false;  // keep the newest, write snapshots to `path`
  std::int64_t flush_after_ns = 250'000'000; // a block waits at most this long
  bool overwrite = true;         // false: refuse a path that exists
  Rotation rotation;             // numbered files instead of one
};

}  // namespace weft

extern "C" {
// Creates the exporter for `options`, or leaves `*exporter` empty and says why.
// Cold: opens the file. Symbol of weft::export.
WEFT_API __attribute__((weak)) void weft_open_output(
    const weft::OutputOptions& options,
    std::unique_ptr<weft::Exporter>* exporter, weft::Error* error);
}

#endif  // WEFT_EXPORTER_H_
