// SPDX-License-Identifier: Apache-2.0
#include "output_file.h"

#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <ostream>
#include <streambuf>

namespace weft::profile {
namespace {

// Compresses what a stream writes. A failed write sets the stream's badbit.
class GzipBuffer : public std::streambuf {
 public:
  explicit GzipBuffer(const std::string& path)
      : file_(gzopen(path.c_str(), "wbe")) {
    setp(buffer_.data(), buffer_.data() + buffer_.size());
  }
  ~GzipBuffer() override { close(); }
  GzipBuffer(const GzipBuffer&) = delete;
  GzipBuffer& operator=(const GzipBuffer&) = delete;

  bool is_open() const noexcept { return file_ != nullptr; }
  bool close() {
    if (file_ == nullptr) return false;
    const bool flushed = flush_buffer();
    const bool closed = gzclose(file_) == Z_OK;
    file_ = nullptr;
    return flushed && closed;
  }

 protected:
  int_type overflow(int_type c) override {
    if (!flush_buffer()) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) {
      *pptr() = traits_type::to_char_type(c);
      pbump(1);
    }
    return traits_type::not_eof(c);
  }
  int sync() override { return flush_buffer() ? 0 : -1; }

 private:
  bool flush_buffer() {
    const auto size = static_cast<unsigned>(pptr() - pbase());
    const bool written = size == 0 || gzwrite(file_, pbase(), size) > 0;
    setp(buffer_.data(), buffer_.data() + buffer_.size());
    return written;
  }

  gzFile file_;
  std::array<char, 1 << 16> buffer_;
};

bool ends_with(const std::string& text, const char* suffix) {
  const std::size_t length = std::strlen(suffix);
  return text.size() >= length &&
         text.compare(text.size() - length, length, suffix) == 0;
}

bool write_plain(const std::string& path,
                 const std::function<void(std::ostream&)>& write) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (!out) return false;
  write(out);
  out.close();
  return !out.fail();
}

bool write_gzip(const std::string& path,
                const std::function<void(std::ostream&)>& write) {
  GzipBuffer buffer(path);
  if (!buffer.is_open()) return false;
  std::ostream out(&buffer);
  write(out);
  const bool good = out.good();
  return buffer.close() && good;
}

}  // namespace

Result<void> write_file(const std::string& path,
                        const std::function<void(std::ostream&)>& write) {
  const std::string partial = path + ".tmp." + std::to_string(getpid());
  errno = 0;
  const bool written = ends_with(path, ".gz") ? write_gzip(partial, write)
                                              : write_plain(partial, write);
  if (written && std::rename(partial.c_str(), path.c_str()) == 0) return {};
  const int reason = errno;
  std::remove(partial.c_str());
  return Error{ErrorCode::kIo, "cannot write " + path + ": " +
                                   (reason != 0 ? std::strerror(reason)
                                                : "the write was cut short")};
}

}  // namespace weft::profile
