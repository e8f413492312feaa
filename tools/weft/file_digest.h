// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_FILE_DIGEST_H_
#define WEFT_TOOLS_WEFT_FILE_DIGEST_H_

#include <cstdint>
#include <string>

#include "weft/result.h"

namespace weft::tools {

struct FileDigest {
  std::uint64_t bytes = 0;
  std::string sha256;  // in hexadecimal digits
};

// Errors: kIo
Result<FileDigest> digest_of(const std::string& path);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_FILE_DIGEST_H_
