// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/input_writer.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace weft {
namespace {

constexpr std::size_t kMaxTypeBytes = 24;
constexpr std::size_t kMaxDigits = 20;  // of an int64, with its sign
constexpr std::size_t kSpare = 3;       // "} !" always finds room

bool is_type_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == ':' || c == '.';
}

}  // namespace

// Room for an input of at most `bytes`; a space in front of all but the first.
bool InputWriter::begin_input(std::size_t bytes) noexcept {
  if (!in_list_) ++count_;
  if (full_) return false;
  if (size_ + 1 + bytes + kSpare > kMaxBytes) {
    full_ = true;
    put(in_list_ ? "} !" : " !");
    in_list_ = false;
    return false;
  }
  if (size_ != 0 && text_[size_ - 1] != '{') text_[size_++] = ' ';
  return true;
}

void InputWriter::put(std::string_view text) noexcept {
  const std::size_t bytes = std::min(text.size(), kMaxBytes - size_);
  std::memcpy(text_.data() + size_, text.data(), bytes);
  size_ += bytes;
}

void InputWriter::put(std::int64_t value) noexcept {
  size_ = static_cast<std::size_t>(
      std::to_chars(text_.data() + size_, text_.data() + kMaxBytes, value).ptr -
      text_.data());
}

void InputWriter::array(std::string_view type, const std::int64_t* sizes,
                        std::size_t rank) noexcept {
  if (rank > kMaxBytes ||
      !begin_input(kMaxTypeBytes + 2 + rank * (kMaxDigits + 1))) {
    if (!full_) other();
    return;
  }
  for (const char c : type.substr(0, kMaxTypeBytes))
    if (is_type_letter(c)) text_[size_++] = c;
  text_[size_++] = '[';
  for (std::size_t i = 0; i < rank; ++i) {
    if (i != 0) text_[size_++] = ',';
    put(sizes[i]);
  }
  text_[size_++] = ']';
}

void InputWriter::begin_list() noexcept {
  if (in_list_ || !begin_input(1)) return;
  text_[size_++] = '{';
  in_list_ = true;
}

void InputWriter::end_list() noexcept {
  if (!in_list_) return;
  text_[size_++] = '}';
  in_list_ = false;
}

void InputWriter::integer(std::int64_t value) noexcept {
  if (begin_input(kMaxDigits)) put(value);
}

void InputWriter::number(double value) noexcept {
  constexpr std::size_t kMaxDouble = 32;
  if (!begin_input(kMaxDouble)) return;
  char* end = text_.data() + kMaxBytes;
  char* begin = text_.data() + size_;
  char* after = std::to_chars(begin, end, value).ptr;
  // A whole number must not look like an integer.
  const bool plain = std::all_of(
      begin, after, [](char c) { return c == '-' || (c >= '0' && c <= '9'); });
  size_ = static_cast<std::size_t>(after - text_.data());
  if (plain) put(".0");
}

void InputWriter::boolean(std::int64_t value) noexcept {
  if (begin_input(5)) put(value != 0 ? "true" : "false");
}

void InputWriter::integers(const std::int64_t* values,
                           std::size_t count) noexcept {
  if (count > kMaxListElements) return other();
  if (!begin_input(2 + count * (kMaxDigits + 1))) return;
  text_[size_++] = '(';
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) text_[size_++] = ',';
    put(values[i]);
  }
  text_[size_++] = ')';
}

void InputWriter::other() noexcept {
  if (begin_input(1)) text_[size_++] = '-';
}

}  // namespace weft
