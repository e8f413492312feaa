// SPDX-License-Identifier: Apache-2.0
#include "flight_recorder.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "checksum.h"
#include "definition_writer.h"
#include "file_tail.h"
#include "items.h"
#include "numbered_path.h"
#include "varint.h"

namespace weft::exporters {
namespace {

// Blocks that are kept ready for the drainer while memory fills up.
constexpr std::size_t kWarmBlocks = 4;
constexpr std::size_t kMaxAnchors = 4096;
constexpr std::size_t kMaxExitedThreads = std::size_t{1} << 16;
constexpr std::uint64_t kMaxNumber = 10'000;
constexpr int kPatienceMs = 2000;

Result<OutputFile> open_new(const SnapshotOrder& order) {
  OutputOptions options;
  options.overwrite = false;
  if (!order.numbered) {
    options.path = order.path;
    return OutputFile::open(options);
  }
  for (std::uint64_t number = 1; number <= kMaxNumber; ++number) {
    options.path = numbered_path(order.path, number);
    if (access(options.path.c_str(), F_OK) == 0) continue;
    return OutputFile::open(options);
  }
  return Error{ErrorCode::kIo, numbered_path(order.path, 1) + " to " +
                                   numbered_path(order.path, kMaxNumber) +
                                   " exist already"};
}

// Pieces of one file, until one fails.
class Pieces {
 public:
  explicit Pieces(OutputFile& file) : file_(&file) {}

  bool write(const std::uint8_t* bytes, std::size_t size) {
    ok_ = ok_ && file_->write(bytes, size, kPatienceMs) ==
                     BlockSink::Outcome::kDone;
    return ok_;
  }
  // A block under the next number of this file.
  bool write_block(std::uint8_t* bytes, std::uint64_t records) {
    auto header = load<BlockHeader>(bytes);
    header.sequence = sequence++;
    header.header_hash = checksum(&header, offsetof(BlockHeader, header_hash));
    store(bytes, header);
    const std::uint64_t offset = file_->offset();
    if (!write(bytes, sizeof header + header.content_bytes)) return false;
    if (records != 0)
      index.push_back({offset, header.first_tick, header.last_tick, records});
    return true;
  }
  bool ok() const noexcept { return ok_; }

  std::uint64_t sequence = 0;
  std::vector<IndexEntry> index;

