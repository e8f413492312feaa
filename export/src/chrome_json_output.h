// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_CHROME_JSON_OUTPUT_H_
#define WEFT_EXPORT_SRC_CHROME_JSON_OUTPUT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "weft/result.h"

namespace weft::exporters {

// What to do with a file of that name.
enum class ExistingFile : std::uint8_t { kReplace, kRefuse };

// A file of text, plain or, if its name ends in ".gz", compressed.
//
// The first failure to write is kept, whatever is appended afterwards goes
// nowhere, and close() reports it. One thread at a time.
class JsonOutput {
 public:
  // Errors: kBusy (another program writes it), kIo.
  static Result<std::unique_ptr<JsonOutput>> create(const std::string& path,
                                                    ExistingFile existing);
  ~JsonOutput();
  JsonOutput(const JsonOutput&) = delete;
  JsonOutput& operator=(const JsonOutput&) = delete;

  // At least `bytes` of writable text; take() makes what was written part of
  // the file. The pointer is valid until the next call of any member.
  char* room(std::size_t bytes) {
    if (buffer_bytes_ - used_ < bytes) make_room(bytes);
    return buffer_.get() + used_;
  }
  void take(const char* end) noexcept {
    used_ = static_cast<std::size_t>(end - buffer_.get());
  }

  void append(std::string_view text);

  // Hands everything to the system. What was flushed can be read back even if
  // the rest of the file never comes, compressed or not.
  void flush();

  // Completes the file. Errors: kIo, the first failure of any call.
  Result<void> close();

  const std::string& path() const noexcept { return path_; }
  std::uint64_t text_bytes() const noexcept { return passed_on_ + used_; }
  std::uint64_t file_bytes() const noexcept { return file_bytes_; }
  // The first failure in words; empty: none.
  const std::string& failure() const noexcept { return failure_; }

 private:
  struct Deflater;
  enum class Flush : std::uint8_t { kNone, kBlock, kEnd };

  JsonOutput(std::string path, int file, bool compressed);
  void make_room(std::size_t bytes);
  void pass_on(Flush flush);
  void write_file(const char* bytes, std::size_t size);

  std::string path_;
  int file_;
  std::unique_ptr<Deflater> deflater_;
  std::unique_ptr<char[]> buffer_;
  std::size_t buffer_bytes_;
  std::size_t used_ = 0;
  std::uint64_t passed_on_ = 0;   // text that has left the buffer
  std::uint64_t file_bytes_ = 0;
  std::string failure_;
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_CHROME_JSON_OUTPUT_H_
