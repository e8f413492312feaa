// SPDX-License-Identifier: Apache-2.0
#include "block_walker.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "checksum.h"

namespace weft::exporters {
namespace {

constexpr std::size_t kMaxProblems = 1000;
constexpr std::size_t kSearchBytes = 64u << 10;

bool whole_header(const BlockHeader& header) {
  return header.magic == kBlockMagic &&
         header.header_hash ==
             checksum(&header, offsetof(BlockHeader, header_hash)) &&
         header.content_bytes <= kMaxContentBytes;
}

}  // namespace

void add_problem(std::vector<TraceProblem>* problems, std::uint64_t offset,
                 std::string what, bool fatal) {
  if (problems->size() >= kMaxProblems) return;
  if (problems->size() == kMaxProblems - 1)
    what = "more problems than are listed here";
  problems->push_back({offset, std::move(what), fatal});
}

bool ItemWalker::next(ItemView* item, std::vector<TraceProblem>* problems) {
  if (bytes_.at_end()) return false;
  item->offset = offset_ + static_cast<std::uint64_t>(bytes_.at() - start_);
  item->kind = static_cast<ItemKind>(bytes_.fixed<std::uint8_t>());
  const std::uint64_t length = bytes_.varint();
  const std::size_t left = bytes_.left();
  item->body = bytes_.take(length);
  item->bytes = length;
  if (item->body != nullptr) return true;
  add_problem(problems, item->offset,
              "an item claims " + std::to_string(length) +
                  " bytes, its block has " + std::to_string(left) + " left");
  return false;
}

// `kDamaged`: the header can be believed, the content cannot.
BlockWalker::Found BlockWalker::look(std::uint64_t offset,
                                     BlockHeader* header) {
  const std::uint8_t* bytes = source_->read(offset, sizeof *header);
  if (bytes == nullptr) return Found::kNothing;
  *header = load<BlockHeader>(bytes);
  if (!whole_header(*header)) return Found::kNothing;
  bytes = source_->read(offset + sizeof *header, header->content_bytes);
  if (bytes == nullptr) return Found::kCut;
  return checksum(bytes, header->content_bytes) == header->content_hash
             ? Found::kBlock
             : Found::kDamaged;
}

bool BlockWalker::next(BlockView* block, std::vector<TraceProblem>* problems) {
  while (offset_ < source_->size()) {
    BlockHeader header;
    switch (look(offset_, &header)) {
      case Found::kBlock:
        if (!read_block(source_, offset_, block)) return false;
        offset_ += block->size();
        return true;
      case Found::kDamaged:
        add_problem(problems, offset_,
                    "block " + std::to_string(header.sequence) +
                        " does not match its checksum and is left out (" +
                        std::to_string(header.records) + " records)");
        offset_ += sizeof header + header.content_bytes;
        break;
      case Found::kCut:
        add_problem(problems, offset_,
                    "the file ends inside block " +
                        std::to_string(header.sequence) + ", which claims " +
                        std::to_string(header.content_bytes) + " bytes");
        if (!resynchronise(problems)) return false;
        break;
      case Found::kNothing:
        if (take_trailer(problems)) return false;
        add_problem(problems, offset_, "here should be a block, and is none");
        if (!resynchronise(problems)) return false;
        break;
    }
  }
  return false;
}

bool BlockWalker::take_trailer(std::vector<TraceProblem>* problems) {
  if (source_->size() - offset_ != sizeof(Trailer)) return false;
  const std::uint8_t* bytes = source_->read(offset_, sizeof(Trailer));
  if (bytes == nullptr) return false;
  const auto trailer = load<Trailer>(bytes);
  if (trailer.magic != kTrailerMagic) return false;
  if (trailer.hash != checksum(&trailer, offsetof(Trailer, hash))) {
    add_problem(problems, offset_, "the trailer does not match its checksum");
  } else {
    index_offset_ = trailer.index_offset;
  }
  offset_ = source_->size();
  return true;
}

bool BlockWalker::resynchronise(std::vector<TraceProblem>* problems) {
  for (std::uint64_t at = offset_ + 1;
       at + sizeof(BlockHeader) <= source_->size();) {
    const std::size_t count = static_cast<std::size_t>(
        std::min<std::uint64_t>(kSearchBytes, source_->size() - at));
    const std::uint8_t* bytes = source_->read(at, count);
    if (bytes == nullptr) break;
    const std::uint8_t* end = bytes + count;
    for (const std::uint8_t* from = bytes;;) {
      const std::uint8_t* hit = std::search(from, end, kBlockMagic.begin(),
                                            kBlockMagic.end());
      if (static_cast<std::size_t>(end - hit) < sizeof(BlockHeader)) break;
      if (whole_header(load<BlockHeader>(hit))) {
        offset_ = at + static_cast<std::uint64_t>(hit - bytes);
        return true;
      }
      from = hit + 1;
    }
    if (count < kSearchBytes) break;
    at += count - sizeof(BlockHeader) + 1;
  }
  const std::uint64_t tail = source_->size() - offset_;
  if (tail > sizeof(BlockHeader))
    add_problem(problems, offset_,
                "no block begins in the last " + std::to_string(tail) +
                    " bytes");
  offset_ = source_->size();
  return false;
}

bool read_block(TraceSource* source, std::uint64_t offset, BlockView* block) {
  const std::uint8_t* bytes = source->read(offset, sizeof(BlockHeader));
  if (bytes == nullptr) return false;
  block->offset = offset;
  block->header = load<BlockHeader>(bytes);
  if (!whole_header(block->header)) return false;
  bytes = source->read(offset, sizeof(BlockHeader) + block->header.content_bytes);
  if (bytes == nullptr) return false;
  block->content = bytes + sizeof(BlockHeader);
  return true;
}

}  // namespace weft::exporters
