// SPDX-License-Identifier: Apache-2.0
#include "chrome_json_sink.h"

#include <algorithm>
#include <utility>

#include "items.h"
#include "varint.h"

namespace weft::exporters {
namespace {

BlockView view_of(const std::uint8_t* bytes) {
  const auto header = load<BlockHeader>(bytes);
  return {0, header, bytes + sizeof header};
}

template <class T, class Id>
void put_at(std::vector<T>* table, Id id, T value) {
  const auto number = static_cast<std::size_t>(id);
  if (number >= table->size()) table->resize(number + 1);
  (*table)[number] = std::move(value);
}

}  // namespace

ChromeJsonSink::ChromeJsonSink(std::unique_ptr<JsonOutput> output)
    : output_(std::move(output)) {
  info_.strings.resize(1);
  info_.sites.resize(1);
}

BlockSink::Outcome ChromeJsonSink::write(const std::uint8_t* bytes,
                                         std::size_t size, int) {
  if (size >= sizeof(BlockHeader) &&
      load<BlockHeader>(bytes).magic == kBlockMagic)
    take_block(bytes, size);
  offset_ += size;
  return output_->failure().empty() ? Outcome::kDone : Outcome::kFailed;
}

void ChromeJsonSink::take_block(const std::uint8_t* bytes, std::size_t size) {
  ItemWalker items(view_of(bytes));
  ItemView item;
  std::vector<TraceProblem> problems;
  while (items.next(&item, &problems)) learn(item);
  waiting_.push_back({{bytes, bytes + size}, load<BlockHeader>(bytes).last_tick});
  write_waiting(kMaxWaiting);
}

// Names and the like mean the same for all blocks, so they may be known early.
void ChromeJsonSink::learn(const ItemView& item) {
  const ByteReader bytes = item.reader();
  switch (item.kind) {
    case ItemKind::kString: {
      StringId id{};
      std::string text;
      if (read_string(bytes, &id, &text))
        put_at(&info_.strings, id, std::move(text));
      return;
    }
    case ItemKind::kSite: {
      SiteInfo site;
      if (read_site(bytes, &site)) put_at(&info_.sites, site.number, site);
      return;
    }
    case ItemKind::kThread: {
      ThreadInfo thread;
      if (read_thread(bytes, &thread)) put_thread(thread);
      return;
    }
    case ItemKind::kMetadata: {
      std::pair<StringId, StringId> pair;
      if (read_metadata(bytes, &pair))
        info_.metadata.emplace_back(info_.text(pair.first),
                                    info_.text(pair.second));
      return;
    }
    case ItemKind::kAnchor: {
      ClockAnchor anchor;
      if (!read_anchor(bytes, &anchor)) return;
      if (!line_)
        line_ = std::make_unique<ClockLine>(info_.process.tick_hz, kAnchorsKept);
      line_->add(anchor);
      if (info_.anchors.empty()) info_.anchors.push_back(anchor);
      return;
    }
    case ItemKind::kProcess:
      read_process(bytes, &info_.process);
      return;
    case ItemKind::kSubscription:
      read_subscription(bytes, &info_.subscription);
      return;
    case ItemKind::kEnd: {
      LostBlocks lost;
      info_.complete = read_end(bytes, &info_.end, &lost);
      info_.lost_blocks = lost.blocks;
      info_.lost_records = lost.records;
      return;
    }
    default:
      return;
  }
}

void ChromeJsonSink::put_thread(const ThreadInfo& thread) {
  const auto at = std::lower_bound(
      info_.threads.begin(), info_.threads.end(), thread.index,
      [](const ThreadInfo& info, ThreadIndex t) { return info.index < t; });
  if (at != info_.threads.end() && at->index == thread.index) {
    *at = thread;
  } else {
    info_.threads.insert(at, thread);
  }
}

// Writes from the oldest on what has its final time, and all but the newest
// `keep` in any case.
void ChromeJsonSink::write_waiting(std::size_t keep) {
  bool wrote = false;
  while (!waiting_.empty()) {
    const Waiting& oldest = waiting_.front();
    const bool final_time = line_ && oldest.last_tick <= line_->last_tick();
    if (!final_time && waiting_.size() <= keep) break;
    write_block(oldest);
    waiting_.pop_front();
    wrote = true;
  }
  if (!wrote) return;
  writer_->write_new_names();
  output_->flush();
}

void ChromeJsonSink::start() {
  if (!line_) line_ = std::make_unique<ClockLine>(info_.process.tick_hz);
  writer_ = std::make_unique<ChromeJsonWriter>(info_, *line_, nullptr);
  writer_->start(output_.get());
}

void ChromeJsonSink::write_block(const Waiting& block) {
  if (!writer_) start();
  ItemWalker items(view_of(block.bytes.data()));
  ItemView item;
  std::vector<TraceProblem> problems;
  DecodedRecord record;
  Ticks base = 0;
  while (items.next(&item, &problems)) {
    Loss loss;
    if (item.kind == ItemKind::kLoss && read_loss(item.reader(), &loss))
      writer_->lose(loss);
    if (item.kind != ItemKind::kRun) continue;
    assembler_.start(RunDecoder(item.body, item.bytes, &base));
    while (assembler_.next(&record)) writer_->write(record);
  }
}

std::uint64_t ChromeJsonSink::bytes_written() const {
  return output_->file_bytes();
}

std::string ChromeJsonSink::error() const { return output_->failure(); }

bool ChromeJsonSink::close() {
  write_waiting(0);
  if (!writer_) start();
  writer_->finish();
  return output_->close().ok();
}

}  // namespace weft::exporters
