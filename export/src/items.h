// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_ITEMS_H_
#define WEFT_EXPORT_SRC_ITEMS_H_

// The items of a block besides runs: how each is written, and right beside it
// how it is read. Each put_ returns false, and writes nothing, if the block has
// no room. Each read_ returns false if the bytes make no sense; bytes behind
// what it knows belong to later minor versions.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "block_encoder.h"
#include "varint.h"
#include "weft/catalog.h"
#include "weft/clock_anchor.h"
#include "weft/exporter.h"

namespace weft::exporters {

// Blocks that were encoded and then could not be written, since the beginning.
struct LostBlocks {
  std::uint64_t blocks = 0;
  std::uint64_t records = 0;  // in them
};

// Where a block of the file lies.
struct IndexEntry {
  std::uint64_t offset = 0;
  Ticks first_tick = 0;
  Ticks last_tick = 0;
  std::uint64_t records = 0;
};
inline constexpr std::size_t kIndexEntriesPerBlock = 4096;

bool put_string(BlockEncoder& block, StringId id, std::string_view text);
bool read_string(ByteReader item, StringId* id, std::string* text);

bool put_site(BlockEncoder& block, const SiteInfo& site);
bool read_site(ByteReader item, SiteInfo* site);

bool put_thread(BlockEncoder& block, const ThreadInfo& thread);
bool read_thread(ByteReader item, ThreadInfo* thread);

bool put_metadata(BlockEncoder& block, std::pair<StringId, StringId> pair);
bool read_metadata(ByteReader item, std::pair<StringId, StringId>* pair);

bool put_anchor(BlockEncoder& block, const ClockAnchor& anchor);
bool read_anchor(ByteReader item, ClockAnchor* anchor);

bool put_loss(BlockEncoder& block, const Loss& loss);
bool read_loss(ByteReader item, Loss* loss);

bool put_lost_blocks(BlockEncoder& block, const LostBlocks& lost);
bool read_lost_blocks(ByteReader item, LostBlocks* lost);

bool put_process(BlockEncoder& block, const ProcessInfo& process);
bool read_process(ByteReader item, ProcessInfo* process);

bool put_subscription(BlockEncoder& block, const SubscriptionInfo& info);
bool read_subscription(ByteReader item, SubscriptionInfo* info);

bool put_end(BlockEncoder& block, const SubscriptionEnd& end,
             const LostBlocks& lost);
bool read_end(ByteReader item, SubscriptionEnd* end, LostBlocks* lost);

// At most kIndexEntriesPerBlock.
bool put_index(BlockEncoder& block, const IndexEntry* entries,
               std::size_t count);
bool read_index(ByteReader item, std::vector<IndexEntry>* entries);

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_ITEMS_H_
