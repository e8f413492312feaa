// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_OUTPUT_FILE_H_
#define WEFT_EXPORT_SRC_OUTPUT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "block_sink.h"
#include "weft/exporter.h"
#include "weft/result.h"

namespace weft::exporters {

// What blocks are written to: a regular file, a device, or a FIFO.
//
// A regular file always holds whole pieces: one that fails half way is written
// over by the next, and cut off by close(). A FIFO is opened when someone reads
// it, and never waited for without a bound.
//
// Helper only.
class OutputFile final : public BlockSink {
 public:
  // Errors: kBusy (another program writes it), kIo; both in words.
  static Result<OutputFile> open(const OutputOptions& options);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile() override;

  // Writes one piece, going on where kWaits left off. Waits at most
  // `patience_ms` for a FIFO.
  Outcome write(const std::uint8_t* bytes, std::size_t size,
                int patience_ms) override;
  // Bytes of whole pieces so far: where the next will begin.
  std::uint64_t offset() const override { return offset_; }
  // Why the last write failed.
  std::string error() const override;
  const std::string& path() const noexcept { return path_; }

  // Cuts off what a failed write left, and closes. False if the system says so.
  bool close() override;

 private:
  OutputFile(std::string path, int file, bool regular, bool fifo)
      : path_(std::move(path)), file_(file), regular_(regular), fifo_(fifo) {}

  bool open_fifo();
  bool wait_for_reader(int patience_ms) const;
  long write_some(const std::uint8_t* bytes, std::size_t size);

  std::string path_;
  int file_;  // -1: not open (yet)
  bool regular_;
  bool fifo_;
  int error_ = 0;
  std::uint64_t offset_ = 0;
  std::size_t piece_ = 0;  // written of the present piece
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_OUTPUT_FILE_H_
