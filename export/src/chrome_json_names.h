// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_CHROME_JSON_NAMES_H_
#define WEFT_EXPORT_SRC_CHROME_JSON_NAMES_H_

// The part of an event's text that its site decides, made once a site.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/export/decoded_record.h"
#include "weft/export/trace_reader.h"

namespace weft::exporters {

// What an event is called.
struct EventName {
  SiteId site = SiteId::kNone;
  StringId name = StringId::kNone;  // kNone: the site's own
};

class EventNames {
 public:
  // `info` may grow afterwards, but what has an id keeps its meaning.
  explicit EventNames(const TraceInfo& info) : info_(info) {}

  // Up to and including `"ph":"` of an event: comma, line feed, name, category.
  // Valid until the next call.
  std::string_view head(EventName event);
  std::string_view head(std::string_view name, std::string_view category);

  // The name in plain text, for messages.
  std::string_view text(EventName event) const;

  // Appends the values of `record` to an object's members in `*members`.
  void append_values(const DecodedRecord& record, std::string* members);
  void append_value(const DecodedValue& value, std::string* members);
  // Appends `"key":` with a key that the object does not have yet: the second
  // "rows" is called "rows#2".
  void append_key(std::string_view key, std::string* members);
  void append_text(std::string_view text, std::string* members);

  std::uint64_t invalid_bytes() const noexcept { return invalid_bytes_; }

 private:
  std::string_view key_of(const DecodedRecord& record,
                          const DecodedValue& value, std::string* made);

  const TraceInfo& info_;
  std::vector<std::string> heads_;  // by SiteId; empty: not made yet
  std::string dynamic_;             // the last head with a dynamic name
  std::string key_;                 // scratch of append_key()
  std::uint64_t invalid_bytes_ = 0;
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_CHROME_JSON_NAMES_H_
