// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_CHROME_JSON_SINK_H_
#define WEFT_EXPORT_SRC_CHROME_JSON_SINK_H_

// Turns the blocks of a running recorder into Chrome JSON, on the helper's
// side; the drainer's side is that of the .weft file.
//
//   blocks --> names, threads, anchors at once --> info_, line_
//      |                                             |
//      +--> waiting_ ---- until an anchor is newer --+--> writer_ --> output_
//
// Times between two anchors are exact, so a block waits for the first anchor
// that is newer than its records: 100 ms while records come. When too much
// waits the oldest is written all the same, its times extrapolated.

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "block_sink.h"
#include "block_walker.h"
#include "chrome_json_output.h"
#include "chrome_json_writer.h"
#include "file_format.h"
#include "record_assembler.h"
#include "weft/clock_line.h"
#include "weft/export/trace_reader.h"

namespace weft::exporters {

class ChromeJsonSink final : public BlockSink {
 public:
  explicit ChromeJsonSink(std::unique_ptr<JsonOutput> output);

  Outcome write(const std::uint8_t* bytes, std::size_t size,
                int patience_ms) override;
  std::uint64_t offset() const override { return offset_; }
  std::uint64_t bytes_written() const override;
  std::string error() const override;
  bool close() override;

 private:
  // 16 MiB of blocks: more than the recorder's own pool holds.
  static constexpr std::size_t kMaxWaiting = 64;
  // Pieces of the line behind which no block waits any more may go.
  static constexpr std::size_t kAnchorsKept = 1024;

  struct Waiting {
    std::vector<std::uint8_t> bytes;
    Ticks last_tick = 0;  // 0: it holds no records
  };

  void take_block(const std::uint8_t* bytes, std::size_t size);
  void learn(const ItemView& item);
  void put_thread(const ThreadInfo& thread);
  void write_waiting(std::size_t keep);
  void write_block(const Waiting& block);
  void start();

  std::unique_ptr<JsonOutput> output_;
  TraceInfo info_;
  std::unique_ptr<ClockLine> line_;
  std::unique_ptr<ChromeJsonWriter> writer_;  // null until the first records
  RecordAssembler assembler_;
  std::deque<Waiting> waiting_;
  std::uint64_t offset_ = 0;
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_CHROME_JSON_SINK_H_
