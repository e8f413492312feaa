// SPDX-License-Identifier: Apache-2.0
#include "weft_file_exporter.h"

#include <algorithm>
#include <utility>

#include "file_tail.h"
#include "output_file.h"
#include "varint.h"

namespace weft::exporters {
namespace {

// How long the helper waits for the reader of a FIFO: while recording, so that
// it can be told to do other things; and at the end, for a slow reader.
constexpr int kPatienceMs = 50;
constexpr int kLastPatienceMs = 2000;

// Blocks that are kept ready for the drainer: 2 MiB, or 700,000 slots.
constexpr std::size_t kWarmBlocks = 8;

constexpr std::size_t kMaxIndexEntries = std::size_t{1} << 16;
constexpr std::size_t kMaxReasonBytes = 256;

}  // namespace

Result<std::unique_ptr<Exporter>> WeftFileExporter::create(
    const OutputOptions& options) {
  auto file = OutputFile::open(options);
  if (!file) return file.error();
  return create(options, std::make_unique<OutputFile>(std::move(*file)));
}

Result<std::unique_ptr<Exporter>> WeftFileExporter::create(
    const OutputOptions& options, std::unique_ptr<BlockSink> sink) {
  auto pool = BlockPool::create(options.block_pool_bytes);
  if (!pool) return pool.error();
  return std::unique_ptr<Exporter>(
      new WeftFileExporter(options, std::move(*pool), std::move(sink)));
}

WeftFileExporter::WeftFileExporter(const OutputOptions& options, BlockPool pool,
                                   std::unique_ptr<BlockSink> sink)
    : flush_after_ns_(options.flush_after_ns),
      pool_(std::move(pool)),
      free_(pool_.count()),
      ready_(pool_.count()),
      sink_(std::move(sink)) {
  spare_.reserve(pool_.count());
  filled_.reserve(pool_.count());
  end_.reason.reserve(kMaxReasonBytes);
  while (free_.size() < BlockPool::kMinBlocks) touch_blocks();
}

void WeftFileExporter::begin(const ProcessInfo& process,
                             const SubscriptionInfo& subscription) {
  process_ = process;
  subscription_ = subscription;
  info_due_ = true;
  pay_debts();
}

bool WeftFileExporter::take_block() {
  if (!spare_.empty()) {
    current_ = spare_.back();
    spare_.pop_back();
  } else if (!free_.pop(&current_) && !pool_.claim(&current_)) {
    return false;
  }
  encoder_.start(pool_.block(current_), kMaxBlockBytes);
  begun_ns_ = now_ns_;
  return true;
}

void WeftFileExporter::hand_over() {
  push_ready(current_, encoder_.finish(sequence_++));
}

void WeftFileExporter::push_ready(std::uint32_t block, std::size_t bytes) {
  bytes_pending_.fetch_add(bytes, std::memory_order_relaxed);
  ready_.push(block);
}

template <class Put>
bool WeftFileExporter::put_item(Put put) {
  if (!encoder_.started() && !take_block()) return false;
  if (put(encoder_)) return true;
  hand_over();
  return take_block() && put(encoder_);
}

bool WeftFileExporter::pay_debts() {
  const bool owes = info_due_ || loss_debts_ != 0 || anchor_debts_ != 0;
  return !owes || pay_all_debts();
}

bool WeftFileExporter::pay_all_debts() {
  if (info_due_) {
    const bool paid = put_item([&](BlockEncoder& block) {
                        return put_process(block, process_);
                      }) &&
                      put_item([&](BlockEncoder& block) {
                        return put_subscription(block, subscription_);
                      });
    if (!paid) return false;
    info_due_ = false;
  }
  for (; anchor_debts_ != 0; --anchor_debts_) {
    // Oldest first; few, so that moving them is no cost.
    if (!put_item([&](BlockEncoder& block) {
          return put_anchor(block, anchors_[0]);
        }))
      return false;
    std::move(anchors_.begin() + 1,
              anchors_.begin() + static_cast<std::ptrdiff_t>(anchor_debts_),
              anchors_.begin());
  }
  for (; loss_debts_ != 0; --loss_debts_) {
    if (!put_item([&](BlockEncoder& block) {
          return put_loss(block, losses_[loss_debts_ - 1]);
        }))
      return false;
  }
  return true;
}

void WeftFileExporter::define(const Catalog& catalog) {
  definitions_.note(catalog);
  definitions_behind_ = true;
  if (!pay_debts()) return;
  if (!encoder_.started() && !take_block()) return;
  auto outcome = definitions_.write(catalog, encoder_);
  while (outcome == DefinitionWriter::Outcome::kBlockFull) {
    hand_over();
    if (!take_block()) return;
    outcome = definitions_.write(catalog, encoder_);
  }
  definitions_behind_ = outcome != DefinitionWriter::Outcome::kDone;
}

bool WeftFileExporter::consume(const Run& run) {
  if (definitions_behind_ || !pay_debts()) return false;
  if (!encoder_.started() && !take_block()) return false;
  if (!encoder_.surely_fits(run)) return consume_guarded(run);
  std::uint32_t done = 0;
  return encoder_.encode(run, &done);
}

// A run that may need more blocks than there are: encoded as far as they go,
// and taken back if that is not the whole of it (I2).
bool WeftFileExporter::consume_guarded(const Run& run) {
  // No slot takes less than a byte, but for the ends of leaves.
  const std::size_t blocks = free_.size() + spare_.size() + pool_.unclaimed();
  const std::size_t room =
      (blocks + 1) * kMaxBlockBytes - encoder_.content_bytes();
  if ((run.first_count + std::size_t{run.second_count}) / 2 > room)
    return false;

  const BlockEncoder::Mark mark = encoder_.mark();
  const std::uint64_t first_sequence = sequence_;
  const std::uint32_t first_block = current_;
  filled_.clear();
  std::uint32_t done = 0;
  while (!encoder_.encode(run, &done)) {
    encoder_.finish(sequence_++);
    filled_.push_back(current_);
    if (take_block()) continue;
    spare_.insert(spare_.end(), filled_.begin() + 1, filled_.end());
    encoder_.rewind(mark);
    current_ = first_block;
    sequence_ = first_sequence;
    return false;
  }
  for (const std::uint32_t block : filled_) {
    const auto header = load<BlockHeader>(pool_.block(block));
    push_ready(block, sizeof header + header.content_bytes);
  }
  return true;
}

void WeftFileExporter::lose(const Loss& loss) {
  const bool put = pay_debts() && put_item([&](BlockEncoder& block) {
    return put_loss(block, loss);
  });
  if (!put) owe_loss(loss);
}

// Nothing is accepted while there are debts, so losses of one thread for one
// reason are one gap and can be told as one. With too many threads, those that
// come later are told without their thread.
void WeftFileExporter::owe_loss(const Loss& loss) {
  const auto find = [&](ThreadIndex thread) {
    return std::find_if(
        losses_.begin(),
        losses_.begin() + static_cast<std::ptrdiff_t>(loss_debts_),
        [&](const Loss& known) {
          return known.thread == thread && known.reason == loss.reason;
        });
  };
  const auto end = losses_.begin() + static_cast<std::ptrdiff_t>(loss_debts_);
  auto known = find(loss.thread);
  if (known == end && loss_debts_ < kMaxLossDebts - kDropReasons) {
    losses_[loss_debts_++] = loss;
    return;
  }
  if (known == end) known = find(ThreadIndex::kNone);
  if (known == end) {
    losses_[loss_debts_++] = {ThreadIndex::kNone, 0, loss.records, loss.reason};
    return;
  }
  known->records += loss.records;
}

void WeftFileExporter::anchor(const ClockAnchor& anchor) {
  const bool put = pay_debts() && put_item([&](BlockEncoder& block) {
    return put_anchor(block, anchor);
  });
  if (!put) owe_anchor(anchor);
}

// Thinned with age: when there is no room, every second one stays.
void WeftFileExporter::owe_anchor(const ClockAnchor& anchor) {
  if (anchor_debts_ == kMaxAnchorDebts) {
    for (std::size_t i = 0; i < kMaxAnchorDebts / 2; ++i)
      anchors_[i] = anchors_[2 * i];
    anchor_debts_ = kMaxAnchorDebts / 2;
  }
  anchors_[anchor_debts_++] = anchor;
}

void WeftFileExporter::settle(std::int64_t now_ns) {
  now_ns_ = now_ns;
  const std::uint64_t recoveries = recoveries_.load(std::memory_order_relaxed);
  if (recoveries != seen_recoveries_) {
    // What was in the lost blocks, names among it, is told again.
    seen_recoveries_ = recoveries;
    info_due_ = true;
    definitions_.restart();
  }
  LostBlocks lost;
  lost.blocks = lost_blocks_.load(std::memory_order_relaxed);
  lost.records = lost_records_.load(std::memory_order_relaxed);
  if (lost.blocks != noted_lost_blocks_ &&
      put_item([&](BlockEncoder& block) {
        return put_lost_blocks(block, lost);
      }))
    noted_lost_blocks_ = lost.blocks;
  pay_debts();
  if (encoder_.started() && !encoder_.empty() &&
      now_ns - begun_ns_ >= flush_after_ns_)
    hand_over();
}

void WeftFileExporter::end(const SubscriptionEnd& end) {
  pay_debts();
  if (encoder_.started() && !encoder_.empty()) hand_over();
  end_.stop_tick = end.stop_tick;
  end_.delivered = end.delivered;
  std::copy(std::begin(end.dropped), std::end(end.dropped), end_.dropped);
  end_.run_delay_ns = end.run_delay_ns;
  end_.reason.assign(end.reason, 0, kMaxReasonBytes);  // reserved
  // From here on all that was the drainer's belongs to the helper.
  ended_.store(true, std::memory_order_release);
}

bool WeftFileExporter::touch_blocks() {
  std::uint32_t block;
  if (free_.size() >= kWarmBlocks || !pool_.claim(&block)) return false;
  pool_.touch(block);
  free_.push(block);
  return true;
}

bool WeftFileExporter::work() {
  bool did_something = write_ready();
  if (!ended_.load(std::memory_order_acquire)) {
    did_something |= touch_blocks();
  } else if (!finished_) {
    // What was handed over between the two looks comes first.
    write_ready();
    write_tail();
    finished_ = true;
    did_something = true;
  }
  return did_something;
}

bool WeftFileExporter::write_ready() {
  bool did_something = false;
  for (;;) {
    // Before the pop: then a wait is the last one, if the end has come.
    const bool ended = ended_.load(std::memory_order_acquire);
    if (!has_in_hand_ && !ready_.pop(&in_hand_)) return did_something;
    has_in_hand_ = true;
    const int patience = !ended ? kPatienceMs : failing_ ? 0 : kLastPatienceMs;
    if (!write_block(in_hand_, patience)) {
      if (!ended) return did_something;
      note_error(sink_->error());
      lose_block(in_hand_);
    }
    has_in_hand_ = false;
    free_.push(in_hand_);
    did_something = true;
  }
}

// False if it has to be tried again.
bool WeftFileExporter::write_block(std::uint32_t block, int patience_ms) {
  const std::uint8_t* bytes = pool_.block(block);
  const auto header = load<BlockHeader>(bytes);
  switch (write_piece(bytes, sizeof header + header.content_bytes,
                      patience_ms)) {
    case BlockSink::Outcome::kWaits:
      return false;
    case BlockSink::Outcome::kFailed:
      note_error(sink_->error());
      lose_block(block);
      return true;
    case BlockSink::Outcome::kDone:
      break;
  }
  const std::uint64_t size = sizeof header + header.content_bytes;
  remember({sink_->offset() - size, header.first_tick, header.last_tick,
            header.records});
  bytes_pending_.fetch_sub(size, std::memory_order_relaxed);
  if (std::exchange(failing_, false))
    recoveries_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

BlockSink::Outcome WeftFileExporter::write_piece(const std::uint8_t* bytes,
                                                  std::size_t size,
                                                  int patience_ms) {
  if (!header_written_) {
    const FileHeader header{kFileMagic, kMajorVersion, kMinorVersion, 0};
    std::uint8_t header_bytes[sizeof header];
    store(header_bytes, header);
    const auto outcome =
        sink_->write(header_bytes, sizeof header_bytes, patience_ms);
    if (outcome != BlockSink::Outcome::kDone) return outcome;
    header_written_ = true;
  }
  const auto outcome = sink_->write(bytes, size, patience_ms);
  bytes_written_.store(sink_->bytes_written(), std::memory_order_relaxed);
  return outcome;
}

void WeftFileExporter::lose_block(std::uint32_t block) {
  const auto header = load<BlockHeader>(pool_.block(block));
  failing_ = true;
  bytes_pending_.fetch_sub(sizeof header + header.content_bytes,
                           std::memory_order_relaxed);
  lost_records_.fetch_add(header.records, std::memory_order_relaxed);
  lost_blocks_.fetch_add(1, std::memory_order_relaxed);
}

// A long recording would need an index without bound, so it is thinned: a
// sparse one still leads close to any time.
void WeftFileExporter::remember(const IndexEntry& entry) {
  if (indexed_++ % index_step_ != 0) return;
  if (index_.size() == kMaxIndexEntries) {
    for (std::size_t i = 0; i < index_.size() / 2; ++i)
      index_[i] = index_[2 * i];
    index_.resize(index_.size() / 2);
    index_step_ *= 2;
    if ((indexed_ - 1) % index_step_ != 0) return;
  }
  index_.push_back(entry);
}

void WeftFileExporter::write_tail() {
  // Every block is free now, so the first serves for all that follows.
  const auto write = [&](const std::uint8_t* bytes, std::size_t size) {
    const auto outcome =
        write_piece(bytes, size, failing_ ? 0 : kLastPatienceMs);
    if (outcome == BlockSink::Outcome::kDone) return true;
    note_error(sink_->error());
    return false;
  };

  encoder_.start(pool_.block(0), kMaxBlockBytes);
  if (info_due_) {
    put_process(encoder_, process_);
    put_subscription(encoder_, subscription_);
  }
  for (std::size_t i = 0; i < anchor_debts_; ++i)
    put_anchor(encoder_, anchors_[i]);
  for (std::size_t i = 0; i < loss_debts_; ++i) put_loss(encoder_, losses_[i]);
  put_end(encoder_, end_,
          {lost_blocks_.load(std::memory_order_relaxed),
           lost_records_.load(std::memory_order_relaxed)});
  if (write(pool_.block(0), encoder_.finish(sequence_++))) {
    write_index(index_, sink_->offset(), pool_.block(0), &sequence_, write);
  }
  if (!sink_->close()) note_error(sink_->error());
  bytes_written_.store(sink_->bytes_written(), std::memory_order_relaxed);
}

bool WeftFileExporter::has_work() const noexcept {
  return bytes_pending_.load(std::memory_order_relaxed) != 0 ||
         ended_.load(std::memory_order_relaxed) ||
         (free_.size() < kWarmBlocks / 2 && pool_.unclaimed() != 0);
}

void WeftFileExporter::note_error(const std::string& error) {
  const std::lock_guard lock(error_mutex_);
  if (error_.empty()) error_ = error;
}

ExporterStatus WeftFileExporter::status() const {
  ExporterStatus status;
  status.bytes_written = bytes_written_.load(std::memory_order_relaxed);
  status.bytes_pending = bytes_pending_.load(std::memory_order_relaxed);
  status.records_lost = lost_records_.load(std::memory_order_relaxed);
  const std::lock_guard lock(error_mutex_);
  status.error = error_;
  return status;
}

}  // namespace weft::exporters
