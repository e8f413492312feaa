// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_SLOT_ASSEMBLY_H_
#define WEFT_PROFILE_SRC_SLOT_ASSEMBLY_H_

#include <cstdint>
#include <functional>

#include "weft/export/decoded_record.h"
#include "weft/export/record_values.h"

namespace weft::profile {

// Puts slots as they lay in a ring together to records.
class SlotAssembly {
 public:
  void read(ThreadIndex thread, std::uint64_t position, Ticks reference,
            const Slot* slots, std::uint32_t count,
            const std::function<void(const exporters::DecodedRecord&)>& take);

 private:
  void interpret(const Slot& head, exporters::DecodedRecord& record);

  exporters::RecordValues values_;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_SLOT_ASSEMBLY_H_
