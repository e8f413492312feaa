// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_DEMANGLE_H_
#define WEFT_PROFILE_SRC_DEMANGLE_H_

#include <string>

#include "weft/profile/rules.h"

namespace weft::profile {

// The C++ name behind a linker symbol; the text itself when it is none. The
// reference also takes plain words for encoded types: "Pi" is int* there.
std::string demangle(const std::string& name, Rules rules);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_DEMANGLE_H_
