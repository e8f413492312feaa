// SPDX-License-Identifier: Apache-2.0
#include "record_draft.h"

namespace weft::internal {
namespace {

std::uint32_t slots_of(const Argument& value, std::uint32_t room) noexcept {
  if (!value.present()) return 0;
  const bool packed = value.type() == RecordKind::kPackedText;
  if (value.type() != RecordKind::kText && !packed) return 1;
  const std::uint64_t bytes = value.bits();
  const std::uint32_t head = packed ? kPackedHeadBytes : kTextHeadBytes;
  if (bytes <= head) return 1;
  const std::uint64_t more =
      (bytes - head + kTextMoreBytes - 1) / kTextMoreBytes;
  return 1 + static_cast<std::uint32_t>(
                 std::min<std::uint64_t>(more, room - 1));
}

}  // namespace

std::uint32_t slots_of(const Draft& draft, std::uint32_t limit,
                       std::uint32_t* each) noexcept {
  std::uint32_t room = limit - 1;
  std::uint32_t left = 0;
  for (std::size_t i = 0; i < draft.count; ++i)
    left += draft.values[i].present() ? 1 : 0;
  for (std::size_t i = 0; i < draft.count; ++i) {
    if (draft.values[i].present()) --left;
    each[i] = slots_of(draft.values[i], room - left);
    room -= each[i];
  }
  return limit - room;
}

}  // namespace weft::internal
