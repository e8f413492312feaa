// SPDX-License-Identifier: Apache-2.0
#include "chrome_json_output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "claimed_file.h"

namespace weft::exporters {
namespace {

constexpr std::size_t kBufferBytes = 256u << 10;
constexpr std::size_t kDeflatedBytes = 64u << 10;

// Level 1 keeps up with the formatter better than 6 does, and JSON this
// repetitive shrinks fifteenfold all the same.
constexpr int kDeflateLevel = Z_BEST_SPEED;
constexpr int kGzipWindow = 15 + 16;  // zlib: 16 asks for a gzip header
constexpr int kDeflateMemory = 8;

std::string in_words(int error) {
  return std::generic_category().message(error);
}

// Waits until whoever reads a FIFO has taken something, but not for ever: the
// program that is traced may be waiting for its end.
bool has_reader(int file) {
  constexpr int kPatienceMs = 2000;
  pollfd poll_file{file, POLLOUT, 0};
  return ::poll(&poll_file, 1, kPatienceMs) > 0;
}

}  // namespace

struct JsonOutput::Deflater {
  z_stream stream{};
  std::unique_ptr<char[]> out{new char[kDeflatedBytes]};
  bool ready = false;

  Deflater() {
    ready = deflateInit2(&stream, kDeflateLevel, Z_DEFLATED, kGzipWindow,
                         kDeflateMemory, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~Deflater() {
    if (ready) deflateEnd(&stream);
  }
};

Result<std::unique_ptr<JsonOutput>> JsonOutput::create(const std::string& path,
                                                       ExistingFile existing) {
  const Result<int> file = open_claimed(path, O_NONBLOCK,
                                        existing == ExistingFile::kReplace);
  if (!file) return file.error();
  const bool compressed = std::string_view(path).ends_with(".gz");
  std::unique_ptr<JsonOutput> output(new JsonOutput(path, *file, compressed));
  if (output->deflater_ && !output->deflater_->ready)
    return Error{ErrorCode::kOutOfMemory, path + ": no memory for compression"};
  return output;
}

JsonOutput::JsonOutput(std::string path, int file, bool compressed)
    : path_(std::move(path)),
      file_(file),
      deflater_(compressed ? std::make_unique<Deflater>() : nullptr),
      buffer_(new char[kBufferBytes]),
      buffer_bytes_(kBufferBytes) {}

JsonOutput::~JsonOutput() {
  if (file_ >= 0) ::close(file_);
}

void JsonOutput::append(std::string_view text) {
  char* to = room(text.size());
  take(to + text.copy(to, text.size()));
}

void JsonOutput::make_room(std::size_t bytes) {
  pass_on(Flush::kNone);
  if (buffer_bytes_ >= bytes) return;
  buffer_.reset(new char[bytes]);  // one text larger than the whole buffer
  buffer_bytes_ = bytes;
}

void JsonOutput::flush() { pass_on(Flush::kBlock); }

Result<void> JsonOutput::close() {
  pass_on(Flush::kEnd);
  if (file_ >= 0 && ::close(std::exchange(file_, -1)) != 0 && failure_.empty())
    failure_ = path_ + ": " + in_words(errno);
  if (!failure_.empty()) return Error{ErrorCode::kIo, failure_};
  return {};
}

void JsonOutput::pass_on(Flush flush) {
  const std::size_t size = std::exchange(used_, 0);
  passed_on_ += size;
  if (!deflater_) return write_file(buffer_.get(), size);
  // A full flush starts afresh on a byte boundary: what stands before it in
  // the file can be read whatever becomes of the rest.
  const int how = flush == Flush::kEnd     ? Z_FINISH
                  : flush == Flush::kBlock ? Z_FULL_FLUSH
                                           : Z_NO_FLUSH;
  z_stream& stream = deflater_->stream;
  stream.next_in = reinterpret_cast<Bytef*>(buffer_.get());
  stream.avail_in = static_cast<uInt>(size);
  do {
    stream.next_out = reinterpret_cast<Bytef*>(deflater_->out.get());
    stream.avail_out = kDeflatedBytes;
    deflate(&stream, how);
    write_file(deflater_->out.get(), kDeflatedBytes - stream.avail_out);
  } while (stream.avail_out == 0);
}

void JsonOutput::write_file(const char* bytes, std::size_t size) {
  while (size > 0 && failure_.empty()) {
    const ssize_t written = ::write(file_, bytes, size);
    if (written < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN && has_reader(file_)) continue;
      failure_ = path_ + ": cannot be written after byte " +
                 std::to_string(file_bytes_) + ": " + in_words(errno);
      return;
    }
    bytes += written;
    size -= static_cast<std::size_t>(written);
    file_bytes_ += static_cast<std::uint64_t>(written);
  }
}

}  // namespace weft::exporters
