// SPDX-License-Identifier: Apache-2.0
#include "run_decoder.h"

#include <bit>
#include <cstring>

namespace weft::exporters {
namespace {

constexpr unsigned kStackMask = kStackDepth - 1;

bool names_begin(RecordKind kind) noexcept {
  return kind == RecordKind::kSpanEnd || kind == RecordKind::kArgument ||
         kind == RecordKind::kFailure;
}

Slot value_slot(RecordKind kind, unsigned index, std::uint64_t word1,
                std::uint64_t payload = 0) noexcept {
  return {payload << 16 | std::uint64_t{index} << 8 |
              static_cast<std::uint64_t>(kind),
          word1};
}

}  // namespace

RunDecoder::RunDecoder(const std::uint8_t* body, std::size_t bytes,
                       Ticks* base) noexcept
    : bytes_(body, body + bytes) {
  const std::uint64_t slots = bytes_.varint();
  thread_ = static_cast<ThreadIndex>(bytes_.varint32());
  position_ = std::rotr(bytes_.varint(), 1);
  skipped_ = bytes_.varint();
  base_tick_ = *base + unzigzag(bytes_.varint());
  flags_ = bytes_.fixed<std::uint8_t>();
  if (!bytes_.ok()) {
    fail("a run ends inside its own fields");
  } else if (slots > bytes_.left()) {
    fail("a run claims more slots than it has bytes");
  } else if ((position_ & ~kSidePosition) + slots >= kSidePosition) {
    fail("a position of 2^63 or more");
  } else {
    left_ = slots_ = static_cast<std::uint32_t>(slots);
    *base = tick_ = base_tick_;
  }
}

void RunDecoder::fail(const char* why) noexcept {
  malformed_ = why;
  left_ = 0;
}

Slot RunDecoder::span_slot(RecordKind kind, std::uint64_t word1) const noexcept {
  return {head_word(kind, flags_, tick_), word1};
}

bool RunDecoder::next(PlacedSlot* out) noexcept {
  if (left_ == 0) {
    if (malformed_ == nullptr && !bytes_.at_end())
      fail("a run has bytes behind its last slot");
    return false;
  }
  if (leaf_) {
    leaf_ = false;
    tick_ += leaf_ticks_;
    out->slot = span_slot(RecordKind::kSpanEnd, leaf_word1_);
  } else {
    bool is_slot = false;
    while (!is_slot) {
      is_slot = true;
      const std::uint64_t token = bytes_.varint();
      bool fine = true;
      if ((token & 3) != kOpGeneral ||
          (token & (kIntegerBit | kContinuationToken)) == 0) {
        fine = head(token, out);
      } else if ((token & kIntegerBit) != 0) {
        out->slot = value_slot(RecordKind::kInt64, next_index_,
                               unzigzag(token >> kIntegerShift));
        next_index_ = (next_index_ + 1) & 0xff;
      } else if ((token >> kContinuationTypeShift & 7) == kTypeSpecial) {
        is_slot = false;
        fine = special(out, &is_slot);
      } else {
        fine = continuation(token, out);
      }
      if (!fine || !bytes_.ok()) {
        if (malformed_ == nullptr) fail("a run ends inside a slot");
        return false;
      }
    }
  }
  out->position = position_;
  out->tick = tick_;
  ++position_;
  --left_;
  return true;
}

bool RunDecoder::head(std::uint64_t token, PlacedSlot* out) noexcept {
  next_index_ = 0;
  const auto position = static_cast<std::uint32_t>(position_);
  switch (token & 3) {
    case kOpBegin:
    case kOpLeaf: {
      tick_ += token >> kTickShift;
      const std::uint32_t site = bytes_.varint32();
      out->slot = span_slot(RecordKind::kSpanBegin, site);
      const std::uint64_t its_end = pair_word(position, site);
      if ((token & 3) == kOpBegin) {
        stack_[depth_++ & kStackMask] = its_end;
        return true;
      }
      leaf_ticks_ = bytes_.varint();
      leaf_word1_ = its_end;
      leaf_ = true;
      if (left_ < 2) fail("a leaf has no slot left for its end");
      return malformed_ == nullptr;
    }
    case kOpEnd:
      tick_ += token >> kTickShift;
      out->slot = span_slot(RecordKind::kSpanEnd,
                            stack_[--depth_ & kStackMask]);
      return true;
    default:
      break;
  }

  tick_ += token >> kHeadShift;
  const unsigned shape = bytes_.fixed<std::uint8_t>();
  unsigned number = shape & 15;
  unsigned flags = shape >> 4;
  if (number == kShapeEscape) {
    number = bytes_.fixed<std::uint8_t>();
    flags = bytes_.fixed<std::uint8_t>();
    if ((number & kContinuationBit) != 0) {
      fail("a head has the kind of a continuation");
      return false;
    }
  }
  const auto kind = static_cast<RecordKind>(number);
  const std::uint32_t low = bytes_.varint32();
  const std::uint32_t stored = bytes_.varint32();
  const std::uint32_t high = names_begin(kind) ? position - stored : stored;
  out->slot = {head_word(kind, static_cast<std::uint8_t>(flags), tick_),
               pair_word(high, low)};
  if (kind == RecordKind::kSpanBegin) {
    stack_[depth_++ & kStackMask] = pair_word(position, low);
  } else if (kind == RecordKind::kSpanEnd) {
    for (unsigned above = 1; above <= kStackDepth; ++above) {
      if (stack_[(depth_ - above) & kStackMask] != out->slot.word1) continue;
      depth_ -= above;
      break;
    }
  }
  return true;
}

bool RunDecoder::continuation(std::uint64_t token, PlacedSlot* out) noexcept {
  const unsigned type = token >> kContinuationTypeShift & 7;
  const auto kind = static_cast<RecordKind>(
      type + static_cast<unsigned>(RecordKind::kInt64));
  if (token >> 8 != 0) {
    fail("a continuation's token has more than 8 bits");
    return false;
  }
  unsigned index = kind == RecordKind::kTextMore ? next_index_ - 1 : next_index_;
  if ((token & kExplicitIndex) != 0) index = bytes_.fixed<std::uint8_t>();
  index &= 0xff;
  next_index_ = (index + 1) & 0xff;

  std::uint64_t payload = 0;
  std::uint64_t word1 = 0;
  switch (kind) {
    case RecordKind::kInt64:
      word1 = unzigzag(bytes_.varint());
      break;
    case RecordKind::kDouble:
      word1 = bytes_.fixed<std::uint64_t>();
      break;
    case RecordKind::kText:
      payload = bytes_.varint();
      if (payload > kTickMask) {
        fail("a text of 2^48 bytes or more");
        return false;
      }
      word1 = bytes_.fixed<std::uint64_t>();
      break;
    case RecordKind::kTextMore:
      if (const std::uint8_t* bytes = bytes_.take(14); bytes != nullptr) {
        std::memcpy(&payload, bytes, 6);
        word1 = load<std::uint64_t>(bytes + 6);
      }
      break;
    default:  // kUint64, kBool, kStringId
      word1 = bytes_.varint();
      break;
  }
  out->slot = value_slot(kind, index, word1, payload);
  return true;
}

bool RunDecoder::special(PlacedSlot* out, bool* is_slot) noexcept {
  switch (static_cast<Special>(bytes_.fixed<std::uint8_t>())) {
    case Special::kRawSlot:
      out->slot.word0 = bytes_.fixed<std::uint64_t>();
      out->slot.word1 = bytes_.fixed<std::uint64_t>();
      if (bytes_.ok() && !is_continuation(out->slot)) {
        fail("a raw slot that is no continuation");
        return false;
      }
      *is_slot = true;
      return true;
    case Special::kStep:
      tick_ += unzigzag(bytes_.varint());
      return true;
    case Special::kSkip: {
      const std::uint64_t count = bytes_.varint();
      if (count >= kSidePosition ||
          (position_ & ~kSidePosition) + count + left_ >= kSidePosition) {
        fail("a position of 2^63 or more");
        return false;
      }
      position_ += count;
      skipped_inside_ += count;
      return true;
    }
  }
  fail("an unknown special token");
  return false;
}

}  // namespace weft::exporters
