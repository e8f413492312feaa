// SPDX-License-Identifier: Apache-2.0
#include "json_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace weft::exporters {
namespace {

constexpr std::array<char, 200> kDigitPairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

// Bytes that a JSON string can hold as they are, one by one.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x7f; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

// Length of the UTF-8 sequence at the front of `text`; 0 if it is none. Refuses
// surrogates, overlong forms and values beyond U+10FFFF.
std::size_t utf8_length(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) {
    return static_cast<unsigned char>(text[i]);
  };
  const unsigned char lead = at(0);
  std::size_t length = 0;
  unsigned char second_low = 0x80, second_high = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    if (lead == 0xe0) second_low = 0xa0;
    if (lead == 0xed) second_high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) second_low = 0x90;
    if (lead == 0xf4) second_high = 0x8f;
  } else {
    return 0;
  }
  if (text.size() < length || at(1) < second_low || at(1) > second_high)
    return 0;
  for (std::size_t i = 2; i < length; ++i)
    if (at(i) < 0x80 || at(i) > 0xbf) return 0;
  return length;
}

void append_escape(std::string* out, unsigned char c) {
  constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"': out->append("\\\""); return;
    case '\\': out->append("\\\\"); return;
    case '\n': out->append("\\n"); return;
    case '\t': out->append("\\t"); return;
    case '\r': out->append("\\r"); return;
    default:
      out->append("\\u00");
      out->push_back(kHex[c >> 4]);
      out->push_back(kHex[c & 15]);
  }
}

}  // namespace

char* write_unsigned(char* to, std::uint64_t value) noexcept {
  char digits[20];
  char* first = digits + sizeof digits;
  while (value >= 100) {
    first -= 2;
    std::memcpy(first, &kDigitPairs[2 * (value % 100)], 2);
    value /= 100;
  }
  if (value >= 10) {
    first -= 2;
    std::memcpy(first, &kDigitPairs[2 * value], 2);
  } else {
    *--first = static_cast<char>('0' + value);
  }
  const auto length = static_cast<std::size_t>(digits + sizeof digits - first);
  std::memcpy(to, first, length);
  return to + length;
}

char* write_micros(char* to, std::uint64_t ns) noexcept {
  to = write_unsigned(to, ns / 1000);
  const std::uint64_t rest = ns % 1000;
  *to++ = '.';
  *to++ = static_cast<char>('0' + rest / 100);
  std::memcpy(to, &kDigitPairs[2 * (rest % 100)], 2);
  return to + 2;
}

std::uint64_t append_string(std::string* out, std::string_view text) {
  std::uint64_t replaced = 0;
  out->push_back('"');
  std::size_t plain_from = 0;
  std::size_t i = 0;
  const auto copy_plain = [&] {
    out->append(text.substr(plain_from, i - plain_from));
  };
  while (i < text.size()) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (kPlain[c]) {
      ++i;
    } else if (c < 0x80) {
      copy_plain();
      append_escape(out, c);
      plain_from = ++i;
    } else if (const std::size_t length = utf8_length(text.substr(i))) {
      i += length;
    } else {
      copy_plain();
      out->append("\xef\xbf\xbd");  // U+FFFD
      ++replaced;
      plain_from = ++i;
    }
  }
  copy_plain();
  out->push_back('"');
  return replaced;
}

void append_unsigned(std::string* out, std::uint64_t value) {
  char digits[kNumberRoom];
  const bool exact = value <= kExactIntegers;
  if (!exact) out->push_back('"');
  out->append(digits, write_unsigned(digits, value));
  if (!exact) out->push_back('"');
}

void append_signed(std::string* out, std::int64_t value) {
  if (value >= 0) return append_unsigned(out, static_cast<std::uint64_t>(value));
  const std::uint64_t magnitude = ~static_cast<std::uint64_t>(value) + 1;
  const bool exact = magnitude <= kExactIntegers;
  char digits[kNumberRoom];
  out->append(exact ? "-" : "\"-");
  out->append(digits, write_unsigned(digits, magnitude));
  if (!exact) out->push_back('"');
}

void append_double(std::string* out, double value) {
  if (std::isnan(value)) {
    out->append("\"NaN\"");
  } else if (std::isinf(value)) {
    out->append(value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
  } else if (value == 0 && std::signbit(value)) {
    out->append("-0.0");  // "-0" is read as an integer, which has no sign
  } else {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    out->append(digits, end);
  }
}

}  // namespace weft::exporters
