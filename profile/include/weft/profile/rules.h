// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_RULES_H_
#define WEFT_PROFILE_RULES_H_

#include <cstdint>

namespace weft {

// Which rules turn records into rows. kReference is PyTorch 2.2.2 with its
// known defects, for comparing figures with those it printed; DESIGN.md lists
// the differences.
enum class Rules : std::uint8_t { kWeft, kReference };

}  // namespace weft

#endif  // WEFT_PROFILE_RULES_H_
