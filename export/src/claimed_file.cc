// SPDX-License-Identifier: Apache-2.0
#include "claimed_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace weft::exporters {
namespace {

constexpr mode_t kNewFileMode = 0644;

}  // namespace

Result<int> open_claimed(const std::string& path, int flags, bool overwrite) {
  const int file =
      ::open(path.c_str(),
             O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | flags |
                 (overwrite ? 0 : O_EXCL),
             kNewFileMode);
  const auto fail = [&](const char* what) {
    const int error = errno;
    if (file >= 0) ::close(file);
    return Error{ErrorCode::kIo,
                 path + ": " + what + ": " + std::strerror(error)};
  };
  if (file < 0) return fail("cannot be opened");
  struct stat info {};
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) return file;
  if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(file);
    return Error{ErrorCode::kBusy, path + ": another program writes it"};
  }
  if (info.st_size != 0 && ftruncate(file, 0) != 0)
    return fail("cannot be emptied");
  return file;
}

bool is_claimed(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  const bool claimed =
      flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  return claimed;
}

}  // namespace weft::exporters
