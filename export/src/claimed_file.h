// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_CLAIMED_FILE_H_
#define WEFT_EXPORT_SRC_CLAIMED_FILE_H_

#include <string>

#include "weft/result.h"

namespace weft::exporters {

// Opens `path` for writing, made if need be, with `flags` of open(2) besides.
// A regular file is claimed for as long as the descriptor is open: two programs
// that are told the same name would otherwise write into each other's file. It
// is emptied after that, or refused if it exists and `overwrite` is false.
//
// The claim is a lock of flock(2). Where a file system knows none, there is no
// claim; a child that was forked meanwhile and lives longer keeps it.
//
// Errors: kBusy (somebody else has claimed it), kIo; both in words.
Result<int> open_claimed(const std::string& path, int flags, bool overwrite);

// Whether some program has claimed the file at `path`, this one included. Cold.
bool is_claimed(const std::string& path);

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_CLAIMED_FILE_H_
