// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_RECORD_DRAFT_H_
#define WEFT_SRC_RECORD_DRAFT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "weft/argument.h"
#include "weft/record.h"

namespace weft::internal {

inline constexpr std::uint32_t kTextHeadBytes = 8;
inline constexpr std::uint32_t kPackedHeadBytes = 12;
inline constexpr std::uint32_t kTextMoreBytes = 14;

// A record before it has a place.
struct Draft {
  RecordKind kind = RecordKind::kNone;
  std::uint8_t flags = 0;
  bool sparse = false;        // values keep the numbers of their places
  bool ordered = false;       // the end of an arrow: the tick must not be early
  std::uint32_t promise = 0;  // slots for a later end
  std::uint64_t word1 = 0;
  const Argument* values = nullptr;
  std::size_t count = 0;
};

// The slots that the record takes, and those of each value in `each`, which has
// room for `draft.count`. Text that is too long for `limit` slots is cut: each
// value may use what the ones after it do not need as their first slot.
std::uint32_t slots_of(const Draft& draft, std::uint32_t limit,
                       std::uint32_t* each) noexcept;

inline std::uint64_t word_of(const char* text, std::size_t bytes) noexcept {
  std::uint64_t word = 0;
  if (bytes != 0) std::memcpy(&word, text, bytes);  // an empty text may be null
  return word;
}

// Writes the values of a record by `put(at, word0, word1)`, from slot 1 on.
template <class Put>
void put_values(const Draft& draft, const std::uint32_t* each, Put put) {
  std::uint32_t at = 1;
  std::uint32_t index = 0;
  for (std::size_t i = 0; i < draft.count; ++i) {
    const Argument& value = draft.values[i];
    if (!value.present()) {
      index += draft.sparse ? 1 : 0;
      continue;
    }
    const std::uint64_t low =
        std::uint64_t{index++} << 8 | static_cast<std::uint64_t>(value.type());
    const bool packed = value.type() == RecordKind::kPackedText;
    if (value.type() != RecordKind::kText && !packed) {
      put(at++, low, value.bits());
      continue;
    }
    std::string_view text = value.text();
    const std::size_t head = std::min<std::size_t>(text.size(), kTextHeadBytes);
    std::uint64_t payload = text.size() & kTickMask;
    const std::uint64_t word1 = word_of(text.data(), head);
    text.remove_prefix(head);
    if (packed) {
      const std::size_t more = std::min<std::size_t>(
          text.size(), kPackedHeadBytes - kTextHeadBytes);
      payload = (payload & 0xffff) | word_of(text.data(), more) << 16;
      text.remove_prefix(more);
    }
    put(at++, payload << 16 | low, word1);
    for (std::uint32_t more = 1; more < each[i]; ++more) {
      const std::size_t low_bytes = std::min<std::size_t>(text.size(), 6);
      const std::size_t high_bytes =
          std::min<std::size_t>(text.size() - low_bytes, 8);
      put(at++,
          word_of(text.data(), low_bytes) << 16 | (low & 0xff00) |
              static_cast<std::uint64_t>(RecordKind::kTextMore),
          word_of(text.data() + low_bytes, high_bytes));
      text.remove_prefix(low_bytes + high_bytes);
    }
  }
}

}  // namespace weft::internal

#endif  // WEFT_SRC_RECORD_DRAFT_H_
