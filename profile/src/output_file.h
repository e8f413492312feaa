// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_OUTPUT_FILE_H_
#define WEFT_PROFILE_SRC_OUTPUT_FILE_H_

#include <functional>
#include <iosfwd>
#include <string>

#include "weft/result.h"

namespace weft::profile {

// Has `write` fill a file that appears at `path` when it is complete, or not at
// all. A path that ends in ".gz" is compressed.
//
// Errors: kIo  the message has path and reason
Result<void> write_file(const std::string& path,
                        const std::function<void(std::ostream&)>& write);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_OUTPUT_FILE_H_
