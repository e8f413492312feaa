// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_BLOCK_ENCODER_H_
#define WEFT_EXPORT_SRC_BLOCK_ENCODER_H_

// Fills one block after the other with items, slots straight out of rings.
//
//   memory  [ header | item | item | run: slots ... (at_)      | reserve ]
//                                   ^ run_                      ^ limit_
//
// What a reader must know to decode a slot (tick, stack of open spans, argument
// index) starts anew with each run, so runs and blocks stand alone. Runs of one
// thread that follow each other without a gap are joined into one.
//
// Invariants:
//   I1  A record is begun only below limit_. Behind it there is room for one
//       whole record, so what was begun can be finished in the same block.
//   I2  first_tick_ and last_tick_ enclose every tick of the closed runs.
//   I3  A run is patched (length, slots) when it closes; until then only the
//       encoder knows them.
//
// One thread at a time. Hot: no allocation, no lock, no system call.

#include <array>
#include <cstddef>
#include <cstdint>

#include "file_format.h"
#include "weft/exporter.h"

namespace weft::exporters {

class BlockEncoder {
 public:
  // The least memory a block can have: header, and one record as a run.
  static constexpr std::size_t kMinBlockBytes = 8u << 10;

  // Where a block stood; see rewind().
  struct Mark {
    std::uint8_t* memory = nullptr;
    std::size_t bytes = 0;
    std::uint8_t* at = nullptr;
    std::uint32_t records = 0;
    std::uint32_t slots = 0;
    std::uint32_t marks = 0;
    std::uint64_t ring_losses = 0;
    Ticks first_tick = 0;
    Ticks last_tick = 0;
    Ticks base_tick = 0;
  };

  // Begins a block in `bytes` of memory, kMinBlockBytes to kMaxBlockBytes,
  // which must stay until finish().
  void start(std::uint8_t* memory, std::size_t bytes) noexcept;
  bool started() const noexcept { return memory_ != nullptr; }
  // Nothing was added since start().
  bool empty() const noexcept;

  // Encodes slots of `run` from number `*done` on and moves it. False when the
  // block is full before the end; then `*done` is the first slot of a record,
  // and the rest goes to the next block.
  bool encode(const Run& run, std::uint32_t* done) noexcept;
  // True if encode() would surely take the whole run.
  bool surely_fits(const Run& run) const noexcept;

  // Closes the run and says where the block stands.
  Mark mark() noexcept;
  // Takes back everything since the mark, also if its block was finished.
  void rewind(const Mark& mark) noexcept;

  // Where an item's body of at most `max_bytes` may be written; null if the
  // block has no room. Then end_item() with the end of the body.
  std::uint8_t* begin_item(ItemKind kind, std::size_t max_bytes) noexcept;
  void end_item(std::uint8_t* body_end) noexcept;

  // Completes header and checksums. Returns the size of the block, and the
  // encoder has none.
  std::size_t finish(std::uint64_t sequence) noexcept;

  std::uint32_t records() const noexcept { return records_; }
  std::uint32_t slots() const noexcept { return slots_; }
  // Records but for weft's own marks, and how many of them the ring refused, by
  // those marks.
  std::uint32_t calls() const noexcept { return records_ - marks_; }
  std::uint64_t ring_losses() const noexcept { return ring_losses_; }
  // Bytes of the block so far, without its header.
  std::size_t content_bytes() const noexcept;
  // Of the closed runs; 0 if there is none.
  Ticks first_tick() const noexcept;
  Ticks last_tick() const noexcept { return last_tick_; }

 private:
  static constexpr std::size_t kRecordReserve =
      kMaxRecordSlots * kMaxSlotBytes + 64;  // I1; 64: a run's own fields

  void open_run(const Run& run, std::uint32_t done) noexcept;
  bool joins(const Run& run, std::uint32_t done) const noexcept;
  void close_run() noexcept;
  void encode_slots(const Slot* slot, const Slot* end,
                    Ticks reference) noexcept;
  void encode_head(const Slot& slot, std::uint32_t position,
                   Ticks reference) noexcept;
  void encode_continuation(const Slot& slot) noexcept;
  void step_to(Ticks tick) noexcept;
  void include(Ticks tick) noexcept;
  std::uint8_t* put_special(Special special) noexcept;

  std::uint8_t* at_ = nullptr;
  std::uint8_t* limit_ = nullptr;
  std::uint8_t* memory_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint32_t records_ = 0;
  std::uint32_t slots_ = 0;
  std::uint32_t marks_ = 0;
  std::uint64_t ring_losses_ = 0;
  Ticks first_tick_ = 0;
  Ticks last_tick_ = 0;
  Ticks base_tick_ = 0;  // of the newest run of this block

  std::uint8_t* run_ = nullptr;  // its item; null if none is open
  std::uint32_t run_slots_ = 0;
  ThreadIndex thread_ = ThreadIndex::kNone;
  std::uint64_t position_ = 0;  // of the next slot
  Ticks tick_ = 0;              // of the last head
  unsigned run_flags_ = 0;      // what begin, end and leaf stand for
  unsigned next_index_ = 0;     // that the next argument is expected to have
  unsigned depth_ = 0;
  std::array<std::uint64_t, kStackDepth> stack_{};  // as word1 of their ends
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_BLOCK_ENCODER_H_
