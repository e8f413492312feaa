// SPDX-License-Identifier: Apache-2.0
#include "rotating_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "claimed_file.h"
#include "numbered_path.h"

namespace weft::exporters {
namespace {

// Others may take a number between the look and the opening.
constexpr int kAttempts = 100;

}  // namespace

Result<std::unique_ptr<BlockSink>> RotatingFile::open(
    const OutputOptions& options) {
  std::unique_ptr<RotatingFile> file(new RotatingFile(options));
  // That an old file cannot be removed is no reason not to record.
  file->open_next();
  if (!file->file_) return Error{ErrorCode::kIo, file->error_};
  return std::unique_ptr<BlockSink>(std::move(file));
}

bool RotatingFile::open_next() {
  const std::vector<NumberedFile> there = numbered_files(path_);
  std::uint64_t number = there.empty() ? 1 : there.back().number + 1;
  for (int attempt = 0; attempt < kAttempts; ++attempt, ++number) {
    OutputOptions options;
    options.path = numbered_path(path_, number);
    options.overwrite = false;
    Result<OutputFile> file = OutputFile::open(options);
    if (file) {
      file_.emplace(std::move(*file));
      return remove_oldest();
    }
    error_ = file.error().message;
    if (access(options.path.c_str(), F_OK) != 0) return false;
  }
  return false;
}

// Until what is left, and the whole of what is begun, fit into the bound.
bool RotatingFile::remove_oldest() {
  if (keep_bytes_ == 0) return true;
  bool removed_all = true;
  const std::vector<NumberedFile> there = numbered_files(path_);
  std::uint64_t sum = part_bytes_;
  for (const NumberedFile& file : there) sum += file.bytes;
  for (const NumberedFile& file : there) {
    const std::string path = numbered_path(path_, file.number);
    if (sum <= keep_bytes_ || path == file_->path()) break;
    // Another process of the same output writes it.
    if (is_claimed(path)) continue;
    if (unlink(path.c_str()) != 0 && errno != ENOENT) {
      error_ = path + ": cannot be removed: " + std::strerror(errno);
      removed_all = false;
      continue;
    }
    sum -= file.bytes;
  }
  return removed_all;
}

BlockSink::Outcome RotatingFile::write(const std::uint8_t* bytes,
                                       std::size_t size, int patience_ms) {
  if (!file_) open_next();
  if (!file_) return Outcome::kFailed;
  const Outcome outcome = file_->write(bytes, size, patience_ms);
  if (outcome != Outcome::kDone) error_ = file_->error();
  return outcome;
}

std::uint64_t RotatingFile::offset() const {
  return file_ ? file_->offset() : 0;
}

bool RotatingFile::close() {
  if (!file_) return false;
  const bool closed = file_->close();
  if (!closed) error_ = file_->error();
  return closed;
}

bool RotatingFile::next() {
  earlier_ += offset();
  const bool closed = !file_ || close();
  file_.reset();
  return open_next() && closed;
}

}  // namespace weft::exporters
