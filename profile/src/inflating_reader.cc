// SPDX-License-Identifier: Apache-2.0
#include "inflating_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace weft::profile {
namespace {

constexpr std::size_t kWindowBytes = 1 << 20;
constexpr std::size_t kSlack = 64;
constexpr std::size_t kInputBytes = 64 << 10;

class File {
 public:
  explicit File(int number) : number_(number) {}
  ~File() { close(number_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::size_t read(char* to, std::size_t size) {
    ssize_t count = 0;
    do {
      count = ::read(number_, to, size);
    } while (count < 0 && errno == EINTR);
    if (count >= 0) return static_cast<std::size_t>(count);
    problem_ = std::string("reading fails: ") + std::strerror(errno);
    return 0;
  }
  const std::string& problem() const noexcept { return problem_; }

 private:
  const int number_;
  std::string problem_;
};

class PlainSource : public ByteSource {
 public:
  PlainSource(std::unique_ptr<File> file, std::string_view first)
      : file_(std::move(file)), first_(first) {}

  std::size_t read(char* to, std::size_t size) override {
    if (first_.empty()) return file_->read(to, size);
    const std::size_t count = std::min(size, first_.size());
    std::memcpy(to, first_.data(), count);
    first_.erase(0, count);
    return count;
  }
  std::string problem() const override { return file_->problem(); }

 private:
  std::unique_ptr<File> file_;
  std::string first_;  // bytes that were read to see what the file is
};

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}

  std::size_t read(char* to, std::size_t size) override {
    const std::size_t count = std::min(size, bytes_.size());
    std::memcpy(to, bytes_.data(), count);
    bytes_.remove_prefix(count);
    return count;
  }
  std::string problem() const override { return {}; }

 private:
  std::string_view bytes_;
};

// Inflates gzip members one after the other, or one raw stream.
class InflatingSource : public ByteSource {
 public:
  static constexpr int kGzip = 15 + 16;
  static constexpr int kRaw = -15;

  InflatingSource(std::unique_ptr<File> file, std::string_view first,
                  int window_bits)
      : file_(std::move(file)),
        repeats_(window_bits == kGzip),
        input_(std::max(kInputBytes, first.size())) {
    std::memcpy(input_.data(), first.data(), first.size());
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(first.size());
    if (inflateInit2(&stream_, window_bits) != Z_OK) end("no memory");
  }
  ~InflatingSource() override { inflateEnd(&stream_); }

  std::size_t read(char* to, std::size_t size) override {
    constexpr std::size_t kMost = std::size_t{1} << 30;
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(std::min(size, kMost));
    while (!ended_ && stream_.avail_out > 0) step();
    return std::min(size, kMost) - stream_.avail_out;
  }
  std::string problem() const override {
    return problem_.empty() ? file_->problem() : problem_;
  }

 private:
  void end(const std::string& why) {
    ended_ = true;
    if (!why.empty()) problem_ = "the compressed data breaks off: " + why;
  }

  void step() {
    if (stream_.avail_in == 0) {
      const std::size_t count = file_->read(input_.data(), input_.size());
      stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
      stream_.avail_in = static_cast<uInt>(count);
      if (count == 0) return end(between_ ? "" : "unexpected end of file");
    }
    if (between_) {
      // After a member another one, or padding that nobody needs.
      constexpr Bytef kGzipByte = 0x1f;
      if (!repeats_ || *stream_.next_in != kGzipByte) return end("");
      inflateReset(&stream_);
      between_ = false;
    }
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      between_ = true;
      if (!repeats_) end("");
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      end(stream_.msg != nullptr ? stream_.msg : "bad data");
    }
  }

  std::unique_ptr<File> file_;
  const bool repeats_;
  std::vector<char> input_;
  z_stream stream_{};
  bool between_ = false;
  bool ended_ = false;
  std::string problem_;
};

std::uint32_t little_endian(std::string_view bytes, std::size_t at,
                            std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    value |= std::uint32_t{static_cast<std::uint8_t>(bytes[at + i])} << (8 * i);
  }
  return value;
}

constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kZipMagic = "PK\x03\x04";

// What stands before the data of a ZIP's first file, and how it is packed.
struct ZipEntry {
  std::size_t header_bytes;
  std::uint32_t method;
};
ZipEntry zip_entry(std::string_view begin) {
  constexpr std::size_t kFixedBytes = 30;
  if (begin.size() < kFixedBytes) return {begin.size(), 0};
  return {kFixedBytes + little_endian(begin, 26, 2) +
              little_endian(begin, 28, 2),
          little_endian(begin, 8, 2)};
}

std::unique_ptr<ByteSource> source_of(std::unique_ptr<File> file) {
  // Enough for the longest header of a ZIP.
  constexpr std::size_t kMost = std::size_t{1} << 18;
  const std::unique_ptr<char[]> first(new char[kMost]);
  std::size_t size = 0;
  while (size < kMost) {
    const std::size_t count = file->read(first.get() + size, kMost - size);
    if (count == 0) break;
    size += count;
  }
  const std::string_view begin(first.get(), size);
  if (begin.substr(0, 2) == kGzipMagic) {
    return std::make_unique<InflatingSource>(std::move(file), begin,
                                             InflatingSource::kGzip);
  }
  constexpr std::uint32_t kDeflated = 8;
  const ZipEntry entry = zip_entry(begin);
  if (begin.substr(0, 4) == kZipMagic && entry.method == kDeflated &&
      entry.header_bytes < begin.size()) {
    return std::make_unique<InflatingSource>(std::move(file),
                                             begin.substr(entry.header_bytes),
                                             InflatingSource::kRaw);
  }
  return std::make_unique<PlainSource>(std::move(file), begin);
}

}  // namespace

Result<InflatingReader> InflatingReader::open(const std::string& path) {
  struct stat status {};
  const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  int error = number < 0 ? errno : 0;
  if (error == 0 && fstat(number, &status) == 0 && S_ISDIR(status.st_mode)) {
    close(number);
    error = EISDIR;
  }
  if (error != 0) {
    return Error{ErrorCode::kIo,
                 "cannot read " + path + ": " + std::strerror(error)};
  }
  return InflatingReader(source_of(std::make_unique<File>(number)));
}

InflatingReader InflatingReader::of_bytes(std::string_view bytes) {
  return InflatingReader(std::make_unique<MemorySource>(bytes));
}

InflatingReader::InflatingReader(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)),
      buffer_(new char[kSlack + kWindowBytes + kPadding]),
      next_(kSlack),
      filled_(kSlack),
      before_buffer_(0 - std::uint64_t{kSlack}) {}

bool InflatingReader::fill() {
  if (ended_) return false;
  const std::size_t left = filled_ - next_;
  std::memmove(buffer_.get() + kSlack, buffer_.get() + next_, left);
  before_buffer_ += next_ - kSlack;
  next_ = kSlack;
  filled_ = kSlack + left;
  const std::size_t end = kSlack + kWindowBytes;
  while (filled_ < end && !ended_) {
    const std::size_t count =
        source_->read(buffer_.get() + filled_, end - filled_);
    ended_ = count == 0;
    filled_ += count;
  }
  return next_ < filled_;
}

InflatingReader::Window InflatingReader::window() {
  // Moving a large rest about for a few bytes more does not pay.
  if (filled_ - next_ < kWindowBytes / 8) fill();
  return {buffer_.get() + next_, filled_ - next_};
}

}  // namespace weft::profile
