// SPDX-License-Identifier: Apache-2.0
#include "weft/export/record_values.h"

#include <algorithm>
#include <cstring>

#include "weft/internal/packed_text.h"

namespace weft::exporters {

void RecordValues::clear() noexcept {
  count_ = 0;
  text_bytes_ = 0;
}

void RecordValues::append(DecodedValue& text, const char* bytes,
                          std::size_t size) noexcept {
  const auto taken = static_cast<std::size_t>(
      std::min<std::uint64_t>(size, text.text_length - text.text.size()));
  if (text.text.empty()) text.text = {text_.data() + text_bytes_, 0};
  std::memcpy(text_.data() + text_bytes_, bytes, taken);
  text_bytes_ += taken;
  text.text = {text.text.data(), text.text.size() + taken};
}

void RecordValues::add(const Slot& slot) noexcept {
  const RecordKind kind = kind_of(slot);
  const std::uint64_t payload = payload_of(slot);
  char bytes[14];
  if (kind == RecordKind::kTextMore) {
    if (count_ == 0) return;
    DecodedValue& value = values_[count_ - 1];
    if (value.type != RecordKind::kText && value.type != RecordKind::kPackedText)
      return;
    std::memcpy(bytes, &payload, 6);
    std::memcpy(bytes + 6, &slot.word1, 8);
    return append(value, bytes, sizeof bytes);
  }
  if (kind < RecordKind::kInt64 || kind > RecordKind::kPackedText ||
      count_ == values_.size())
    return;
  DecodedValue& value = values_[count_++];
  value = {};
  value.index = flags_of(slot);
  value.type = kind;
  std::memcpy(bytes, &slot.word1, 8);
  if (kind == RecordKind::kText) {
    value.text_length = payload;
    append(value, bytes, 8);
  } else if (kind == RecordKind::kPackedText) {
    value.text_length = payload & 0xffff;
    const std::uint64_t more = payload >> 16;
    std::memcpy(bytes + 8, &more, 4);
    append(value, bytes, 12);
  } else {
    value.bits = slot.word1;
  }
}

void RecordValues::unpack() noexcept {
  std::size_t used = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    DecodedValue& value = values_[i];
    if (value.type != RecordKind::kPackedText) continue;
    const bool cut = value.text.size() < value.text_length;
    const std::size_t room = unpacked_.size() - used;
    const std::size_t size =
        internal::unpack_text(value.text, unpacked_.data() + used, room);
    value.type = RecordKind::kText;
    value.text = {unpacked_.data() + used, std::min(size, room)};
    value.text_length = size + (cut ? 1 : 0);
    used += value.text.size();
  }
}

}  // namespace weft::exporters
