// SPDX-License-Identifier: Apache-2.0
#include "output_file.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "claimed_file.h"

namespace weft::exporters {
namespace {

// A write to a pipe whose reader has gone raises SIGPIPE, which would end the
// host. Blocks it for this thread, and takes away the one that was raised.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    const int saved = errno;
    if (saved == EPIPE && !was_pending_) {
      const timespec now{};
      while (sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = saved;
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_;
};

}  // namespace

Result<OutputFile> OutputFile::open(const OutputOptions& options) {
  struct stat info {};
  if (stat(options.path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode)) {
    OutputFile fifo(options.path, -1, false, true);
    fifo.open_fifo();
    return fifo;
  }
  const Result<int> file = open_claimed(options.path, 0, options.overwrite);
  if (!file) return file.error();
  const bool regular = fstat(*file, &info) == 0 && S_ISREG(info.st_mode);
  return OutputFile(options.path, *file, regular, false);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      regular_(other.regular_),
      fifo_(other.fifo_),
      error_(other.error_),
      offset_(other.offset_),
      piece_(other.piece_) {}

OutputFile::~OutputFile() { close(); }

// Without a reader this fails, rather than wait for one.
bool OutputFile::open_fifo() {
  file_ = ::open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  return file_ >= 0;
}

bool OutputFile::wait_for_reader(int patience_ms) const {
  pollfd poller{file_, POLLOUT, 0};
  return poll(&poller, 1, patience_ms) > 0;
}

long OutputFile::write_some(const std::uint8_t* bytes, std::size_t size) {
  if (regular_) {
    return pwrite(file_, bytes, size, static_cast<off_t>(offset_ + piece_));
  }
  const WithoutSigpipe guard;
  return ::write(file_, bytes, size);
}

OutputFile::Outcome OutputFile::write(const std::uint8_t* bytes,
                                      std::size_t size, int patience_ms) {
  if (file_ < 0 && fifo_ && !open_fifo()) {
    if (errno == ENXIO) {
      error_ = ENXIO;
      return Outcome::kWaits;
    }
    error_ = errno;
    return Outcome::kFailed;
  }
  while (piece_ < size) {
    const long written = write_some(bytes + piece_, size - piece_);
    if (written > 0) {
      piece_ += static_cast<std::size_t>(written);
      continue;
    }
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      error_ = EAGAIN;
      if (wait_for_reader(patience_ms)) continue;
      return Outcome::kWaits;
    }
    // Nothing written without an error is not progress either.
    error_ = written == 0 ? EIO : errno;
    if (!regular_) offset_ += piece_;
    piece_ = 0;
    return Outcome::kFailed;
  }
  offset_ += size;
  piece_ = 0;
  return Outcome::kDone;
}

std::string OutputFile::error() const {
  if (error_ == ENXIO) return path_ + ": nobody reads it";
  if (error_ == EAGAIN) return path_ + ": its reader takes nothing";
  return path_ + ": " + std::strerror(error_);
}

bool OutputFile::close() {
  if (file_ < 0) return true;
  // Best effort: a reader also copes with what a failed write left behind.
  bool fine = !regular_ || ftruncate(file_, static_cast<off_t>(offset_)) == 0;
  if (::close(std::exchange(file_, -1)) != 0) {
    error_ = errno;
    fine = false;
  }
  return fine;
}

}  // namespace weft::exporters
