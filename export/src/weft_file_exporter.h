// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_WEFT_FILE_EXPORTER_H_
#define WEFT_EXPORT_SRC_WEFT_FILE_EXPORTER_H_

// Writes a subscription as a .weft file.
//
//   drainer                        helper
//   runs --> encoder --> ready_ ==========> write(2) --> file
//              ^                               |
//              +-------- free_ <===============+     (numbers of blocks)
//
// The drainer fills one block at a time. A block that is full, or as old as the
// flush promise, goes to the helper; written or failed, it comes back. No free
// block: runs are refused. What may not be refused (losses, anchors, process
// info, definitions) is a debt, kept within bounds and paid before the next
// run is accepted.
//
// Rotation. Between two passes the drainer may close a part: it leaves the end of
// its accounts, puts a mark behind the part's blocks, and tells everything anew.
// Where the mark comes out, the helper completes the file and opens another:
//
//   ready_:  block block kEndOfPart block ...
//   file:    name.1.weft            name.2.weft
//
// Memory order. [D] open_part_: release by the helper when it has read a part's
// accounts and begun the next file, acquire by the drainer before it writes over
// those accounts, and before it believes the losses to be its own part's.
//
// Invariants:
//   I1  A block is in exactly one place: free_, spare_, the encoder, the run
//       being encoded, ready_, the helper's hand, or not yet touched.
//   I2  A run is in the file, or counted in lost blocks, as a whole or not at
//       all; or it was refused.
//   I3  No run stands before a debt that is older than it.

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "block_encoder.h"
#include "block_pool.h"
#include "block_sink.h"
#include "definition_writer.h"
#include "index_queue.h"
#include "items.h"
#include "weft/exporter.h"

namespace weft::exporters {

class WeftFileExporter final : public Exporter {
 public:
  // Errors: kInvalidArgument, kOutOfMemory, kIo.
  static Result<std::unique_ptr<Exporter>> create(const OutputOptions& options);
  // The same into a sink instead of the file that `options` name.
  // Errors: kInvalidArgument, kOutOfMemory.
  static Result<std::unique_ptr<Exporter>> create(
      const OutputOptions& options, std::unique_ptr<BlockSink> sink);

  void begin(const ProcessInfo& process,
             const SubscriptionInfo& subscription) override;
  void define(const Catalog& catalog) override;
  bool consume(const Run& run) override;
  void lose(const Loss& loss) override;
  void anchor(const ClockAnchor& anchor) override;
  void settle(std::int64_t now_ns) override;
  bool rotate() override;
  void end(const SubscriptionEnd& end) override;
  bool has_work() const noexcept override;
  bool work() override;
  ExporterStatus status() const override;

 private:
  static constexpr std::size_t kMaxLossDebts = 1024;
  static constexpr std::size_t kMaxAnchorDebts = 64;
  // Blocks that are kept ready for the drainer: 2 MiB, or 700,000 slots.
  static constexpr std::size_t kWarmBlocks = 8;
  // Files that the drainer may be ahead of the helper.
  static constexpr std::uint32_t kMaxPendingParts = 8;
  static constexpr std::uint32_t kEndOfPart = ~std::uint32_t{0};  // no block

  // A block that is complete.
  struct Closed {
    std::uint32_t block = 0;
    std::size_t bytes = 0;
    std::uint32_t calls = 0;
    std::uint64_t ring_losses = 0;
  };
  // What of the subscription is told in one file.
  struct Accounts {
    std::uint64_t delivered = 0;
    std::array<std::uint64_t, kDropReasons> dropped{};
  };
  struct Part {
    SubscriptionEnd end;
    std::uint64_t sequence = 0;  // of the block that follows its last
  };

  static std::uint64_t& dropped_of(Accounts& accounts, DropReason reason) {
    return accounts.dropped[static_cast<std::size_t>(reason)];
  }

  WeftFileExporter(const OutputOptions& options, BlockPool pool,
                   std::unique_ptr<BlockSink> sink);

