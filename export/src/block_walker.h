// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_BLOCK_WALKER_H_
#define WEFT_EXPORT_SRC_BLOCK_WALKER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "file_format.h"
#include "trace_source.h"
#include "varint.h"
#include "weft/export/trace_reader.h"

namespace weft::exporters {

// A list of problems that no input can make long.
void add_problem(std::vector<TraceProblem>* problems, std::uint64_t offset,
                 std::string what, bool fatal = false);

// One whole block whose checksums are right.
struct BlockView {
  std::uint64_t offset = 0;
  BlockHeader header{};
  const std::uint8_t* content = nullptr;  // until the source is read again

  std::uint64_t size() const { return sizeof header + header.content_bytes; }
};

// One item of a block. False at the end; a length that lies ends it too, and
// sets `*problem`.
struct ItemView {
  ItemKind kind{};
  std::uint64_t offset = 0;  // in the file
  const std::uint8_t* body = nullptr;
  std::size_t bytes = 0;

  ByteReader reader() const { return {body, body + bytes}; }
};
class ItemWalker {
 public:
  ItemWalker() = default;
  explicit ItemWalker(const BlockView& block)
      : start_(block.content),
        offset_(block.offset + sizeof block.header),
        bytes_(block.content, block.content + block.header.content_bytes) {}
  bool next(ItemView* item, std::vector<TraceProblem>* problems);

 private:
  const std::uint8_t* start_ = nullptr;
  std::uint64_t offset_ = 0;
  ByteReader bytes_;
};

// Goes from block to block. What is no block is reported and searched for the
// next one, so that damage costs no more than the blocks it lies in.
class BlockWalker {
 public:
  BlockWalker(TraceSource* source, std::uint64_t offset)
      : source_(source), offset_(offset) {}

  bool next(BlockView* block, std::vector<TraceProblem>* problems);
  // Where the trailer says that the index begins; 0 if there is no trailer.
  std::uint64_t index_offset() const { return index_offset_; }

 private:
  enum class Found { kBlock, kNothing, kDamaged, kCut };
  Found look(std::uint64_t offset, BlockHeader* header);
  bool take_trailer(std::vector<TraceProblem>* problems);
  bool resynchronise(std::vector<TraceProblem>* problems);

  TraceSource* source_;
  std::uint64_t offset_;
  std::uint64_t index_offset_ = 0;
};

// The same block again, when it is known where it lies. False if the file has
// changed.
bool read_block(TraceSource* source, std::uint64_t offset, BlockView* block);

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_BLOCK_WALKER_H_
