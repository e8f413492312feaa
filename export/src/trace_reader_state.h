// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_TRACE_READER_STATE_H_
#define WEFT_EXPORT_SRC_TRACE_READER_STATE_H_

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "block_walker.h"
#include "items.h"
#include "record_assembler.h"
#include "trace_source.h"
#include "weft/export/trace_reader.h"

namespace weft::exporters {

struct TraceReader::State {
  explicit State(TraceSource trace_source)
      : source(std::move(trace_source)) {}

  Result<void> read_header();
  void read_definitions();
  void read_item(const ItemView& item);
  void rewind();
  bool next_run();
  bool next_block();

  TraceSource source;
  TraceInfo info;
  std::map<ThreadIndex, ThreadInfo> threads;
  std::unordered_map<std::string, std::size_t> metadata_places;
  std::vector<std::uint64_t> offsets;  // of the whole blocks
  std::uint64_t index_offset = 0;      // 0: no trailer

  // Where reading of records stands.
  std::size_t block_number = 0;  // next in `offsets`
  std::size_t reported = 0;      // blocks below it have told their problems
  BlockView block;
  ItemWalker items;
  bool in_run = false;
  Ticks base = 0;
  RecordAssembler assembler;
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_TRACE_READER_STATE_H_
