// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_JSON_TEXT_H_
#define WEFT_PROFILE_SRC_JSON_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::profile {

// Bytes of the valid UTF-8 sequence that begins `text`, which is not empty; 0
// if there is none.
std::size_t utf8_length(std::string_view text);

// `text` as a JSON string with its quotes. Valid UTF-8 passes; each byte that
// is not becomes U+FFFD.
std::string json_string(std::string_view text);

// JSON text without what tools write that JSON does not allow: bytes and
// escapes in strings are escaped or replaced by U+FFFD, commas before a closing
// bracket are left out.
struct RepairedJson {
  std::string text;
  bool left_out_commas = false;
};
RepairedJson repaired_json(std::string_view json);

// Microseconds as a JSON number, exact, without needless zeros: 1500 ns is
// "1.5".
std::string json_microseconds(std::int64_t ns);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_JSON_TEXT_H_
