// SPDX-License-Identifier: Apache-2.0
#include "slot_assembly.h"

#include <algorithm>
#include <cstring>

namespace weft::profile {

using exporters::DecodedRecord;
using exporters::DecodedValue;

void SlotAssembly::read(
    ThreadIndex thread, std::uint64_t position, Ticks reference,
    const Slot* slots, std::uint32_t count,
    const std::function<void(const DecodedRecord&)>& take) {
  for (std::uint32_t at = 0; at < count;) {
    const Slot& head = slots[at];
    DecodedRecord record;
    record.thread = thread;
    record.position = position + at;
    record.kind = kind_of(head);
    record.flags = flags_of(head);
    record.tick = unwrap_tick(payload_of(head), reference);
    value_count_ = 0;
    text_bytes_ = 0;
    std::uint32_t next = at + 1;
    for (; next < count && is_continuation(slots[next]); ++next)
      if (next - at < kMaxRecordSlots) add_value(slots[next]);
    record.slots = next - at;
    interpret(head, record);
    if (!is_continuation(head)) take(record);
    at = next;
  }
}

void SlotAssembly::add_value(const Slot& slot) {
  const RecordKind kind = kind_of(slot);
  const std::uint64_t payload = payload_of(slot);
  if (kind == RecordKind::kTextMore) {
    if (value_count_ == 0) return;
    DecodedValue& value = values_[value_count_ - 1];
    char bytes[14];
    std::memcpy(bytes, &payload, 6);
    std::memcpy(bytes + 6, &slot.word1, 8);
    const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(
        sizeof bytes, value.text_length - value.text.size()));
    std::memcpy(text_.data() + text_bytes_, bytes, taken);
    text_bytes_ += taken;
    value.text = {value.text.data(), value.text.size() + taken};
    return;
  }
  DecodedValue& value = values_[value_count_++];
  value = {};
  value.index = flags_of(slot);
  value.type = kind;
  if (kind != RecordKind::kText) {
    value.bits = slot.word1;
    return;
  }
  value.text_length = payload;
  const auto taken =
      static_cast<std::size_t>(std::min<std::uint64_t>(8, payload));
  std::memcpy(text_.data() + text_bytes_, &slot.word1, taken);
  value.text = {text_.data() + text_bytes_, taken};
  text_bytes_ += taken;
}

void SlotAssembly::interpret(const Slot& head, DecodedRecord& record) {
  record.values = values_.data();
  record.value_count = value_count_;
  const std::uint64_t first_word = value_count_ == 0 ? 0 : values_[0].bits;
  // The youngest position before this one with the low bits that are there.
  const auto begin = [&] {
    const auto low = static_cast<std::uint32_t>(record.position);
    return record.position - static_cast<std::uint32_t>(low - high_of(head));
  };
  switch (record.kind) {
    case RecordKind::kSpanBegin:
    case RecordKind::kInstant:
    case RecordKind::kCounter:
    case RecordKind::kAsyncBegin:
      record.site = static_cast<SiteId>(low_of(head));
      record.name = static_cast<StringId>(high_of(head));
      if (record.kind == RecordKind::kAsyncBegin)
        record.target = async_id(record.thread, record.position);
      return;
    case RecordKind::kSpanEnd:
      record.site = static_cast<SiteId>(low_of(head));
      record.target = begin();
      return;
    case RecordKind::kArgument:
    case RecordKind::kFailure:
      record.key = static_cast<StringId>(low_of(head));
      if ((record.flags & kFlagForeign) != 0 && value_count_ != 0) {
        record.target = values_[--record.value_count].bits;
      } else {
        record.target = begin();
      }
      return;
    case RecordKind::kFlowOut:
    case RecordKind::kFlowIn:
    case RecordKind::kAsyncEnd:
    case RecordKind::kStep:
      record.site = static_cast<SiteId>(low_of(head));
      record.target = first_word;
      return;
    case RecordKind::kContext:
      record.target = first_word;
      return;
    case RecordKind::kLaunch:
      record.call = high_of(head);
      record.target = value_count_ == 0 ? low_of(head) : first_word;
      return;
    case RecordKind::kLoss:
      record.call = high_of(head);
      record.target = low_of(head);
      return;
    default:
      return;
  }
}

}  // namespace weft::profile
