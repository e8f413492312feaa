// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_BLOCK_SINK_H_
#define WEFT_EXPORT_SRC_BLOCK_SINK_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft::exporters {

// Where the helper's side of an exporter puts the pieces of a .weft file: its
// header, then whole blocks, then its trailer. Helper only; may block.
class BlockSink {
 public:
  enum class Outcome {
    kDone,    // all of it was taken
    kWaits,   // nobody takes it now: call again with the same bytes
    kFailed,  // error() says why; these bytes are given up
  };

  virtual ~BlockSink() = default;

  // Takes one piece, or waits at most `patience_ms` for whoever reads it.
  virtual Outcome write(const std::uint8_t* bytes, std::size_t size,
                        int patience_ms) = 0;
  // Bytes of whole pieces so far: where the next will begin.
  virtual std::uint64_t offset() const = 0;
  // Bytes that reached the output.
  virtual std::uint64_t bytes_written() const { return offset(); }
  // Why the last write failed.
  virtual std::string error() const = 0;
  // Completes the output. False if that failed.
  virtual bool close() = 0;
  // Completes the output and begins another, at offset 0. False if there is
  // something to tell of, by error(); what is written from then on goes to the
  // new one all the same, or fails. Only for sinks of several files.
  virtual bool next() { return false; }
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_BLOCK_SINK_H_
