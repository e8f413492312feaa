// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_SLOT_ASSEMBLY_H_
#define WEFT_PROFILE_SRC_SLOT_ASSEMBLY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "weft/export/decoded_record.h"

namespace weft::profile {

// Puts slots as they lay in a ring together to records.
class SlotAssembly {
 public:
  void read(ThreadIndex thread, std::uint64_t position, Ticks reference,
            const Slot* slots, std::uint32_t count,
            const std::function<void(const exporters::DecodedRecord&)>& take);

 private:
  void add_value(const Slot& slot);
  void interpret(const Slot& head, exporters::DecodedRecord& record);

  std::array<exporters::DecodedValue, kMaxRecordSlots> values_{};
  std::uint32_t value_count_ = 0;
  std::array<char, kMaxRecordSlots * 14> text_{};
  std::size_t text_bytes_ = 0;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_SLOT_ASSEMBLY_H_
