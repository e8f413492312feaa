// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_NUMBERED_PATH_H_
#define WEFT_EXPORT_SRC_NUMBERED_PATH_H_

// Files of one output that are many: "dir/name.weft" stands for
// "dir/name.1.weft", "dir/name.2.weft" and so on.

#include <cstdint>
#include <string>
#include <vector>

namespace weft::exporters {

std::string numbered_path(const std::string& path, std::uint64_t number);

struct NumberedFile {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
};

// The regular files that `path` stands for, by number. Empty when the directory
// cannot be read. Cold: reads the directory.
std::vector<NumberedFile> numbered_files(const std::string& path);

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_NUMBERED_PATH_H_
