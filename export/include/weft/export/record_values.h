// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_RECORD_VALUES_H_
#define WEFT_EXPORT_RECORD_VALUES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "weft/export/decoded_record.h"
#include "weft/internal/api.h"
#include "weft/record.h"

namespace weft::exporters {

// Puts the values of one record together, from its continuation slots. Whatever
// the slots say, nothing is read or written beyond what is here.
class WEFT_API RecordValues {
 public:
  void clear() noexcept;
  // In order, kMaxRecordSlots at most.
  void add(const Slot& slot) noexcept;
  // After the last: texts that were packed are text like any other.
  void unpack() noexcept;

  // Valid until clear().
  const DecodedValue* data() const noexcept { return values_.data(); }
  std::uint32_t size() const noexcept { return count_; }
  std::uint64_t first_word() const noexcept {
    return count_ == 0 ? 0 : values_[0].bits;
  }

 private:
  void append(DecodedValue& text, const char* bytes, std::size_t size) noexcept;

  std::array<DecodedValue, kMaxRecordSlots> values_{};
  std::uint32_t count_ = 0;
  std::array<char, kMaxRecordSlots * 14> text_{};
  std::size_t text_bytes_ = 0;
  // A record of weft's own has one such text, of at most 800 bytes.
  std::array<char, 1024> unpacked_{};
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_RECORD_VALUES_H_
