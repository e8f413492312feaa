// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_INFLATING_READER_H_
#define WEFT_PROFILE_SRC_INFLATING_READER_H_

// The bytes of a file one after the other, or a window of them at a time.
// What is compressed is told by its content: gzip, also several members in a
// row, and the first file of a ZIP are inflated, all else is taken as it is.
//
//   | slack | consumed | window()            | room | padding |
//             next_ --->           filled_ ->
//
// One byte before and kPadding bytes behind the window may always be touched.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "weft/result.h"

namespace weft::profile {

// Where a reader's bytes come from. Fills up to `size`; 0: there are no more.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual std::size_t read(char* to, std::size_t size) = 0;
  // Why the bytes ended early; empty if they did not.
  virtual std::string problem() const = 0;
};

class InflatingReader {
 public:
  static constexpr std::size_t kPadding = 64;

  // Errors: kIo
  static Result<InflatingReader> open(const std::string& path);
  // Bytes in memory, as they are; they must outlive the reader.
  static InflatingReader of_bytes(std::string_view bytes);

  static constexpr int kEnd = -1;

  // The next byte, or kEnd. peek() leaves it there.
  int peek() {
    if (next_ == filled_ && !fill()) return kEnd;
    return static_cast<unsigned char>(buffer_[next_]);
  }
  int get() {
    const int byte = peek();
    if (byte != kEnd) ++next_;
    return byte;
  }

  // The bytes at hand, as many as there is room for or the file has. They may
  // be changed. Valid until the next call of peek(), get() or window().
  struct Window {
    char* data;
    std::size_t size;
  };
  Window window();
  // At most as many as the window has.
  void consume(std::size_t count) { next_ += count; }

  // Of the next byte, in the inflated bytes.
  std::uint64_t offset() const noexcept { return before_buffer_ + next_; }
  std::string problem() const { return source_->problem(); }

 private:
  explicit InflatingReader(std::unique_ptr<ByteSource> source);
  bool fill();

  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<char[]> buffer_;
  std::size_t next_;
  std::size_t filled_;
  // What offset() adds. Wraps below zero at first, because of the slack.
  std::uint64_t before_buffer_;
  bool ended_ = false;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_INFLATING_READER_H_
