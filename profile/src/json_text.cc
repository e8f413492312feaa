// SPDX-License-Identifier: Apache-2.0
#include "json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>

namespace weft::profile {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

std::uint8_t byte_at(std::string_view text, std::size_t i) {
  return static_cast<std::uint8_t>(text[i]);
}

// The value of "\\uXXXX" at the beginning of `text`, if it stands there.
std::optional<unsigned> escaped_unit(std::string_view text) {
  if (text.size() < 6 || text.substr(0, 2) != "\\u") return std::nullopt;
  unsigned unit = 0;
  const char* end = text.data() + 6;
  const auto [stop, error] = std::from_chars(text.data() + 2, end, unit, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return unit;
}

// Bytes of the escape that begins `text`, and whether it is half of a pair
// without its other half.
struct Escape {
  std::size_t length;
  bool lone;
};

Escape escape_at(std::string_view text) {
  const auto unit = escaped_unit(text);
  if (!unit) return {std::min<std::size_t>(2, text.size()), false};
  if (*unit < 0xd800 || *unit > 0xdfff) return {6, false};
  const auto second = escaped_unit(text.substr(6));
  const bool pair =
      *unit < 0xdc00 && second && *second >= 0xdc00 && *second <= 0xdfff;
  return pair ? Escape{12, false} : Escape{6, true};
}

// Whether only space stands between the first character and a closing bracket.
bool closes_next(std::string_view text) {
  const std::size_t next = text.find_first_not_of(" \n\r\t", 1);
  return next != std::string_view::npos &&
         (text[next] == '}' || text[next] == ']');
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const std::uint8_t lead = byte_at(text, 0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xc2 && lead <= 0xdf   ? 2
                             : lead >= 0xe0 && lead <= 0xef ? 3
                             : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                            : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and values above U+10FFFF.
  const std::uint8_t second = byte_at(text, 1);
  if (lead == 0xe0 && second < 0xa0) return 0;
  if (lead == 0xed && second > 0x9f) return 0;
  if (lead == 0xf0 && second < 0x90) return 0;
  if (lead == 0xf4 && second > 0x8f) return 0;
  return length;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char first = text.front();
    if (length == 0) {
      out += kReplacement;
      text.remove_prefix(1);
      continue;
    }
    if (first == '"' || first == '\\') {
      out += '\\';
      out += first;
    } else if (byte_at(text, 0) < 0x20) {
      out += fmt::format("\\u{:04x}", byte_at(text, 0));
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out + '"';
}

RepairedJson repaired_json(std::string_view json) {
  RepairedJson repaired;
  std::string& out = repaired.text;
  bool in_string = false;
  while (!json.empty()) {
    std::size_t length = 1;
    if (in_string && json.front() == '\\') {
      const Escape escape = escape_at(json);
      length = escape.length;
      out += escape.lone ? kReplacement : json.substr(0, length);
    } else if (in_string && byte_at(json, 0) < 0x20) {
      out += fmt::format("\\u{:04x}", byte_at(json, 0));
    } else if (!in_string && json.front() == ',' && closes_next(json)) {
      repaired.left_out_commas = true;
    } else if (const std::size_t valid = utf8_length(json); valid == 0) {
      out += kReplacement;
    } else {
      length = valid;
      if (json.front() == '"') in_string = !in_string;
      out += json.substr(0, length);
    }
    json.remove_prefix(length);
  }
  return repaired;
}

std::string json_microseconds(std::int64_t ns) {
  const bool negative = ns < 0;
  // Unsigned: the smallest integer has no positive counterpart.
  const std::uint64_t size = negative ? 0 - static_cast<std::uint64_t>(ns)
                                      : static_cast<std::uint64_t>(ns);
  std::string text = fmt::format("{}{}", negative ? "-" : "", size / 1000);
  if (size % 1000 == 0) return text;
  text += fmt::format(".{:03}", size % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

}  // namespace weft::profile
