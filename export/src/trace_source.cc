// SPDX-License-Identifier: Apache-2.0
#include "trace_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace weft::exporters {

Result<TraceSource> TraceSource::open(const std::string& path) {
  // O_NONBLOCK: a FIFO is refused below instead of waited for.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    return Error{ErrorCode::kIo,
                 path + ": cannot be opened: " + std::strerror(errno)};
  }
  struct stat info {};
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(file);
    return Error{ErrorCode::kIo, path + ": is not a regular file"};
  }
  return TraceSource(path, file, static_cast<std::uint64_t>(info.st_size));
}

TraceSource::TraceSource(TraceSource&& other) noexcept
    : name_(std::move(other.name_)),
      file_(std::exchange(other.file_, -1)),
      data_(other.data_),
      size_(other.size_),
      buffer_(std::move(other.buffer_)) {}

TraceSource::~TraceSource() {
  if (file_ >= 0) ::close(file_);
}

const std::uint8_t* TraceSource::read(std::uint64_t offset,
                                      std::size_t count) {
  if (offset > size_ || count > size_ - offset) return nullptr;
  if (file_ < 0) return data_ + offset;
  if (buffer_.size() < count) buffer_.resize(count);
  std::size_t done = 0;
  while (done < count) {
    const ssize_t got = pread(file_, buffer_.data() + done, count - done,
                              static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return nullptr;  // shrunk, or the disk fails
    done += static_cast<std::size_t>(got);
  }
  return buffer_.data();
}

}  // namespace weft::exporters
