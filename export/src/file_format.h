// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_FILE_FORMAT_H_
#define WEFT_EXPORT_SRC_FILE_FORMAT_H_

// The numbers of the .weft format. FORMAT.md explains them; both change
// together, and only with a version.

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::exporters {

inline constexpr std::uint16_t kMajorVersion = 1;
inline constexpr std::uint16_t kMinorVersion = 0;

struct FileHeader {
  std::array<std::uint8_t, 8> magic;
  std::uint16_t major;
  std::uint16_t minor;
  std::uint32_t reserved;  // 0
};
static_assert(sizeof(FileHeader) == 16);
// Not text in its first byte, and damaged by any change of line ends.
inline constexpr std::array<std::uint8_t, 8> kFileMagic = {
    0x89, 'w', 'e', 'f', 't', '\r', '\n', 0x1a};

struct BlockHeader {
  std::array<std::uint8_t, 8> magic;
  std::uint32_t content_bytes;
  std::uint32_t records;     // heads in its runs
  std::uint32_t slots;
  std::uint32_t reserved;    // 0
  std::uint64_t sequence;    // 0, 1, 2, ... in the order they were filled
  std::uint64_t first_tick;  // the least tick of its records; 0 without any
  std::uint64_t last_tick;   // the greatest
  std::uint64_t content_hash;  // XXH3-64 of the content
  std::uint64_t header_hash;   // XXH3-64 of the header before this word
};
static_assert(sizeof(BlockHeader) == 64);
inline constexpr std::array<std::uint8_t, 8> kBlockMagic = {
    0xb1, 'w', 'b', 'l', 'o', 'c', 'k', 0x0a};

// The last bytes of a file that was closed, where it could be written at all.
struct Trailer {
  std::array<std::uint8_t, 8> magic;
  std::uint64_t index_offset;  // of the block that holds the index
  std::uint64_t hash;          // XXH3-64 of what stands before it here
};
static_assert(sizeof(Trailer) == 24);
inline constexpr std::array<std::uint8_t, 8> kTrailerMagic = {
    0xe1, 'w', 'e', 'n', 'd', 'e', 'd', 0x0a};

inline constexpr std::size_t kMaxBlockBytes = 256u << 10;  // with its header
inline constexpr std::size_t kMaxContentBytes =
    kMaxBlockBytes - sizeof(BlockHeader);

// Content of a block: items, each a kind, the length of its body, its body.
enum class ItemKind : std::uint8_t {
  kString = 1,
  kSite = 2,
  kThread = 3,
  kMetadata = 4,
  kAnchor = 5,
  kLoss = 6,
  kRun = 7,
  kProcess = 8,
  kSubscription = 9,
  kEnd = 10,
  kLostBlocks = 11,
  kIndex = 12,
};

// A string is cut to this, which its item says.
inline constexpr std::size_t kMaxTextBytes = 60u << 10;

// Low two bits of a token, the varint that every slot of a run begins with.
enum Opcode : unsigned {
  kOpBegin = 0,    // delta; then the site
  kOpEnd = 1,      // delta; ends the top of the stack
  kOpLeaf = 2,     // delta; then the site, ticks to its end. Two slots
  kOpGeneral = 3,  // one of the following
};
inline constexpr unsigned kTickShift = 2;  // of the first three: delta above
// Of kOpGeneral, the next bits.
inline constexpr unsigned kIntegerBit = 1u << 2;  // kInt64 in its place; zigzag
inline constexpr unsigned kIntegerShift = 3;      // value above
inline constexpr unsigned kContinuationToken = 1u << 3;
inline constexpr unsigned kContinuationTypeShift = 4;  // kind less 0x81
inline constexpr unsigned kExplicitIndex = 1u << 7;    // an index byte follows
inline constexpr unsigned kTypeSpecial = 7;            // a Special byte follows
inline constexpr unsigned kHeadShift = 4;  // neither bit: any head; delta above

// The shape byte of a general head: kind in its low half, flags above; kind 15
// says that both follow as bytes of their own.
inline constexpr unsigned kShapeEscape = 15;

enum class Special : std::uint8_t {
  kRawSlot = 0,  // 16 bytes: a continuation that no token can say
  kStep = 1,     // zigzag varint, added to the present tick
  kSkip = 2,     // varint: slots left out by the filter
};

// Begins of open spans, newest on top: a span that ends in order names neither
// its site nor its position. Used cyclically, so that no depth is special.
inline constexpr unsigned kStackDepth = 64;  // 2^n

// The most bytes one slot may take: a kStep (11), then a general head with
// its 8-byte token, shape, kind, flags and two 32-bit varints (21).
inline constexpr std::size_t kMaxSlotBytes = 32;

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_FILE_FORMAT_H_
