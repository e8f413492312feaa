// SPDX-License-Identifier: Apache-2.0
#include "record_assembler.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace weft::exporters {

void OpenPositions::begin(std::uint64_t position) {
  // Only a damaged file goes back; then what was open there is unknown.
  while (!open_.empty() && open_.back().position >= position) open_.pop_back();
  open_.push_back({position, false});
}

const OpenPositions::Open* OpenPositions::search(
    std::uint64_t position) const {
  const auto found = std::lower_bound(
      open_.begin(), open_.end(), position,
      [](const Open& open, std::uint64_t at) { return open.position < at; });
  return found != open_.end() && found->position == position ? &*found
                                                              : nullptr;
}

std::uint64_t OpenPositions::find(std::uint64_t before,
                                  std::uint32_t low) const {
  const std::uint64_t distance = static_cast<std::uint32_t>(before) - low;
  if (distance > (before & ~kSidePosition)) return kUnknownPosition;
  const Open* open = search(before - distance);
  return open != nullptr && !open->ended ? open->position : kUnknownPosition;
}

void OpenPositions::end(std::uint64_t position) {
  if (const Open* open = search(position); open != nullptr)
    open_[static_cast<std::size_t>(open - open_.data())].ended = true;
  while (!open_.empty() && open_.back().ended) open_.pop_back();
}

void RecordAssembler::start(const RunDecoder& run) {
  run_ = run;
  has_slot_ = false;
  const bool side = (run.position() & kSidePosition) != 0;
  open_ = &threads_[std::uint64_t{static_cast<std::uint32_t>(run.thread())}
                        << 1 |
                    (side ? 1u : 0u)];
}

bool RecordAssembler::read_slot() {
  has_slot_ = run_.next(&slot_);
  return has_slot_;
}

bool RecordAssembler::next(DecodedRecord* record) {
  while (has_slot_ || read_slot()) {
    const PlacedSlot head = slot_;
    std::uint32_t slots = 1;
    value_count_ = 0;
    text_bytes_ = 0;
    while (read_slot() && is_continuation(slot_.slot) &&
           slots < kMaxRecordSlots) {
      add_value(slot_.slot);
      ++slots;
    }
    *record = DecodedRecord();
    record->slots = slots;
    if (!is_continuation(head.slot) && interpret(head, record)) return true;
    left_out_ += slots;
  }
  return false;
}

void RecordAssembler::add_value(const Slot& slot) {
  const RecordKind kind = kind_of(slot);
  std::array<char, 14> bytes;
  const std::uint64_t payload = payload_of(slot);
  if (kind == RecordKind::kTextMore) {
    if (value_count_ == 0) return;
    DecodedValue& value = values_[value_count_ - 1];
    if (value.type != RecordKind::kText) return;
    std::memcpy(bytes.data(), &payload, 6);
    std::memcpy(bytes.data() + 6, &slot.word1, 8);
    const std::size_t taken = static_cast<std::size_t>(std::min<std::uint64_t>(
        bytes.size(), value.text_length - value.text.size()));
    std::memcpy(text_.data() + text_bytes_, bytes.data(), taken);
    text_bytes_ += taken;
    value.text = {value.text.data(), value.text.size() + taken};
    return;
  }
  if (kind < RecordKind::kInt64 || kind > RecordKind::kTextMore) return;
  DecodedValue& value = values_[value_count_++];
  value = {};
  value.index = flags_of(slot);
  value.type = kind;
  value.bits = slot.word1;
  if (kind == RecordKind::kText) {
    value.bits = 0;
    value.text_length = payload;
    const auto taken =
        static_cast<std::size_t>(std::min<std::uint64_t>(8, payload));
    std::memcpy(text_.data() + text_bytes_, &slot.word1, taken);
    value.text = {text_.data() + text_bytes_, taken};
    text_bytes_ += taken;
  }
}

bool RecordAssembler::interpret(const PlacedSlot& head,
                                DecodedRecord* record) {
  const Slot& slot = head.slot;
  record->thread = run_.thread();
  record->position = head.position;
  record->kind = kind_of(slot);
  record->flags = flags_of(slot);
  record->tick = head.tick;
  record->values = values_.data();
  record->value_count = value_count_;
  // What kinds with a value slot say in it.
  const auto first_word = [&] {
    return value_count_ == 0 ? 0 : values_[0].bits;
  };

  switch (record->kind) {
    case RecordKind::kSpanBegin:
    case RecordKind::kInstant:
    case RecordKind::kCounter:
    case RecordKind::kAsyncBegin:
      record->site = static_cast<SiteId>(low_of(slot));
      record->name = static_cast<StringId>(high_of(slot));
      if (record->kind == RecordKind::kSpanBegin) open_->begin(head.position);
      if (record->kind == RecordKind::kAsyncBegin)
        record->target = async_id(record->thread, head.position);
      return record->kind != RecordKind::kCounter || value_count_ != 0;
    case RecordKind::kSpanEnd:
      record->site = static_cast<SiteId>(low_of(slot));
      record->target = open_->find(head.position, high_of(slot));
      if (record->target != kUnknownPosition) open_->end(record->target);
      return true;
    case RecordKind::kArgument:
    case RecordKind::kFailure:
      record->key = static_cast<StringId>(low_of(slot));
      if ((record->flags & kFlagForeign) != 0) {
        if (value_count_ == 0) return false;
        record->target = values_[--record->value_count].bits;
      } else {
        record->target = open_->find(head.position, high_of(slot));
      }
      return record->kind == RecordKind::kFailure || record->value_count != 0;
    case RecordKind::kFlowOut:
    case RecordKind::kFlowIn:
    case RecordKind::kAsyncEnd:
    case RecordKind::kStep:
      record->site = static_cast<SiteId>(low_of(slot));
      record->name = static_cast<StringId>(high_of(slot));
      record->target = first_word();
      return value_count_ != 0;
    case RecordKind::kContext:
      record->target = first_word();
      return true;
    case RecordKind::kLaunch:
      record->call = high_of(slot);
      record->target = value_count_ == 0 ? low_of(slot) : first_word();
      return true;
    case RecordKind::kLoss:
      record->call = high_of(slot);
      record->target = low_of(slot);
      return true;
    default:
      return true;
  }
}

}  // namespace weft::exporters
