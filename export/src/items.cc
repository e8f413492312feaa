// SPDX-License-Identifier: Apache-2.0
#include "items.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace weft::exporters {
namespace {

// Texts of the process and subscription items; ten of them share a block.
constexpr std::size_t kMaxInfoTextBytes = 8u << 10;
constexpr std::size_t kNumbersBytes = 40 * kMaxVarintBytes;

// Writes the body of one item, if there is room for the most it may take.
class ItemWriter {
 public:
  ItemWriter(BlockEncoder& block, ItemKind kind, std::size_t max_bytes)
      : block_(block), at_(block.begin_item(kind, max_bytes)) {}

  explicit operator bool() const { return at_ != nullptr; }

  ItemWriter& number(std::uint64_t value) {
    at_ = put_varint(at_, value);
    return *this;
  }
  template <class Id>
  ItemWriter& id(Id value) {
    return number(static_cast<std::uint64_t>(value));
  }
  template <class T>
  ItemWriter& fixed(T value) {
    at_ = store(at_, value);
    return *this;
  }
  // Its full length, the length that is kept, the bytes.
  ItemWriter& text(std::string_view text, std::size_t max_bytes) {
    const std::size_t kept = std::min(text.size(), max_bytes);
    number(text.size());
    number(kept);
    if (kept != 0) std::memcpy(at_, text.data(), kept);
    at_ += kept;
    return *this;
  }
  bool done() {
    block_.end_item(at_);
    return true;
  }

 private:
  BlockEncoder& block_;
  std::uint8_t* at_;
};

template <class Id>
Id read_id(ByteReader& item) {
  return static_cast<Id>(item.varint32());
}

std::string read_text(ByteReader& item) {
  const std::uint64_t full = item.varint();
  const std::uint64_t kept = item.varint();
  const std::uint8_t* bytes = item.take(kept);
  if (bytes == nullptr) return {};
  std::string text(reinterpret_cast<const char*>(bytes), kept);
  if (full > kept) text += "...";
  return text;
}

}  // namespace

bool put_string(BlockEncoder& block, StringId id, std::string_view text) {
  ItemWriter item(block, ItemKind::kString,
                  std::min(text.size(), kMaxTextBytes) + kNumbersBytes);
  return item && item.id(id).text(text, kMaxTextBytes).done();
}

bool read_string(ByteReader item, StringId* id, std::string* text) {
  *id = read_id<StringId>(item);
  *text = read_text(item);
  return item.ok() && *id != StringId::kNone;
}

bool put_site(BlockEncoder& block, const SiteInfo& site) {
  ItemWriter item(block, ItemKind::kSite, kNumbersBytes);
  if (!item) return false;
  item.id(site.number).id(site.kind).id(site.name).id(site.category);
  item.id(site.file).number(site.line).number(site.argument_count);
  for (std::size_t i = 0; i < site.argument_count; ++i)
    item.id(site.arguments[i].key).id(site.arguments[i].type);
  return item.done();
}

bool read_site(ByteReader item, SiteInfo* site) {
  *site = {};
  site->number = read_id<SiteId>(item);
  const std::uint32_t kind = item.varint32();
  site->kind = kind > 0xff ? SiteKind::kNone : static_cast<SiteKind>(kind);
  site->name = read_id<StringId>(item);
  site->category = read_id<StringId>(item);
  site->file = read_id<StringId>(item);
  site->line = item.varint32();
  const std::uint32_t arguments = item.varint32();
  if (arguments > kMaxArguments) return false;
  site->argument_count = static_cast<std::uint8_t>(arguments);
  for (std::uint32_t i = 0; i < arguments; ++i) {
    site->arguments[i].key = read_id<StringId>(item);
    site->arguments[i].type = static_cast<RecordKind>(item.varint() & 0xff);
  }
  return item.ok() && site->number != SiteId::kNone;
}

bool put_thread(BlockEncoder& block, const ThreadInfo& thread) {
  ItemWriter item(block, ItemKind::kThread, kNumbersBytes);
  return item && item.id(thread.index)
                     .number(thread.tid)
                     .number(thread.tid_is_unique ? 1 : 0)
                     .id(thread.name)
                     .number(thread.start_tick)
                     .number(thread.exit_tick)
                     .number(thread.revision)
                     .done();
}

bool read_thread(ByteReader item, ThreadInfo* thread) {
  thread->index = read_id<ThreadIndex>(item);
  thread->tid = item.varint32();
  thread->tid_is_unique = item.varint() != 0;
  thread->name = read_id<StringId>(item);
  thread->start_tick = item.varint();
  thread->exit_tick = item.varint();
  thread->revision = item.varint32();
  return item.ok() && thread->index != ThreadIndex::kNone;
}

bool put_metadata(BlockEncoder& block, std::pair<StringId, StringId> pair) {
  ItemWriter item(block, ItemKind::kMetadata, kNumbersBytes);
  return item && item.id(pair.first).id(pair.second).done();
}

bool read_metadata(ByteReader item, std::pair<StringId, StringId>* pair) {
  pair->first = read_id<StringId>(item);
  pair->second = read_id<StringId>(item);
  return item.ok();
}

bool put_anchor(BlockEncoder& block, const ClockAnchor& anchor) {
  ItemWriter item(block, ItemKind::kAnchor, kNumbersBytes);
  if (!item) return false;
  item.number(anchor.flags).number(anchor.epoch);
  for (std::size_t clock = 0; clock < kClocks; ++clock) {
    item.fixed(anchor.tick[clock]);
    item.fixed(anchor.ns[clock]);
    item.fixed(anchor.half_width[clock]);
  }
  return item.done();
}

