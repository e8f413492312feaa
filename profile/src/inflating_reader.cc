// SPDX-License-Identifier: Apache-2.0
#include "inflating_reader.h"

#include <sys/stat.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace weft::profile {
namespace {

constexpr std::size_t kBufferBytes = 256 << 10;

}  // namespace

Result<InflatingReader> InflatingReader::open(const std::string& path) {
  struct stat status {};
  errno = 0;
  gzFile file = nullptr;
  if (stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      errno = EISDIR;
    } else {
      file = gzopen(path.c_str(), "rbe");
    }
  }
  if (file == nullptr) {
    return Error{ErrorCode::kIo,
                 "cannot read " + path + ": " +
                     std::strerror(errno != 0 ? errno : ENOMEM)};
  }
  return InflatingReader(file);
}

InflatingReader::InflatingReader(gzFile_s* file)
    : file_(file), buffer_(kBufferBytes) {}

InflatingReader::InflatingReader(InflatingReader&& other) noexcept
    : file_(std::exchange(other.file_, nullptr)),
      buffer_(std::move(other.buffer_)),
      next_(other.next_),
      filled_(other.filled_),
      before_buffer_(other.before_buffer_),
      problem_(std::move(other.problem_)) {}

InflatingReader::~InflatingReader() {
  if (file_ != nullptr) gzclose_r(file_);
}

bool InflatingReader::fill() {
  if (!problem_.empty()) return false;
  before_buffer_ += filled_;
  next_ = filled_ = 0;
  const int count =
      gzread(file_, buffer_.data(), static_cast<unsigned>(buffer_.size()));
  if (count > 0) filled_ = static_cast<std::size_t>(count);
  int error = Z_OK;
  const char* text = gzerror(file_, &error);
  if (error != Z_OK && error != Z_STREAM_END) {
    problem_ = std::string("the compressed data breaks off: ") + text;
  }
  return filled_ > 0;
}

}  // namespace weft::profile
