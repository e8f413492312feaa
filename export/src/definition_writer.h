// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_DEFINITION_WRITER_H_
#define WEFT_EXPORT_SRC_DEFINITION_WRITER_H_

#include <array>
#include <cstdint>

#include "block_encoder.h"
#include "thread_book.h"
#include "weft/catalog.h"

namespace weft::exporters {

// Writes what the catalog has learnt since the last call.
//
// Ids that cannot be read yet are remembered and tried again; while too many of
// them wait, later ids wait behind them.
//
// Drainer only. Allocates as threads come, not with records.
class DefinitionWriter {
 public:
  enum class Outcome { kDone, kBlockFull, kWaiting };

  DefinitionWriter() = default;
  explicit DefinitionWriter(std::size_t max_exited_threads)
      : threads_(max_exited_threads) {}

  // Takes what the catalog will not say again. To be called at every define(),
  // whether there is room to write or not.
  void note(const Catalog& catalog) { threads_.note(catalog); }

  // kBlockFull: go on with another block. kWaiting: some ids wait behind too
  // many that cannot be read.
  Outcome write(const Catalog& catalog, BlockEncoder& block);

  // All of it again from the next call on: what was written may be lost.
  void restart();

 private:
  // Ids of one table that were met and could not be read.
  struct Table {
    std::uint32_t next = 1;
    std::uint32_t holes = 0;
    std::array<std::uint32_t, 256> hole{};
  };

  template <class PutOne>
  Outcome advance(Table& table, std::uint32_t end, PutOne put);
  Outcome write_strings(const Catalog& catalog, BlockEncoder& block);

  Table strings_;
  Table sites_;
  ThreadBook threads_;
  std::uint32_t metadata_next_ = 0;
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_DEFINITION_WRITER_H_
