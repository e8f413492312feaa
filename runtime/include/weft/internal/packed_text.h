// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_INTERNAL_PACKED_TEXT_H_
#define WEFT_INTERNAL_PACKED_TEXT_H_

// Text that is mostly numbers in symbols of 4 bits, low half of a byte first:
//
//   0 to 9   that digit
//   10 ','   11 '['   12 ']'   13 ' '
//   14       a word: its number in kPackedWords follows
//   15       any byte: its low half and its high half follow
//
// A symbol that the end cuts off is none; so 14 fills up the last byte. The
// inputs of a call are such text (weft/profile/input_writer.h): the sizes of an
// array of four dimensions fit into a slot.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::internal {

// Part of the file format: words are added at the end or not at all.
inline constexpr std::array<std::string_view, 16> kPackedWords = {
    "float", "double", "int",   "longint", "long",  "bool",      "half", "bfloat16",
    "char",  "uint8",  "int8",  "int16",   "int32", "c10::Half", "c10::BFloat16", "int64"};

// The symbol of a character that has one of its own; 16 for others.
constexpr unsigned packed_symbol(char c) noexcept {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  return c == ',' ? 10 : c == '[' ? 11 : c == ']' ? 12 : c == ' ' ? 13 : 16;
}

// The number of the word that stands before a '[' here; their count if none.
inline unsigned packed_word(std::string_view text) noexcept {
  unsigned word = 0;
  for (const std::string_view known : kPackedWords) {
    if (text.size() > known.size() && text[known.size()] == '[' &&
        text.substr(0, known.size()) == known)
      break;
    ++word;
  }
  return word;
}

// Hot. Returns how many bytes of `out` it took, or 0 if the text does not become
// shorter than it is or finds no room.
inline std::size_t pack_text(std::string_view text, std::uint8_t* out,
                             std::size_t room) noexcept {
  std::size_t halves = 0;
  const std::size_t most = 2 * (text.size() < room ? text.size() : room);
  const auto put = [&](unsigned symbol) {
    const auto bits = static_cast<std::uint8_t>(symbol);
    if (halves % 2 == 0) {
      out[halves / 2] = bits;
    } else {
      out[halves / 2] |= static_cast<std::uint8_t>(bits << 4);
    }
    ++halves;
  };
  for (std::size_t at = 0; at < text.size();) {
    if (halves + 3 > most) return 0;
    const unsigned symbol = packed_symbol(text[at]);
    if (symbol < 16) {
      put(symbol);
      ++at;
      continue;
    }
    const unsigned word = packed_word(text.substr(at));
    if (word < kPackedWords.size()) {
      put(14);
      put(word);
      at += kPackedWords[word].size();
    } else {
      const auto byte = static_cast<unsigned char>(text[at++]);
      put(15);
      put(byte & 0xf);
      put(byte >> 4);
    }
  }
  if (halves % 2 != 0) put(14);
  return halves / 2 < text.size() ? halves / 2 : 0;
}

// Returns how many bytes the text has; `out` gets the first `room` of them.
inline std::size_t unpack_text(std::string_view packed, char* out,
                               std::size_t room) noexcept {
  std::size_t size = 0;
  const auto put = [&](char c) {
    if (size < room) out[size] = c;
    ++size;
  };
  const std::size_t end = 2 * packed.size();
  const auto half = [&](std::size_t at) {
    const auto byte = static_cast<unsigned char>(packed[at / 2]);
    return static_cast<unsigned>(at % 2 == 0 ? byte & 0xf : byte >> 4);
  };
  for (std::size_t at = 0; at < end;) {
    const unsigned symbol = half(at++);
    if (symbol < 10) {
      put(static_cast<char>('0' + symbol));
    } else if (symbol < 14) {
      put(",[] "[symbol - 10]);
    } else if (symbol == 14) {
      if (at == end) break;
      for (const char c : kPackedWords[half(at++)]) put(c);
    } else {
      if (at + 2 > end) break;
      put(static_cast<char>(half(at) | half(at + 1) << 4));
      at += 2;
    }
  }
  return size;
}

}  // namespace weft::internal

#endif  // WEFT_INTERNAL_PACKED_TEXT_H_
