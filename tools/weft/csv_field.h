// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_CSV_FIELD_H_
#define WEFT_TOOLS_WEFT_CSV_FIELD_H_

#include <string>
#include <string_view>

namespace weft::tools {

// RFC 4180. Names stay as they are: readers of CSV are no terminals.
inline std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos)
    return std::string(text);
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_CSV_FIELD_H_
