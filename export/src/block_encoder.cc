// SPDX-License-Identifier: Apache-2.0
#include "block_encoder.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "checksum.h"
#include "varint.h"

namespace weft::exporters {
namespace {

constexpr std::size_t kItemPrefixBytes = 1 + 3;  // kind, padded length
constexpr Ticks kTickWindow = Ticks{1} << 48;
constexpr unsigned kStackMask = kStackDepth - 1;

const Slot& slot_of(const Run& run, std::uint32_t number) noexcept {
  return number < run.first_count ? run.first[number]
                                  : run.second[number - run.first_count];
}

std::uint32_t slots_of(const Run& run) noexcept {
  return run.first_count + run.second_count;
}

bool names_begin(RecordKind kind) noexcept {
  return kind == RecordKind::kSpanEnd || kind == RecordKind::kArgument ||
         kind == RecordKind::kFailure;
}

}  // namespace

void BlockEncoder::start(std::uint8_t* memory, std::size_t bytes) noexcept {
  memory_ = memory;
  bytes_ = bytes;
  at_ = memory + sizeof(BlockHeader);
  limit_ = memory + bytes - kRecordReserve;
  records_ = 0;
  slots_ = 0;
  marks_ = 0;
  ring_losses_ = 0;
  first_tick_ = ~Ticks{0};
  last_tick_ = 0;
  base_tick_ = 0;
  run_ = nullptr;
}

bool BlockEncoder::empty() const noexcept {
  return at_ == memory_ + sizeof(BlockHeader);
}

std::size_t BlockEncoder::content_bytes() const noexcept {
  return static_cast<std::size_t>(at_ - memory_) - sizeof(BlockHeader);
}

Ticks BlockEncoder::first_tick() const noexcept {
  return records_ == 0 ? 0 : first_tick_;
}

void BlockEncoder::include(Ticks tick) noexcept {
  first_tick_ = std::min(first_tick_, tick);
  last_tick_ = std::max(last_tick_, tick);
}

bool BlockEncoder::joins(const Run& run, std::uint32_t done) const noexcept {
  return run_ != nullptr && run.thread == thread_ &&
         run.position + done == position_ + (done == 0 ? run.skipped : 0) &&
         run.reference - tick_ < kTickWindow;
}

void BlockEncoder::open_run(const Run& run, std::uint32_t done) noexcept {
  close_run();
  run_ = at_;
  run_slots_ = 0;
  thread_ = run.thread;
  position_ = run.position + done;
  const Slot& first = slot_of(run, done);
  tick_ = is_continuation(first)
              ? run.reference
              : unwrap_tick(payload_of(first), run.reference);
  include(tick_);
  run_flags_ = is_continuation(first) ? 0u : flags_of(first) & kFlagMonotonic;
  next_index_ = 0;
  depth_ = 0;
  stack_.fill(0);

  *at_ = static_cast<std::uint8_t>(ItemKind::kRun);
  at_ += kItemPrefixBytes + 3;  // both lengths are known when the run closes
  at_ = put_varint(at_, static_cast<std::uint32_t>(run.thread));
  at_ = put_varint(at_, std::rotl(position_, 1));  // kSidePosition goes lowest
  at_ = put_varint(at_, done == 0 ? run.skipped : 0);
  at_ = put_varint(at_, zigzag(tick_ - base_tick_));
  *at_++ = static_cast<std::uint8_t>(run_flags_);
  base_tick_ = tick_;
}

void BlockEncoder::close_run() noexcept {
  if (run_ == nullptr) return;
  include(tick_);
  slots_ += run_slots_;
  const auto body = static_cast<std::size_t>(at_ - run_) - kItemPrefixBytes;
  if (body - 2 < 128 && run_slots_ < 128) {
    // Few slots: their two lengths need no more than a byte each. With many
    // quiet threads most runs are like this.
    std::memmove(run_ + 3, run_ + kItemPrefixBytes + 3, body - 3);
    run_[1] = static_cast<std::uint8_t>((body - 2) << 1 | 1);
    run_[2] = static_cast<std::uint8_t>(run_slots_ << 1 | 1);
    at_ -= 4;
  } else {
    put_padded_varint(run_ + 1, body);
    put_padded_varint(run_ + kItemPrefixBytes, run_slots_);
  }
  run_ = nullptr;
}

bool BlockEncoder::surely_fits(const Run& run) const noexcept {
  return at_ < limit_ && static_cast<std::size_t>(limit_ - at_) / kMaxSlotBytes >
                             slots_of(run) + std::size_t{2};
}

bool BlockEncoder::encode(const Run& run, std::uint32_t* done) noexcept {
  const std::uint32_t total = slots_of(run);
  bool inside_record = false;
  while (*done < total) {
    const bool in_first = *done < run.first_count;
    const Slot* slot = &slot_of(run, *done);
    auto count = in_first ? run.first_count - *done : total - *done;
    if (at_ + kMaxSlotBytes >= limit_) {
      // Only to the end of the record, in the reserve.
      if (!inside_record || !is_continuation(*slot)) return false;
      if (at_ + kMaxSlotBytes > memory_ + bytes_) return false;
      count = 1;
    } else {
      const auto room = static_cast<std::size_t>(limit_ - at_) / kMaxSlotBytes;
      count = static_cast<std::uint32_t>(std::min<std::size_t>(count, room));
    }
    if (!joins(run, *done)) {
      open_run(run, *done);
    } else if (*done == 0 && run.skipped != 0) {
      at_ = put_varint(put_special(Special::kSkip), run.skipped);
      position_ = run.position;
    }
    encode_slots(slot, slot + count, run.reference);
    *done += count;
    inside_record = true;
  }
  return true;
}

// The inner loop of the drainer. `age` is how far a tick lies before the
// reference: a difference of two ages is exact for any two ticks of one window,
// where a difference of their low 48 bits could be off by a whole window.
void BlockEncoder::encode_slots(const Slot* slot, const Slot* end,
                                Ticks reference) noexcept {
  const unsigned begin_shape =
      static_cast<unsigned>(RecordKind::kSpanBegin) | run_flags_ << 8;
  const unsigned end_shape =
      static_cast<unsigned>(RecordKind::kSpanEnd) | run_flags_ << 8;
  const std::uint64_t newest = reference << 16 | 0xffff;
  // A slot is 16 bytes, so its address also counts positions: shifted by 28 it
  // grows by 1 << 32 a slot, which is how ends name their begins.
  const std::uint64_t origin =
      (position_ << 32) - (reinterpret_cast<std::uintptr_t>(slot) << 28);
  const auto count = static_cast<std::uint32_t>(end - slot);
  std::uint32_t continuations = 0;
  std::uint8_t* at = at_;
  std::uint64_t age = reference - tick_;
  unsigned depth = depth_;
  unsigned next_index = next_index_;

  while (slot != end) {
    const unsigned shape = static_cast<std::uint16_t>(slot->word0);
    const std::uint64_t own_age = (newest - slot->word0) >> 16;
    const std::uint64_t place =
        (reinterpret_cast<std::uintptr_t>(slot) << 28) + origin;
    if (shape == begin_shape) {
      const std::uint64_t site = slot->word1;
      if (site >> 32 == 0 && own_age <= age) {
        const std::uint64_t delta = age - own_age;
        const std::uint64_t its_end = place | site;
        age = own_age;
        next_index = 0;
        if (slot + 1 != end && slot[1].word1 == its_end &&
            static_cast<std::uint16_t>(slot[1].word0) == end_shape) {
          const std::uint64_t end_age = (newest - slot[1].word0) >> 16;
          if (end_age <= age) {
            at = put_short_varint(at, delta << kTickShift | kOpLeaf);
            at = put_short_varint(at, site);
            at = put_short_varint(at, age - end_age);
            age = end_age;
            slot += 2;
            continue;
          }
        }
        at = put_short_varint(at, delta << kTickShift | kOpBegin);
        at = put_short_varint(at, site);
        stack_[depth++ & kStackMask] = its_end;
        ++slot;
        continue;
      }
    } else if (shape == end_shape) {
      if (slot->word1 == stack_[(depth - 1) & kStackMask] && own_age <= age) {
        at = put_short_varint(at, (age - own_age) << kTickShift | kOpEnd);
        age = own_age;
        next_index = 0;
        --depth;
        ++slot;
        continue;
      }
    } else if (slot->word0 == (static_cast<unsigned>(RecordKind::kInt64) |
                               next_index << 8)) {
      // An integer argument, in its place.
      const std::uint64_t value = zigzag(slot->word1);
      if (value >> (56 - kIntegerShift) == 0) {
        at = put_short_varint(at,
                              value << kIntegerShift | kIntegerBit | kOpGeneral);
        ++next_index;
        ++continuations;
        ++slot;
        continue;
      }
    }
    at_ = at;
    tick_ = reference - age;
    depth_ = depth;
    next_index_ = next_index;
    if (is_continuation(*slot)) {
      encode_continuation(*slot);
      ++continuations;
    } else {
      encode_head(*slot, static_cast<std::uint32_t>(place >> 32), reference);
    }
    at = at_;
    age = reference - tick_;
    depth = depth_;
    next_index = next_index_;
    ++slot;
  }

  at_ = at;
  tick_ = reference - age;
  depth_ = depth;
  next_index_ = next_index;
  position_ += count;
  records_ += count - continuations;
  run_slots_ += count;
}

std::uint8_t* BlockEncoder::put_special(Special special) noexcept {
  at_ = put_short_varint(at_, kOpGeneral | kContinuationToken |
                                  kTypeSpecial << kContinuationTypeShift);
  *at_++ = static_cast<std::uint8_t>(special);
  return at_;
}

void BlockEncoder::step_to(Ticks tick) noexcept {
  include(tick_);
  at_ = put_varint(put_special(Special::kStep), zigzag(tick - tick_));
  tick_ = tick;
  include(tick_);
}

void BlockEncoder::encode_head(const Slot& slot, std::uint32_t position,
                               Ticks reference) noexcept {
  const Ticks tick = unwrap_tick(payload_of(slot), reference);
  if (tick - tick_ >= kTickWindow) step_to(tick);  // backwards, or very far
  at_ = put_short_varint(at_, (tick - tick_) << kHeadShift | kOpGeneral);
  tick_ = tick;
  next_index_ = 0;

  const RecordKind kind = kind_of(slot);
  const unsigned flags = flags_of(slot);
  const auto number = static_cast<unsigned>(kind);
  if (number < kShapeEscape && flags < 16) {
    *at_++ = static_cast<std::uint8_t>(number | flags << 4);
  } else {
    *at_++ = kShapeEscape;
    *at_++ = static_cast<std::uint8_t>(number);
    *at_++ = static_cast<std::uint8_t>(flags);
  }
  const std::uint32_t high = high_of(slot);
  at_ = put_short_varint(at_, low_of(slot));
  at_ = put_short_varint(at_, names_begin(kind) ? position - high : high);

  if (is_mark(kind)) {
    ++marks_;
    if (kind == RecordKind::kLoss) ring_losses_ += low_of(slot);
  } else if (kind == RecordKind::kSpanBegin) {
    stack_[depth_++ & kStackMask] = pair_word(position, low_of(slot));
  } else if (kind == RecordKind::kSpanEnd) {
    for (unsigned above = 1; above <= kStackDepth; ++above) {
      if (stack_[(depth_ - above) & kStackMask] != slot.word1) continue;
      depth_ -= above;
      break;
    }
  }
}

void BlockEncoder::encode_continuation(const Slot& slot) noexcept {
  const RecordKind kind = kind_of(slot);
  const unsigned type = static_cast<unsigned>(kind) -
                        static_cast<unsigned>(RecordKind::kInt64);
  const bool text = kind == RecordKind::kText || kind == RecordKind::kTextMore;
  if (type >= kTypeSpecial || (!text && payload_of(slot) != 0)) {
    store(store(put_special(Special::kRawSlot), slot.word0), slot.word1);
    at_ += sizeof(Slot);
    return;
  }
  const unsigned index = flags_of(slot);
  const unsigned expected =
      (kind == RecordKind::kTextMore ? next_index_ - 1 : next_index_) & 0xff;
  const unsigned token =
      kOpGeneral | kContinuationToken | type << kContinuationTypeShift;
  if (index == expected) {
    at_ = put_short_varint(at_, token);
  } else {
    at_ = put_short_varint(at_, token | kExplicitIndex);
    *at_++ = static_cast<std::uint8_t>(index);
  }
  next_index_ = (index + 1) & 0xff;

  switch (kind) {
    case RecordKind::kInt64:
      at_ = put_varint(at_, zigzag(slot.word1));
      break;
    case RecordKind::kDouble:
      at_ = store(at_, slot.word1);
      break;
    case RecordKind::kText:
      at_ = store(put_varint(at_, payload_of(slot)), slot.word1);
      break;
    case RecordKind::kTextMore:
      store(at_, payload_of(slot));
      at_ = store(at_ + 6, slot.word1);
      break;
    default:  // kUint64, kBool, kStringId
      at_ = put_varint(at_, slot.word1);
      break;
  }
}

BlockEncoder::Mark BlockEncoder::mark() noexcept {
  close_run();
  return {memory_,      bytes_,      at_,        records_,  slots_, marks_,
          ring_losses_, first_tick_, last_tick_, base_tick_};
}

void BlockEncoder::rewind(const Mark& mark) noexcept {
  start(mark.memory, mark.bytes);
  at_ = mark.at;
  records_ = mark.records;
  slots_ = mark.slots;
  marks_ = mark.marks;
  ring_losses_ = mark.ring_losses;
  first_tick_ = mark.first_tick;
  last_tick_ = mark.last_tick;
  base_tick_ = mark.base_tick;
}

std::uint8_t* BlockEncoder::begin_item(ItemKind kind,
                                       std::size_t max_bytes) noexcept {
  close_run();
  const auto room = static_cast<std::size_t>(memory_ + bytes_ - at_);
  if (max_bytes + kItemPrefixBytes + kVarintSlack > room) return nullptr;
  *at_ = static_cast<std::uint8_t>(kind);
  return at_ + kItemPrefixBytes;
}

void BlockEncoder::end_item(std::uint8_t* body_end) noexcept {
  put_padded_varint(at_ + 1, static_cast<std::size_t>(body_end - at_) -
                                 kItemPrefixBytes);
  at_ = body_end;
}

std::size_t BlockEncoder::finish(std::uint64_t sequence) noexcept {
  close_run();
  BlockHeader header{};
  header.magic = kBlockMagic;
  header.content_bytes = static_cast<std::uint32_t>(content_bytes());
  header.records = records_;
  header.slots = slots_;
  header.sequence = sequence;
  header.first_tick = first_tick();
  header.last_tick = last_tick_;
  header.content_hash =
      checksum(memory_ + sizeof header, header.content_bytes);
  header.header_hash = checksum(&header, offsetof(BlockHeader, header_hash));
  std::memcpy(memory_, &header, sizeof header);
  memory_ = nullptr;
  return sizeof header + header.content_bytes;
}

}  // namespace weft::exporters
