// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_INFLATING_READER_H_
#define WEFT_PROFILE_SRC_INFLATING_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "weft/result.h"

struct gzFile_s;

namespace weft::profile {

// The bytes of a file one after the other, inflated if it is gzip.
class InflatingReader {
 public:
  // Errors: kIo
  static Result<InflatingReader> open(const std::string& path);
  ~InflatingReader();
  InflatingReader(InflatingReader&& other) noexcept;
  InflatingReader& operator=(InflatingReader&&) = delete;

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
  std::uint64_t offset() const noexcept { return before_buffer_ + next_; }
  // Why the bytes ended early; empty if they did not.
  const std::string& problem() const noexcept { return problem_; }

 private:
  explicit InflatingReader(gzFile_s* file);
  bool fill();

  gzFile_s* file_;
  std::vector<char> buffer_;
  std::size_t next_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t before_buffer_ = 0;
  std::string problem_;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_INFLATING_READER_H_
