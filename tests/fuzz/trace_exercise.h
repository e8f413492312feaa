// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_FUZZ_TRACE_EXERCISE_H_
#define WEFT_TESTS_FUZZ_TRACE_EXERCISE_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "checksum.h"
#include "file_format.h"
#include "varint.h"
#include "weft/export/trace_reader.h"

namespace weft::exporters {

// Makes the checksums right, so that mutations reach what lies behind them.
inline void reseal_blocks(std::vector<std::uint8_t>* bytes) {
  std::size_t at = sizeof(FileHeader);
  while (at + sizeof(BlockHeader) <= bytes->size()) {
    auto header = load<BlockHeader>(bytes->data() + at);
    const std::size_t left = bytes->size() - at - sizeof header;
    if (header.magic != kBlockMagic || header.content_bytes > left) return;
    header.content_hash =
        checksum(bytes->data() + at + sizeof header, header.content_bytes);
    header.header_hash = checksum(&header, offsetof(BlockHeader, header_hash));
    store(bytes->data() + at, header);
    at += sizeof header + header.content_bytes;
  }
}

// Reads everything there is, and touches what was read.
inline void exercise(const std::uint8_t* data, std::size_t size) {
  auto reader = TraceReader::open_bytes(data, size);
  if (!reader) return;
  const TraceInfo& info = reader->info();
  std::uint64_t records = 0;
  std::uint64_t seen = 0;
  DecodedRecord record;
  while (reader->next(&record)) {
    ++records;
    seen += info.name_of(record).size() + record.target;
    for (std::uint32_t i = 0; i < record.value_count; ++i) {
      for (const char letter : record.values[i].text)
        seen += static_cast<unsigned char>(letter);
    }
  }
  // A record takes at least a byte.
  if (records > size) std::abort();
  reader->rewind();
  while (reader->next(&record)) --records;
  if (records != 0) std::abort();
  check_trace(*reader);
  [[maybe_unused]] static volatile std::uint64_t sink;
  sink = seen;
}

}  // namespace weft::exporters

#endif  // WEFT_TESTS_FUZZ_TRACE_EXERCISE_H_
