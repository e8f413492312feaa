// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_RECORD_ASSEMBLER_H_
#define WEFT_EXPORT_SRC_RECORD_ASSEMBLER_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "run_decoder.h"
#include "weft/export/decoded_record.h"
#include "weft/export/record_values.h"

namespace weft::exporters {

// Positions of the spans of one thread that are open, to give ends back the
// upper half of their begin's position. Time is logarithmic in their number
// even for streams made to be slow.
class OpenPositions {
 public:
  void begin(std::uint64_t position);
  // The position that has these low bits; kUnknownPosition if none is open.
  std::uint64_t find(std::uint64_t before, std::uint32_t low) const;
  void end(std::uint64_t position);

 private:
  struct Open {
    std::uint64_t position;
    bool ended;  // out of order; goes when it is on top
  };
  const Open* search(std::uint64_t position) const;

  std::vector<Open> open_;  // positions grow
};

// Puts the slots of runs together to records.
class RecordAssembler {
 public:
  void start(const RunDecoder& run);
  // The next record of the run; false at its end, and where it is malformed.
  bool next(DecodedRecord* record);
  const RunDecoder& run() const { return run_; }

  // Slots left out because they belong to no record, or to one that lacks a
  // value that its kind must have.
  std::uint64_t left_out() const { return left_out_; }

  void forget_threads() { threads_.clear(); }

 private:
  bool read_slot();
  bool interpret(const PlacedSlot& head, DecodedRecord* record);

  RunDecoder run_;
  PlacedSlot slot_;  // read, and not used yet
  bool has_slot_ = false;
  std::uint64_t left_out_ = 0;
  OpenPositions* open_ = nullptr;  // of this run's thread
  std::unordered_map<std::uint64_t, OpenPositions> threads_;

  RecordValues values_;
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_RECORD_ASSEMBLER_H_