bool read_anchor(ByteReader item, ClockAnchor* anchor) {
  anchor->flags = static_cast<std::uint16_t>(item.varint32());
  anchor->epoch = item.varint32();
  for (std::size_t clock = 0; clock < kClocks; ++clock) {
    anchor->tick[clock] = item.fixed<Ticks>();
    anchor->ns[clock] = item.fixed<std::int64_t>();
    anchor->half_width[clock] = item.fixed<std::uint16_t>();
  }
  return item.ok();
}

bool put_loss(BlockEncoder& block, const Loss& loss) {
  ItemWriter item(block, ItemKind::kLoss, kNumbersBytes);
  return item && item.id(loss.thread)
                     .number(std::rotl(loss.position, 1))
                     .number(loss.records)
                     .id(loss.reason)
                     .done();
}

bool read_loss(ByteReader item, Loss* loss) {
  loss->thread = read_id<ThreadIndex>(item);
  loss->position = std::rotr(item.varint(), 1);
  loss->records = item.varint();
  const std::uint32_t reason = item.varint32();
  loss->reason = static_cast<DropReason>(reason);
  return item.ok() && reason <= 0xff;
}

bool put_lost_blocks(BlockEncoder& block, const LostBlocks& lost) {
  ItemWriter item(block, ItemKind::kLostBlocks, kNumbersBytes);
  return item && item.number(lost.blocks).number(lost.records).done();
}

bool read_lost_blocks(ByteReader item, LostBlocks* lost) {
  lost->blocks = item.varint();
  lost->records = item.varint();
  return item.ok();
}

bool put_process(BlockEncoder& block, const ProcessInfo& process) {
  ItemWriter item(block, ItemKind::kProcess,
                  kNumbersBytes + 9 * (kMaxInfoTextBytes + 18));
  if (!item) return false;
  item.number(process.pid).number(process.cpus).fixed(process.tick_hz);
  for (const std::string* text :
       {&process.executable, &process.build_id, &process.command_line,
        &process.host, &process.boot_id, &process.kernel,
        &process.weft_version, &process.clock, &process.clock_reason})
    item.text(*text, kMaxInfoTextBytes);
  return item.done();
}

bool read_process(ByteReader item, ProcessInfo* process) {
  process->pid = item.varint32();
  process->cpus = item.varint32();
  process->tick_hz = item.fixed<double>();
  for (std::string* text :
       {&process->executable, &process->build_id, &process->command_line,
        &process->host, &process->boot_id, &process->kernel,
        &process->weft_version, &process->clock, &process->clock_reason})
    *text = read_text(item);
  return item.ok();
}

bool put_subscription(BlockEncoder& block, const SubscriptionInfo& info) {
  ItemWriter item(block, ItemKind::kSubscription,
                  kNumbersBytes + 2 * kMaxInfoTextBytes);
  return item && item.number(info.start_tick)
                     .number(info.filtered ? 1 : 0)
                     .text(info.name, kMaxInfoTextBytes)
                     .text(info.filter, kMaxInfoTextBytes)
                     .done();
}

bool read_subscription(ByteReader item, SubscriptionInfo* info) {
  info->start_tick = item.varint();
  info->filtered = item.varint() != 0;
  info->name = read_text(item);
  info->filter = read_text(item);
  return item.ok();
}

bool put_end(BlockEncoder& block, const SubscriptionEnd& end,
             const LostBlocks& lost) {
  ItemWriter item(block, ItemKind::kEnd, kNumbersBytes + kMaxInfoTextBytes);
  if (!item) return false;
  item.number(end.stop_tick).number(end.delivered).number(end.run_delay_ns);
  item.number(lost.blocks).number(lost.records);
  item.text(end.reason, kMaxInfoTextBytes).number(kDropReasons);
  for (const std::uint64_t dropped : end.dropped) item.number(dropped);
  return item.done();
}

bool read_end(ByteReader item, SubscriptionEnd* end, LostBlocks* lost) {
  end->stop_tick = item.varint();
  end->delivered = item.varint();
  end->run_delay_ns = item.varint();
  lost->blocks = item.varint();
  lost->records = item.varint();
  end->reason = read_text(item);
  const std::uint64_t reasons = item.varint();
  for (std::uint64_t i = 0; i < reasons && item.ok(); ++i) {
    const std::uint64_t dropped = item.varint();
    // A reason that is not known here still is a loss.
    if (i < kDropReasons) end->dropped[i] += dropped;
    else end->dropped[0] += dropped;
  }
  return item.ok();
}

bool put_index(BlockEncoder& block, const IndexEntry* entries,
               std::size_t count) {
  ItemWriter item(block, ItemKind::kIndex,
                  kMaxVarintBytes + count * sizeof(IndexEntry));
  if (!item) return false;
  item.number(count);
  for (std::size_t i = 0; i < count; ++i) {
    item.fixed(entries[i].offset).fixed(entries[i].first_tick);
    item.fixed(entries[i].last_tick).fixed(entries[i].records);
  }
  return item.done();
}

bool read_index(ByteReader item, std::vector<IndexEntry>* entries) {
  const std::uint64_t count = item.varint();
  if (count > item.left() / sizeof(IndexEntry)) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    IndexEntry entry;
    entry.offset = item.fixed<std::uint64_t>();
    entry.first_tick = item.fixed<Ticks>();
    entry.last_tick = item.fixed<Ticks>();
    entry.records = item.fixed<std::uint64_t>();
    entries->push_back(entry);
  }
  return item.ok();
}

}  // namespace weft::exporters
