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
    values_.clear();
    while (read_slot() && is_continuation(slot_.slot) &&
           slots < kMaxRecordSlots) {
      values_.add(slot_.slot);
      ++slots;
    }
    values_.unpack();
    *record = DecodedRecord();
    record->slots = slots;
    if (!is_continuation(head.slot) && interpret(head, record)) return true;
    left_out_ += slots;
  }
  return false;
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
  record->value_count = values_.size();

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
      return record->kind != RecordKind::kCounter || values_.size() != 0;
    case RecordKind::kSpanEnd:
      record->site = static_cast<SiteId>(low_of(slot));
      record->target = open_->find(head.position, high_of(slot));
      if (record->target != kUnknownPosition) open_->end(record->target);
      return true;
    case RecordKind::kArgument:
    case RecordKind::kFailure:
      record->key = static_cast<StringId>(low_of(slot));
      if ((record->flags & kFlagForeign) != 0) {
        if (values_.size() == 0) return false;
        record->target = values_.data()[--record->value_count].bits;
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
      record->target = values_.first_word();
      return values_.size() != 0;
    case RecordKind::kContext:
      record->target = values_.first_word();
      return true;
    case RecordKind::kLaunch:
      record->call = high_of(slot);
      record->target = values_.size() == 0 ? low_of(slot) : values_.first_word();
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
