// SPDX-License-Identifier: Apache-2.0
// The helper's side: blocks go into the file, and the file is completed.

#include <utility>

#include "file_tail.h"
#include "varint.h"
#include "weft_file_exporter.h"

namespace weft::exporters {
namespace {

// How long the helper waits for the reader of a FIFO: while recording, so that
// it can be told to do other things; and at the end, for a slow reader.
constexpr int kPatienceMs = 50;
constexpr int kLastPatienceMs = 2000;

constexpr std::size_t kMaxIndexEntries = std::size_t{1} << 16;

}  // namespace

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
    finish_output();
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
    if (in_hand_ == kEndOfPart) {
      end_part();
      has_in_hand_ = false;
      did_something = true;
      continue;
    }
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
  lost_records_in_all_.fetch_add(header.records, std::memory_order_relaxed);
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

// What stands behind the last block. `block` may hold items of it already.
void WeftFileExporter::write_tail(BlockEncoder& block, std::uint8_t* memory,
                                  const SubscriptionEnd& end,
                                  std::uint64_t sequence) {
  const auto write = [&](const std::uint8_t* bytes, std::size_t size) {
    const auto outcome =
        write_piece(bytes, size, failing_ ? 0 : kLastPatienceMs);
    if (outcome == BlockSink::Outcome::kDone) return true;
    note_error(sink_->error());
    return false;
  };
  put_end(block, end,
          {lost_blocks_.load(std::memory_order_relaxed),
           lost_records_.load(std::memory_order_relaxed)});
  if (write(memory, block.finish(sequence++)))
    write_index(index_, sink_->offset(), memory, &sequence, write);
}

void WeftFileExporter::finish_output() {
  // Every block is free now, so the first serves for all that follows.
  encoder_.start(pool_.block(0), kMaxBlockBytes);
  if (info_due_) {
    put_process(encoder_, process_);
    put_subscription(encoder_, subscription_);
  }
  for (std::size_t i = 0; i < anchor_debts_; ++i)
    put_anchor(encoder_, anchors_[i]);
  for (std::size_t i = 0; i < loss_debts_; ++i) put_loss(encoder_, losses_[i]);
  write_tail(encoder_, pool_.block(0), end_, sequence_);
  if (!sink_->close()) note_error(sink_->error());
  bytes_written_.store(sink_->bytes_written(), std::memory_order_relaxed);
}

// The blocks of a file are written: completes it and goes on in another.
void WeftFileExporter::end_part() {
  // Relaxed: the helper's own.
  const std::uint32_t number = open_part_.load(std::memory_order_relaxed);
  const Part& part = parts_[number % kMaxPendingParts];
  tail_memory_.resize(kMaxBlockBytes);
  BlockEncoder block;
  block.start(tail_memory_.data(), kMaxBlockBytes);
  write_tail(block, tail_memory_.data(), part.end, part.sequence);
  if (!sink_->next()) note_error(sink_->error());
  header_written_ = false;
  index_.clear();
  index_step_ = 1;
  indexed_ = 0;
  // Relaxed: the drainer reads them once it knows that this part is open.
  lost_blocks_.store(0, std::memory_order_relaxed);
  lost_records_.store(0, std::memory_order_relaxed);
  open_part_.store(number + 1, std::memory_order_release);  // [D]
}

void WeftFileExporter::note_error(const std::string& error) {
  const std::lock_guard lock(error_mutex_);
  if (error_.empty()) error_ = error;
}

}  // namespace weft::exporters
