// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_RECORD_H_
#define WEFT_RECORD_H_

// What the slots of a ring say.
//
// A record is a head slot and up to 63 continuation slots, published together.
// Every slot says what it is, so a reader can start at any of them.
//
//            63                          16 15        8 7         0
//   head     +-----------------------------+-----------+-----------+
//   word0    | low 48 bits of the tick     | flags     | kind      |
//            +-----------------------------+-----------+-----------+
//   continu. | payload, see the kind       | argument  | kind|0x80 |
//            +-----------------------------+-----------+-----------+
//
//            63                          32 31                     0
//   word1    +-----------------------------+-----------------------+
//    begin   | dynamic name, 0 = the site's| site                  |
//    instant | dynamic name, 0 = the site's| site                  |
//    end     | low 32 bits of begin's pos. | site                  |
//    others  | see RecordKind              |                       |
//            +-----------------------------+-----------------------+
//
// Positions count the slots of one thread since it began, over all the rings
// that it had. A span's end names its begin by position, so the two are paired
// even if one is missing.

#include <cstdint>

#include "weft/ringbuf/slot.h"

namespace weft {

using ringbuf::kMaxRecordSlots;
using ringbuf::Slot;

// Number of a string in the process's string table. 0 is "none"; equal text
// has one id. Unique in one process; files remap when they are merged.
enum class StringId : std::uint32_t { kNone = 0, kOtherNames = 1 };

// Number of an instrumented site. 0 is "none".
enum class SiteId : std::uint32_t { kNone = 0 };

// Number of a thread of this process, from 1, never used twice.
enum class ThreadIndex : std::uint32_t { kNone = 0 };

// A value of the counter that stamps records: TSC, CNTVCT, or ns of
// CLOCK_MONOTONIC. 64 bits everywhere but in a head slot.
using Ticks = std::uint64_t;

enum class RecordKind : std::uint8_t {
  kNone = 0,
  kSpanBegin = 1,   // word1: dynamic name | site; then its arguments
  kSpanEnd = 2,     // word1: low 32 bits of the begin's position | site
  kInstant = 3,     // as kSpanBegin
  kCounter = 4,     // word1: dynamic name | site; then one value slot
  kFlowOut = 5,     // word1: 0 | site; then kUint64 = flow id
  kFlowIn = 6,      // as kFlowOut
  kAsyncBegin = 7,  // as kSpanBegin; its id is async_id(thread, position)
  kAsyncEnd = 8,    // word1: 0 | site; then kUint64 = id of what ends: by
                    // the site's kind a kAsyncBegin (site 0 in old files), or
                    // a kSpanBegin that ended elsewhere
  kArgument = 9,    // late argument; word1: low 32 bits of the begin's
                    // position | key's StringId; then one value
  kFailure = 10,    // the span failed; word1: as kArgument, the reason's id
  kContext = 11,    // word1: number of words (0 to 2); then kUint64 each. What
                    // follows on this thread belongs to that request
  kStep = 12,       // word1: 0 | site; then kUint64 = step number
  kLaunch = 13,     // word1: call | correlation; 64-bit ones add kUint64
  kLoss = 14,       // word1: DropReason | records lost just before this
  kClockChange = 15,  // what follows on this thread has another clock
  kScheduling = 16,   // reserved: off-CPU intervals

