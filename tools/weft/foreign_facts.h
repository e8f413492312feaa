// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_FOREIGN_FACTS_H_
#define WEFT_TOOLS_WEFT_FOREIGN_FACTS_H_

// What `weft info` tells of files that other tools wrote. The keys of the JSON
// are named in units: _us exact decimal microseconds as text, _ns integers.

#include <string>

#include "file_digest.h"
#include "json_writer.h"
#include "weft/profile/chrome_facts.h"
#include "weft/profile/database_facts.h"

namespace weft::tools {

std::string chrome_facts_json(const FileDigest& digest,
                              const ChromeFacts& facts);
std::string chrome_facts_text(const std::string& path,
                              const FileDigest& digest,
                              const ChromeFacts& facts);
std::string database_facts_json(const FileDigest& digest,
                                const DatabaseFacts& facts);
std::string database_facts_text(const std::string& path,
                                const FileDigest& digest,
                                const DatabaseFacts& facts);

// Members of the object at hand.
void write_digest(JsonWriter& json, const FileDigest& digest);
void write_pytorch(JsonWriter& json, const PytorchFacts& facts);
// [["name", 3], ...]
void write_counts(JsonWriter& json, const char* key,
                  const std::vector<NameCount>& counts);
template <class Map>
void write_map(JsonWriter& json, const char* key, const Map& map) {
  json.open_object(key);
  for (const auto& [name, value] : map) json.member(name, value);
  json.close();
}

// Exact: 1500 ns is "1.5".
std::string microseconds_text(std::int64_t ns);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_FOREIGN_FACTS_H_
