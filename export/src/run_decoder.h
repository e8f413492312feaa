// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_RUN_DECODER_H_
#define WEFT_EXPORT_SRC_RUN_DECODER_H_

// The inverse of BlockEncoder: slots out of the body of a run item, bit for
// bit. Trusts nothing; every position it hands out is below 2^63 (with
// kSidePosition beside that).

#include <array>
#include <cstdint>

#include "file_format.h"
#include "varint.h"
#include "weft/record.h"

namespace weft::exporters {

struct PlacedSlot {
  Slot slot{};
  std::uint64_t position = 0;
  Ticks tick = 0;  // all 64 bits; of the record that a continuation belongs to
};

class RunDecoder {
 public:
  RunDecoder() = default;
  // `*base` is the base tick of the block's previous run, 0 before the first;
  // it becomes that of this run.
  RunDecoder(const std::uint8_t* body, std::size_t bytes, Ticks* base) noexcept;

  ThreadIndex thread() const noexcept { return thread_; }
  std::uint64_t position() const noexcept { return position_; }  // next slot's
  std::uint64_t skipped() const noexcept { return skipped_; }
  std::uint32_t slots() const noexcept { return slots_; }
  Ticks base_tick() const noexcept { return base_tick_; }

  // The next slot; false at the end or where the bytes make no sense.
  bool next(PlacedSlot* out) noexcept;

  // Why it ended before its end; null if it did not.
  const char* malformed() const noexcept { return malformed_; }
  const std::uint8_t* at() const noexcept { return bytes_.at(); }
  // Slots that skip tokens left out so far.
  std::uint64_t skipped_inside() const noexcept { return skipped_inside_; }

 private:
  void fail(const char* why) noexcept;
  bool head(std::uint64_t token, PlacedSlot* out) noexcept;
  bool continuation(std::uint64_t token, PlacedSlot* out) noexcept;
  bool special(PlacedSlot* out, bool* is_slot) noexcept;
  Slot span_slot(RecordKind kind, std::uint64_t word1) const noexcept;

  ByteReader bytes_;
  ThreadIndex thread_ = ThreadIndex::kNone;
  std::uint64_t position_ = 0;
  std::uint64_t skipped_ = 0;
  std::uint64_t skipped_inside_ = 0;
  std::uint32_t slots_ = 0;
  std::uint32_t left_ = 0;
  Ticks base_tick_ = 0;
  Ticks tick_ = 0;
  std::uint8_t flags_ = 0;
  const char* malformed_ = nullptr;

  bool leaf_ = false;  // the end of a leaf comes next
  Ticks leaf_ticks_ = 0;
  std::uint64_t leaf_word1_ = 0;

  unsigned next_index_ = 0;
  unsigned depth_ = 0;
  std::array<std::uint64_t, kStackDepth> stack_{};
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_RUN_DECODER_H_