  // Continuations: bit 7 is set. The head's flags byte is here the index of
  // the argument, in the order of the site's keys.
  kInt64 = 0x81,
  kUint64 = 0x82,
  kDouble = 0x83,
  kBool = 0x84,
  kStringId = 0x85,
  kText = 0x86,      // payload: length in bytes before any cut; word1: the
                     // first 8 bytes, little endian
  kTextMore = 0x87,  // 14 bytes: payload's 6, then word1's 8
  kPackedText = 0x88,  // weft/internal/packed_text.h; payload: its bytes before
                       // any cut (16 bits), then bytes 8 to 11; word1: the
                       // first 8. Then kTextMore
};

inline constexpr std::uint8_t kContinuationBit = 0x80;

// Flags of a head slot.
inline constexpr std::uint8_t kFlagMonotonic = 1;      // tick is ns of CLOCK_MONOTONIC
inline constexpr std::uint8_t kFlagSignalHandler = 2;  // written inside a handler that
                                                       // interrupted another record
inline constexpr std::uint8_t kFlagClipped = 4;        // begin or end lies outside
inline constexpr std::uint8_t kFlagGlobal = 8;         // a flow that leaves the process
inline constexpr std::uint8_t kFlagForeign = 16;       // kArgument, kFailure: the span is
                                                       // another thread's; the last value,
                                                       // a kUint64, is its async_id

// Why records are missing. Numbers are part of the file format.
enum class DropReason : std::uint8_t {
  kNone = 0,
  kRingFull = 1,        // the drainer did not come in time
  kNoRing = 2,          // the memory bound left no ring for this thread
  kSignalHandler = 3,   // the side ring for handlers was full
  kSlowSink = 4,        // the exporter had no free block
  kLimit = 5,           // the subscription's own limit was reached
  kLatePublish = 6,     // published after the last pass of its subscription
  kForeignEnd = 7,      // the end of a span on another thread found no room
};
inline constexpr std::size_t kDropReasons = 8;

inline constexpr std::uint64_t kTickMask = (std::uint64_t{1} << 48) - 1;

constexpr std::uint64_t head_word(RecordKind kind, std::uint8_t flags,
                                  Ticks tick) noexcept {
  return tick << 16 | std::uint64_t{flags} << 8 |
         static_cast<std::uint64_t>(kind);
}

constexpr std::uint64_t pair_word(std::uint32_t high,
                                  std::uint32_t low) noexcept {
  return std::uint64_t{high} << 32 | low;
}

constexpr RecordKind kind_of(const Slot& slot) noexcept {
  return static_cast<RecordKind>(slot.word0 & 0xff);
}

// A mark of weft's own, which is no call of the program.
constexpr bool is_mark(RecordKind kind) noexcept {
  return kind == RecordKind::kLoss || kind == RecordKind::kClockChange;
}

constexpr bool is_continuation(const Slot& slot) noexcept {
  return (slot.word0 & kContinuationBit) != 0;
}

// The second byte: flags of a head, argument index of a continuation.
constexpr std::uint8_t flags_of(const Slot& slot) noexcept {
  return static_cast<std::uint8_t>(slot.word0 >> 8);
}

// Low 48 bits of a head's tick, or a continuation's payload.
constexpr std::uint64_t payload_of(const Slot& slot) noexcept {
  return slot.word0 >> 16;
}

constexpr std::uint32_t low_of(const Slot& slot) noexcept {
  return static_cast<std::uint32_t>(slot.word1);
}

constexpr std::uint32_t high_of(const Slot& slot) noexcept {
  return static_cast<std::uint32_t>(slot.word1 >> 32);
}

// The full tick of a head: the youngest one with these low bits that is not
// younger than `reference`. Right for anything stamped within 2^48 ticks before
// `reference` (19 h at 4 GHz).
constexpr Ticks unwrap_tick(std::uint64_t low48, Ticks reference) noexcept {
  return reference - ((reference - low48) & kTickMask);
}

// Bit of a position that says: written to the side ring of signal handlers,
// whose positions count apart from those of threads.
inline constexpr std::uint64_t kSidePosition = std::uint64_t{1} << 63;

// An asynchronous span's id in this process: where its begin lies. 24 bits of
// thread, one for the side ring, 39 of position: two spans could only meet if
// one stayed open while its thread wrote 2^39 slots, 1.7 hours at full rate.
inline constexpr unsigned kAsyncPositionBits = 39;
constexpr std::uint64_t async_id(ThreadIndex thread,
                                 std::uint64_t position) noexcept {
  return static_cast<std::uint64_t>(thread) << (kAsyncPositionBits + 1) |
         (position & kSidePosition) >> (63 - kAsyncPositionBits) |
         (position & ((std::uint64_t{1} << kAsyncPositionBits) - 1));
}

}  // namespace weft

#endif  // WEFT_RECORD_H_