  // Drainer.
  // A warm block if there is one, else one that nobody has touched: its page
  // faults cost some 50 us, a refused run is lost.
  bool take_block();
  void hand_over();
  Closed close_block();
  void push_ready(const Closed& closed);
  template <class Put>
  bool put_item(Put put);
  bool pay_debts();
  bool pay_all_debts();
  bool consume_guarded(const Run& run);
  void owe_loss(const Loss& loss);
  void owe_anchor(const ClockAnchor& anchor);
  void tell_lost_blocks();
  void rotate_if_due();
  void begin_part();

  // Helper.
  bool touch_blocks();
  bool write_ready();
  bool write_block(std::uint32_t block, int patience_ms);
  BlockSink::Outcome write_piece(const std::uint8_t* bytes, std::size_t size,
                                  int patience_ms);
  void lose_block(std::uint32_t block);
  void write_tail(BlockEncoder& block, std::uint8_t* memory,
                  const SubscriptionEnd& end, std::uint64_t sequence);
  void end_part();
  void finish_output();
  void remember(const IndexEntry& entry);
  void note_error(const std::string& error);

  const std::int64_t flush_after_ns_;
  const Rotation rotation_;
  BlockPool pool_;

  // Drainer's; the helper's after ended_.
  BlockEncoder encoder_;
  std::uint32_t current_ = 0;  // block of the encoder
  std::uint64_t sequence_ = 0;
  std::int64_t now_ns_ = 0;    // at the last settle()
  std::int64_t begun_ns_ = 0;  // not later than the first byte of the block
  std::vector<std::uint32_t> spare_;
  std::vector<Closed> filled_;  // of the run being encoded
  DefinitionWriter definitions_;
  bool definitions_behind_ = false;
  bool info_due_ = false;
  ProcessInfo process_;
  SubscriptionInfo subscription_;
  std::array<Loss, kMaxLossDebts> losses_;
  std::size_t loss_debts_ = 0;
  std::array<ClockAnchor, kMaxAnchorDebts> anchors_;
  std::size_t anchor_debts_ = 0;
  std::uint64_t noted_lost_blocks_ = 0;
  std::uint64_t seen_recoveries_ = 0;
  SubscriptionEnd end_;
  ClockAnchor last_anchor_;
  Accounts part_;     // of the part that is being filled
  Accounts earlier_;  // of those before it
  std::uint32_t part_number_ = 0;
  std::uint64_t part_bytes_ = 0;
  std::int64_t part_begun_ns_ = 0;

  // Accounts of parts that are on their way to the helper, by number; [D].
  std::array<Part, kMaxPendingParts> parts_;
  std::atomic<std::uint32_t> open_part_{0};  // that the helper writes
  std::atomic<bool> rotate_asked_{false};

  IndexQueue free_;   // helper to drainer
  IndexQueue ready_;  // drainer to helper
  std::atomic<bool> ended_{false};

  // Helper's.
  std::unique_ptr<BlockSink> sink_;
  bool header_written_ = false;
  bool finished_ = false;
  bool failing_ = false;
  std::uint32_t in_hand_ = 0;
  bool has_in_hand_ = false;
  std::vector<IndexEntry> index_;
  std::uint64_t index_step_ = 1;  // every how manieth block is in it
  std::uint64_t indexed_ = 0;
  std::vector<std::uint8_t> tail_memory_;  // none before the first rotation

  // Written by the helper, or the drainer (pending); read by anyone. Each
  // stands for itself, so relaxed order is enough, but where noted.
  std::atomic<std::uint64_t> bytes_written_{0};
  std::atomic<std::uint64_t> bytes_pending_{0};
  std::atomic<std::uint64_t> lost_records_{0};  // of the open part
  std::atomic<std::uint64_t> lost_blocks_{0};
  std::atomic<std::uint64_t> lost_records_in_all_{0};
  std::atomic<std::uint64_t> recoveries_{0};
  mutable std::mutex error_mutex_;
  std::string error_;
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_WEFT_FILE_EXPORTER_H_
