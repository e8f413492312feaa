// SPDX-License-Identifier: Apache-2.0
#include "text_scan.h"

#include <algorithm>
#include <string_view>

#include "json_text.h"

namespace weft::profile {

TextScan scan_text(InflatingReader& reader, std::uint64_t until) {
  constexpr std::size_t kLongestSequence = 4;
  TextScan scan;
  for (;;) {
    const InflatingReader::Window window = reader.window();
    if (window.size == 0) return scan;
    const std::uint64_t offset = reader.offset();
    const std::string_view text(window.data, window.size);
    // A sequence at the window's end may go on behind it.
    const std::size_t enough =
        window.size > kLongestSequence ? window.size - kLongestSequence + 1
                                       : window.size;
    std::size_t at = 0;
    while (at < enough) {
      const std::size_t length = utf8_length(text.substr(at));
      if (length == 0 && !scan.invalid_utf8_at) {
        scan.invalid_utf8_at = offset + at;
      }
      if (offset + at < until) ++scan.characters;
      at += std::max<std::size_t>(1, length);
    }
    reader.consume(at);
  }
}

}  // namespace weft::profile
