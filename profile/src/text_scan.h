// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_TEXT_SCAN_H_
#define WEFT_PROFILE_SRC_TEXT_SCAN_H_

#include <cstdint>
#include <optional>

#include "inflating_reader.h"

namespace weft::profile {

struct TextScan {
  std::optional<std::uint64_t> invalid_utf8_at;  // the first byte that is not
  std::uint64_t characters = 0;                  // before `until`
};

// Looks at all that is left of the file.
TextScan scan_text(InflatingReader& reader, std::uint64_t until);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_TEXT_SCAN_H_
