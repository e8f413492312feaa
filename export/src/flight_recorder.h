// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_FLIGHT_RECORDER_H_
#define WEFT_EXPORT_SRC_FLIGHT_RECORDER_H_

// Keeps the newest records of a subscription in memory and writes them when
// asked: drained retention.
//
//   runs --> encoder --> [ oldest | ... | newest ]  kept blocks
//               ^             |            |
//               +-- evicted <-+            +--> snapshot: names, anchors, blocks
//
// Records are encoded as for a file, some 3 bytes a span, so that the same
// memory holds six times as many as a ring. What blocks do not hold (process,
// names, threads, clock pairs) is kept beside them and written anew into each
// snapshot.
//
// A snapshot pins the blocks of its window; the helper writes and releases them
// from the oldest on. While the oldest is pinned the reserve is used, and when
// that is full, runs are refused.
//
// Invariants:
//   I1  kept_ is in the order of filling, and the numbers of its blocks are
//       consecutive.
//   I2  Only the front is evicted, never while it is pinned; so what is kept of
//       a thread has no gap but those that a loss explains.
//   I3  One snapshot at a time: writing_ is set by the drainer, which then owns
//       pending_ no more, and cleared by the helper.

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "block_encoder.h"
#include "block_pool.h"
#include "frozen_catalog.h"
#include "index_queue.h"
#include "output_file.h"
#include "thread_book.h"
#include "weft/exporter.h"

namespace weft::exporters {

class FlightRecorder final : public Exporter {
 public:
  // Errors: kInvalidArgument, kOutOfMemory.
  static Result<std::unique_ptr<Exporter>> create(const OutputOptions& options);

  void begin(const ProcessInfo& process,
             const SubscriptionInfo& subscription) override;
  void define(const Catalog& catalog) override;
  bool consume(const Run& run) override;
  void lose(const Loss& loss) override;
  void anchor(const ClockAnchor& anchor) override;
  void settle(std::int64_t now_ns) override;
  void end(const SubscriptionEnd& end) override;
  void snapshot(SnapshotOrder order) override;
  bool has_work() const noexcept override;
  bool work() override;
  ExporterStatus status() const override;

 private:
  using Losses = std::array<std::uint64_t, kDropReasons>;

  // A block that is full, or was closed for a snapshot.
  struct Kept {
    std::uint32_t block = 0;
    std::uint64_t number = 0;
    Ticks first_tick = 0;
    Ticks last_tick = 0;
    std::uint64_t records = 0;
    Losses losses{};
  };

  // A snapshot on its way from the drainer to the helper.
  struct Pending {
    Pending(SnapshotOrder what, FrozenCatalog names)
        : order(std::move(what)), catalog(std::move(names)) {}
    SnapshotOrder order;
    FrozenCatalog catalog;
    SubscriptionInfo subscription;
    SubscriptionEnd end;
    std::vector<ClockAnchor> anchors;
    std::vector<Kept> blocks;
  };

  explicit FlightRecorder(BlockPool pool);

  // Drainer.
  bool take_block();
  bool evict();
  Kept close_block();
  void keep(Kept kept);
  bool consume_guarded(const Run& run);
  bool pay_losses();

  // Helper.
  bool touch_blocks();
  Result<SnapshotInfo> write(const Pending& pending);

  BlockPool pool_;
  const std::size_t most_kept_;  // the rest is the reserve

  // Drainer's.
  BlockEncoder encoder_;
  std::uint32_t current_ = 0;  // block of the encoder
  Losses losses_{};            // told in the encoder's block
  Losses owed_{};              // told when there is a block again
  std::uint64_t next_number_ = 0;
  std::deque<Kept> kept_;
  std::vector<std::uint32_t> evicted_;  // blocks to be filled again
  std::vector<Kept> filled_;            // of the run being encoded
  ThreadBook threads_;
  std::vector<ClockAnchor> anchors_;  // oldest first, thinned with age
  const Catalog* catalog_ = nullptr;
  ProcessInfo process_;  // constant once begun
  SubscriptionInfo subscription_;
  IndexQueue touched_;  // helper to drainer: blocks never used, warm

  std::unique_ptr<Pending> pending_;  // see I3
  std::atomic<bool> writing_{false};
  // Blocks with numbers in [released_, pinned_end_) are pinned. The helper
  // raises released_ as it writes.
  std::atomic<std::uint64_t> released_{0};
  std::uint64_t pinned_from_ = 0;
  std::uint64_t pinned_end_ = 0;

  std::atomic<std::uint64_t> bytes_written_{0};
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_FLIGHT_RECORDER_H_