 private:
  OutputFile* file_;
  bool ok_ = true;
};

}  // namespace

Result<std::unique_ptr<Exporter>> FlightRecorder::create(
    const OutputOptions& options) {
  constexpr std::string_view kSuffix = ".weft";
  if (options.path.size() < kSuffix.size() ||
      options.path.compare(options.path.size() - kSuffix.size(),
                           kSuffix.size(), kSuffix) != 0)
    return Error{ErrorCode::kInvalidArgument,
                 "output \"" + options.path +
                     "\": a flight recorder's snapshots are .weft files; "
                     "`weft convert` makes others of them"};
  auto pool = BlockPool::create(options.block_pool_bytes);
  if (!pool) return pool.error();
  return std::unique_ptr<Exporter>(new FlightRecorder(std::move(*pool)));
}

FlightRecorder::FlightRecorder(BlockPool pool)
    : pool_(std::move(pool)),
      most_kept_(pool_.count() - std::max(2u, pool_.count() / 4)),
      threads_(kMaxExitedThreads),
      touched_(pool_.count()) {
  evicted_.reserve(pool_.count());
  filled_.reserve(pool_.count());
  anchors_.reserve(kMaxAnchors);
  touch_blocks();
}

void FlightRecorder::begin(const ProcessInfo& process,
                           const SubscriptionInfo& subscription) {
  process_ = process;
  subscription_ = subscription;
}

void FlightRecorder::define(const Catalog& catalog) {
  catalog_ = &catalog;
  threads_.note(catalog);
}

// False when the oldest block is pinned, or there is none.
bool FlightRecorder::evict() {
  if (kept_.empty()) return false;
  const Kept& oldest = kept_.front();
  // Acquire: the helper has read the block.
  if (oldest.number >= pinned_from_ && oldest.number < pinned_end_ &&
      oldest.number >= released_.load(std::memory_order_acquire))
    return false;
  evicted_.push_back(oldest.block);
  kept_.pop_front();
  return true;
}

bool FlightRecorder::take_block() {
  while (kept_.size() >= most_kept_ && evict()) {
  }
  if (!evicted_.empty()) {
    current_ = evicted_.back();
    evicted_.pop_back();
  } else if (!touched_.pop(&current_) && !pool_.claim(&current_)) {
    return false;
  }
  encoder_.start(pool_.block(current_), kMaxBlockBytes);
  losses_ = {};
  return true;
}

FlightRecorder::Kept FlightRecorder::close_block() {
  Kept kept;
  kept.block = current_;
  kept.records = encoder_.calls();
  kept.losses = losses_;
  kept.losses[static_cast<std::size_t>(DropReason::kRingFull)] +=
      encoder_.ring_losses();
  encoder_.finish(0);
  const auto header = load<BlockHeader>(pool_.block(current_));
  kept.first_tick = header.first_tick;
  kept.last_tick = header.last_tick;
  return kept;
}

void FlightRecorder::keep(Kept kept) {
  kept.number = next_number_++;
  kept_.push_back(kept);
}

bool FlightRecorder::consume(const Run& run) {
  if (!encoder_.started() && !take_block()) return false;
  if (!pay_losses()) return false;
  if (!encoder_.surely_fits(run)) return consume_guarded(run);
  std::uint32_t done = 0;
  return encoder_.encode(run, &done);
}

// A run that may end in another block than it begins in: taken back if there is
// none.
bool FlightRecorder::consume_guarded(const Run& run) {
  const BlockEncoder::Mark mark = encoder_.mark();
  const std::uint32_t first_block = current_;
  const Losses first_losses = losses_;
  filled_.clear();
  std::uint32_t done = 0;
  while (!encoder_.encode(run, &done)) {
    filled_.push_back(close_block());
    if (take_block()) continue;
    for (std::size_t i = 1; i < filled_.size(); ++i)
      evicted_.push_back(filled_[i].block);
    encoder_.rewind(mark);
    current_ = first_block;
    losses_ = first_losses;
    return false;
  }
  for (const Kept& kept : filled_) keep(kept);
  return true;
}

// What could not be told for want of a block, without its place.
bool FlightRecorder::pay_losses() {
  for (std::size_t reason = 0; reason < kDropReasons; ++reason) {
    if (owed_[reason] == 0) continue;
    Loss loss;
    loss.records = owed_[reason];
    loss.reason = static_cast<DropReason>(reason);
    if (!put_loss(encoder_, loss)) return false;
    losses_[reason] += std::exchange(owed_[reason], 0);
  }
  return true;
}

void FlightRecorder::lose(const Loss& loss) {
  const auto reason = static_cast<std::size_t>(loss.reason);
  bool told = encoder_.started() || take_block();
  if (told && !put_loss(encoder_, loss)) {
    keep(close_block());
    told = take_block() && put_loss(encoder_, loss);
  }
  (told ? losses_ : owed_)[reason] += loss.records;
}

void FlightRecorder::anchor(const ClockAnchor& anchor) {
  if (anchors_.size() == kMaxAnchors) {
    // Of the older half every second one stays.
    std::size_t to = 0;
    for (std::size_t from = 0; from < kMaxAnchors; ++from)
      if (from >= kMaxAnchors / 2 || from % 2 == 0)
        anchors_[to++] = anchors_[from];
    anchors_.resize(to);
  }
  anchors_.push_back(anchor);
}

void FlightRecorder::settle(std::int64_t) {}

void FlightRecorder::end(const SubscriptionEnd&) {}

void FlightRecorder::snapshot(SnapshotOrder order) {
  if (writing_.load(std::memory_order_acquire)) {
    order.finish(Error{ErrorCode::kBusy, "another snapshot is being written"});
    return;
  }
  if (encoder_.started() && !encoder_.empty()) keep(close_block());
  pending_ = std::make_unique<Pending>(
      std::move(order), FrozenCatalog(*catalog_, threads_.all()));
  Pending& pending = *pending_;
  pending.anchors = anchors_;
  pending.subscription = subscription_;
  pending.end.stop_tick = pending.order.to;
  pending.end.reason = "snapshot: " + pending.order.reason;
  // Times of blocks overlap, since threads are drained one after the other:
  // all from the first that reaches into the window on.
  const auto first = std::find_if(
      kept_.begin(), kept_.end(), [&](const Kept& kept) {
        return kept.last_tick >= pending.order.from;
      });
  pending.blocks.assign(first, kept_.end());
  Ticks oldest = pending.order.to;
  for (const Kept& kept : pending.blocks) {
    if (kept.first_tick != 0) oldest = std::min(oldest, kept.first_tick);
    pending.end.delivered += kept.records;
    for (std::size_t reason = 0; reason < kDropReasons; ++reason)
      pending.end.dropped[reason] += kept.losses[reason];
  }
  pending.subscription.start_tick =
      std::max(oldest, pending.subscription.start_tick);
  pinned_end_ = next_number_;
  pinned_from_ = next_number_ - pending.blocks.size();
  released_.store(pinned_from_, std::memory_order_relaxed);  // with writing_
  writing_.store(true, std::memory_order_release);
}

bool FlightRecorder::has_work() const noexcept {
  return writing_.load(std::memory_order_relaxed) ||
         (touched_.size() < kWarmBlocks / 2 && pool_.unclaimed() != 0);
}

bool FlightRecorder::touch_blocks() {
  bool did_something = false;
  std::uint32_t block;
  while (touched_.size() < kWarmBlocks && pool_.claim(&block)) {
    pool_.touch(block);
    touched_.push(block);
    did_something = true;
  }
  return did_something;
}

bool FlightRecorder::work() {
  if (!writing_.load(std::memory_order_acquire)) return touch_blocks();
  Pending& pending = *pending_;
  const Result<SnapshotInfo> result = write(pending);
  const auto finish = std::move(pending.order.finish);
  pending_ = nullptr;
  released_.store(~std::uint64_t{0}, std::memory_order_release);
  writing_.store(false, std::memory_order_release);
  finish(result);
  return true;
}

Result<SnapshotInfo> FlightRecorder::write(const Pending& pending) {
  Result<OutputFile> file = open_new(pending.order);
  if (!file) return file.error();
  Pieces pieces(*file);
  const FileHeader header{kFileMagic, kMajorVersion, kMinorVersion, 0};
  std::vector<std::uint8_t> memory(kMaxBlockBytes);
  store(memory.data(), header);
  pieces.write(memory.data(), sizeof header);

  BlockEncoder block;
  const auto next_block = [&] {
    if (block.started()) {
      block.finish(0);
      pieces.write_block(memory.data(), 0);
    }
    block.start(memory.data(), kMaxBlockBytes);
  };
  next_block();
  put_process(block, process_);
  put_subscription(block, pending.subscription);
  DefinitionWriter definitions(kMaxExitedThreads);
  definitions.note(pending.catalog);
  while (pieces.ok() && definitions.write(pending.catalog, block) ==
                            DefinitionWriter::Outcome::kBlockFull)
    next_block();
  for (const ClockAnchor& anchor : pending.anchors)
    if (!put_anchor(block, anchor)) {
      next_block();
      put_anchor(block, anchor);
    }
  next_block();

  for (const Kept& kept : pending.blocks) {
    if (!pieces.write_block(pool_.block(kept.block), kept.records)) break;
    released_.store(kept.number + 1, std::memory_order_release);
  }
  put_end(block, pending.end, {0, 0});
  next_block();
  write_index(pieces.index, file->offset(), memory.data(), &pieces.sequence,
              [&](const std::uint8_t* bytes, std::size_t size) {
                return pieces.write(bytes, size);
              });
  if (!pieces.ok() || !file->close())
    return Error{ErrorCode::kIo, file->error()};
  bytes_written_.fetch_add(file->bytes_written(), std::memory_order_relaxed);
  return SnapshotInfo{file->path(), pending.end.delivered,
                      file->bytes_written()};
}

ExporterStatus FlightRecorder::status() const {
  ExporterStatus status;
  status.bytes_written = bytes_written_.load(std::memory_order_relaxed);
  return status;
}

}  // namespace weft::exporters
