// SPDX-License-Identifier: Apache-2.0
#include "slot_assembly.h"

#include <algorithm>
#include <cstring>

namespace weft::profile {

using exporters::DecodedRecord;

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
    values_.clear();
    std::uint32_t next = at + 1;
    for (; next < count && is_continuation(slots[next]); ++next)
      if (next - at < kMaxRecordSlots) values_.add(slots[next]);
    values_.unpack();
    record.slots = next - at;
    interpret(head, record);
    if (!is_continuation(head)) take(record);
    at = next;
  }
}

void SlotAssembly::interpret(const Slot& head, DecodedRecord& record) {
  record.values = values_.data();
  record.value_count = values_.size();
  const std::uint64_t first_word = values_.first_word();
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
      if ((record.flags & kFlagForeign) != 0 && values_.size() != 0) {
        record.target = values_.data()[--record.value_count].bits;
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
      record.target = values_.size() == 0 ? low_of(head) : first_word;
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
