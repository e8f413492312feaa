// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_ROTATING_FILE_H_
#define WEFT_EXPORT_SRC_ROTATING_FILE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "block_sink.h"
#include "output_file.h"
#include "weft/exporter.h"
#include "weft/result.h"

namespace weft::exporters {

// Numbered files, one after the other, of which the oldest are removed.
//
// A number goes on after the highest that is there, of earlier runs as well, and
// no file that exists is ever opened: nothing is written over. What is removed
// is what `numbered_files` finds, so the bound holds across runs; but never a file
// that a process, which was given the same name, writes at the moment.
//
// When the next file cannot be opened, writes fail, and each tries again.
//
// Helper only.
class RotatingFile final : public BlockSink {
 public:
  // Opens the first file. Errors: kIo with the reason in words.
  static Result<std::unique_ptr<BlockSink>> open(const OutputOptions& options);

  Outcome write(const std::uint8_t* bytes, std::size_t size,
                int patience_ms) override;
  std::uint64_t offset() const override;
  std::uint64_t bytes_written() const override { return earlier_ + offset(); }
  std::string error() const override { return error_; }
  bool close() override;
  bool next() override;

 private:
  explicit RotatingFile(const OutputOptions& options)
      : path_(options.path), keep_bytes_(options.rotation.keep_bytes),
        part_bytes_(options.rotation.bytes) {}

  // False if there is something to tell of, by error().
  bool open_next();
  bool remove_oldest();

  const std::string path_;
  const std::uint64_t keep_bytes_;  // 0: all
  const std::uint64_t part_bytes_;  // what the file being written may take
  std::optional<OutputFile> file_;  // none: could not be opened
  std::uint64_t earlier_ = 0;       // bytes of the files before it
  std::string error_;
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_ROTATING_FILE_H_
