// SPDX-License-Identifier: Apache-2.0
#include "weft_file_exporter.h"

#include <algorithm>
#include <utility>

#include "output_file.h"
#include "rotating_file.h"
#include "varint.h"

namespace weft::exporters {
namespace {

constexpr std::size_t kMaxReasonBytes = 256;

}  // namespace

Result<std::unique_ptr<Exporter>> WeftFileExporter::create(
    const OutputOptions& options) {
  if (options.rotation.wanted()) {
    auto files = RotatingFile::open(options);
    if (!files) return files.error();
    return create(options, std::move(*files));
  }
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
      rotation_(options.rotation),
      pool_(std::move(pool)),
      free_(pool_.count()),
      ready_(pool_.count() + kMaxPendingParts),
      sink_(std::move(sink)) {
  spare_.reserve(pool_.count());
  filled_.reserve(pool_.count());
  end_.reason.reserve(kMaxReasonBytes);
  for (Part& part : parts_) part.end.reason = "rotated";
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

void WeftFileExporter::hand_over() { push_ready(close_block()); }

WeftFileExporter::Closed WeftFileExporter::close_block() {
  Closed closed;
  closed.block = current_;
  closed.calls = encoder_.calls();
  closed.ring_losses = encoder_.ring_losses();
  closed.bytes = encoder_.finish(sequence_++);
  return closed;
}

void WeftFileExporter::push_ready(const Closed& closed) {
  part_.delivered += closed.calls;
  dropped_of(part_, DropReason::kRingFull) += closed.ring_losses;
  part_bytes_ += closed.bytes;
  bytes_pending_.fetch_add(closed.bytes, std::memory_order_relaxed);
  ready_.push(closed.block);
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
    const Loss& loss = losses_[loss_debts_ - 1];
    if (!put_item([&](BlockEncoder& block) { return put_loss(block, loss); }))
      return false;
    dropped_of(part_, loss.reason) += loss.records;
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
    filled_.push_back(close_block());
    if (take_block()) continue;
    for (std::size_t i = 1; i < filled_.size(); ++i)
      spare_.push_back(filled_[i].block);
    encoder_.rewind(mark);
    current_ = first_block;
    sequence_ = first_sequence;
    return false;
  }
  for (const Closed& closed : filled_) push_ready(closed);
  return true;
}

void WeftFileExporter::lose(const Loss& loss) {
  const bool put = pay_debts() && put_item([&](BlockEncoder& block) {
    return put_loss(block, loss);
  });
  if (put)
    dropped_of(part_, loss.reason) += loss.records;
  else
    owe_loss(loss);
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
  last_anchor_ = anchor;
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
  if (now_ns != kFlushNow) now_ns_ = now_ns;
  const std::uint64_t recoveries = recoveries_.load(std::memory_order_relaxed);
  if (recoveries != seen_recoveries_) {
    // What was in the lost blocks, names among it, is told again.
    seen_recoveries_ = recoveries;
    info_due_ = true;
    definitions_.restart();
    definitions_behind_ = true;
  }
  tell_lost_blocks();
  pay_debts();
  if (encoder_.started() && !encoder_.empty() &&
      now_ns - begun_ns_ >= flush_after_ns_)
    hand_over();
  if (rotation_.wanted() && now_ns != kFlushNow) rotate_if_due();
}

// Those of the file that the helper has open, unless the drainer is ahead of it.
void WeftFileExporter::tell_lost_blocks() {
  if (open_part_.load(std::memory_order_acquire) != part_number_)  // [D]
    return;
  LostBlocks lost;
  lost.blocks = lost_blocks_.load(std::memory_order_relaxed);
  lost.records = lost_records_.load(std::memory_order_relaxed);
  if (lost.blocks != noted_lost_blocks_ &&
      put_item([&](BlockEncoder& block) {
        return put_lost_blocks(block, lost);
      }))
    noted_lost_blocks_ = lost.blocks;
}

// Between two passes: the next one defines everything anew before its first run.
void WeftFileExporter::rotate_if_due() {
  if (part_begun_ns_ == 0) part_begun_ns_ = now_ns_;
  const bool asked = rotate_asked_.load(std::memory_order_relaxed);  // a wish
  const bool full = rotation_.bytes != 0 && part_bytes_ >= rotation_.bytes;
  const bool old = rotation_.after.count() != 0 &&
                   now_ns_ - part_begun_ns_ >= rotation_.after.count();
  if (!asked && !full && !old) return;
  const bool owes = info_due_ || definitions_behind_ || loss_debts_ != 0 ||
                    anchor_debts_ != 0;
  // [D]: the helper has read what lay there before.
  if (owes || part_number_ - open_part_.load(std::memory_order_acquire) ==
                  kMaxPendingParts)
    return;
  if (encoder_.started() && !encoder_.empty()) hand_over();
  rotate_asked_.store(false, std::memory_order_relaxed);
  part_begun_ns_ = now_ns_;
  // An idle program does not fill a directory with empty files.
  if (part_.delivered == 0 && !asked) return;
  begin_part();
}

void WeftFileExporter::begin_part() {
  Part& part = parts_[part_number_ % kMaxPendingParts];
  part.sequence = sequence_;
  part.end.delivered = part_.delivered;
  part.end.stop_tick = last_anchor_.tick[0];
  earlier_.delivered += part_.delivered;
  for (std::size_t reason = 0; reason < kDropReasons; ++reason) {
    part.end.dropped[reason] = part_.dropped[reason];
    earlier_.dropped[reason] += part_.dropped[reason];
  }
  ready_.push(kEndOfPart);  // after the blocks before it

  ++part_number_;
  part_ = {};
  part_bytes_ = 0;
  sequence_ = 0;
  noted_lost_blocks_ = 0;
  subscription_.start_tick = last_anchor_.tick[0];
  info_due_ = true;
  definitions_.restart();
  definitions_behind_ = true;
  owe_anchor(last_anchor_);
  pay_debts();
}

bool WeftFileExporter::rotate() {
  if (!rotation_.wanted()) return false;
  rotate_asked_.store(true, std::memory_order_relaxed);  // a wish
  return true;
}

void WeftFileExporter::end(const SubscriptionEnd& end) {
  pay_debts();
  if (encoder_.started() && !encoder_.empty()) hand_over();
  end_.stop_tick = end.stop_tick;
  // Of this file; drops without a place in the stream are told in the last.
  end_.delivered = end.delivered - earlier_.delivered;
  for (std::size_t reason = 0; reason < kDropReasons; ++reason)
    end_.dropped[reason] = end.dropped[reason] - earlier_.dropped[reason];
  end_.run_delay_ns = end.run_delay_ns;
  end_.reason.assign(end.reason, 0, kMaxReasonBytes);  // reserved
  // From here on all that was the drainer's belongs to the helper.
  ended_.store(true, std::memory_order_release);
}

bool WeftFileExporter::has_work() const noexcept {
  return ready_.size() != 0 ||
         bytes_pending_.load(std::memory_order_relaxed) != 0 ||
         ended_.load(std::memory_order_relaxed) ||
         (free_.size() < kWarmBlocks / 2 && pool_.unclaimed() != 0);
}

ExporterStatus WeftFileExporter::status() const {
  ExporterStatus status;
  status.bytes_written = bytes_written_.load(std::memory_order_relaxed);
  status.bytes_pending = bytes_pending_.load(std::memory_order_relaxed);
  status.records_lost = lost_records_in_all_.load(std::memory_order_relaxed);
  const std::lock_guard lock(error_mutex_);
  status.error = error_;
  return status;
}

}  // namespace weft::exporters
