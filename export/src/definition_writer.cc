// SPDX-License-Identifier: Apache-2.0
#include "definition_writer.h"

#include <string_view>

#include "items.h"

namespace weft::exporters {
namespace {

enum class Put { kDone, kNotReadable, kNoRoom };

}  // namespace

void DefinitionWriter::restart() {
  strings_ = {};
  sites_ = {};
  metadata_next_ = 0;
  threads_.restart();
}

template <class PutOne>
DefinitionWriter::Outcome DefinitionWriter::advance(Table& table,
                                                    std::uint32_t end,
                                                    PutOne put) {
  for (std::uint32_t i = 0; i < table.holes;) {
    switch (put(table.hole[i])) {
      case Put::kDone:
        table.hole[i] = table.hole[--table.holes];
        break;
      case Put::kNotReadable:
        ++i;
        break;
      case Put::kNoRoom:
        return Outcome::kBlockFull;
    }
  }
  for (; table.next < end; ++table.next) {
    switch (put(table.next)) {
      case Put::kDone:
        break;
      case Put::kNotReadable:
        if (table.holes == table.hole.size()) return Outcome::kWaiting;
        table.hole[table.holes++] = table.next;
        break;
      case Put::kNoRoom:
        return Outcome::kBlockFull;
    }
  }
  return Outcome::kDone;
}

DefinitionWriter::Outcome DefinitionWriter::write_strings(
    const Catalog& catalog, BlockEncoder& block) {
  return advance(strings_, catalog.string_end(), [&](std::uint32_t number) {
    std::string_view text;
    const auto id = static_cast<StringId>(number);
    if (!catalog.string(id, &text)) return Put::kNotReadable;
    return put_string(block, id, text) ? Put::kDone : Put::kNoRoom;
  });
}

DefinitionWriter::Outcome DefinitionWriter::write(const Catalog& catalog,
                                                  BlockEncoder& block) {
  // The ends of the others are read before that of the strings, so that all
  // names they use are among the strings written first.
  const std::uint32_t site_end = catalog.site_end();
  const std::uint32_t metadata_end = catalog.metadata_end();
  Outcome outcome = write_strings(catalog, block);
  if (outcome != Outcome::kDone) return outcome;

  outcome = advance(sites_, site_end, [&](std::uint32_t number) {
    SiteInfo site;
    if (!catalog.site(static_cast<SiteId>(number), &site))
      return Put::kNotReadable;
    return put_site(block, site) ? Put::kDone : Put::kNoRoom;
  });
  if (outcome != Outcome::kDone) return outcome;

  for (; metadata_next_ < metadata_end; ++metadata_next_) {
    if (!put_metadata(block, catalog.metadata(metadata_next_)))
      return Outcome::kBlockFull;
  }

  const auto put = [&](const ThreadInfo& thread) {
    return put_thread(block, thread);
  };
  if (!threads_.tell(put)) return Outcome::kBlockFull;
  // The name of a thread may be younger than the strings above.
  return write_strings(catalog, block);
}

}  // namespace weft::exporters
