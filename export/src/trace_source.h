// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_TRACE_SOURCE_H_
#define WEFT_EXPORT_SRC_TRACE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "weft/result.h"

namespace weft::exporters {

// The bytes of a trace, in memory or in a file that is read piece by piece. Not
// mapped: a file that somebody truncates meanwhile would raise SIGBUS.
class TraceSource {
 public:
  // Errors: kIo.
  static Result<TraceSource> open(const std::string& path);
  TraceSource(const std::uint8_t* data, std::size_t size)
      : data_(data), size_(size) {}

  TraceSource(TraceSource&& other) noexcept;
  TraceSource& operator=(TraceSource&&) = delete;
  ~TraceSource();

  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }

  // `count` bytes from `offset` on; null if they are not there. Valid until
  // the next call.
  const std::uint8_t* read(std::uint64_t offset, std::size_t count);

 private:
  TraceSource(std::string name, int file, std::uint64_t size)
      : name_(std::move(name)), file_(file), size_(size) {}

  std::string name_ = "the bytes given";
  int file_ = -1;
  const std::uint8_t* data_ = nullptr;
  std::uint64_t size_ = 0;
  std::vector<std::uint8_t> buffer_;
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_TRACE_SOURCE_H_
