// SPDX-License-Identifier: Apache-2.0
#include "text_grid.h"

#include <utility>

namespace weft::profile {
namespace {

constexpr std::size_t kGap = 2;

bool starts_code_point(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

// Where code point number `index` begins; the end for one past the last.
std::size_t offset_of(std::string_view text, std::size_t index) noexcept {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (starts_code_point(text[i]) && seen++ == index) return i;
  }
  return text.size();
}

}  // namespace

std::size_t code_points(std::string_view text) noexcept {
  std::size_t count = 0;
  for (const char byte : text) count += starts_code_point(byte) ? 1 : 0;
  return count;
}

std::string_view head(std::string_view text, std::size_t count) noexcept {
  return text.substr(0, offset_of(text, count));
}

std::string_view tail(std::string_view text, std::size_t count) noexcept {
  const std::size_t length = code_points(text);
  if (count >= length) return text;
  return text.substr(offset_of(text, length - count));
}

void TextGrid::add_column(std::string heading, std::size_t width, Align align) {
  columns_.push_back({std::move(heading), width, align});
}

std::size_t TextGrid::line_length() const noexcept {
  std::size_t length = 0;
  for (const Column& column : columns_) length += column.width + kGap;
  return columns_.empty() ? 0 : length - kGap;
}

std::string TextGrid::separator() const {
  std::string line;
  for (const Column& column : columns_) {
    line.append(column.width, '-').append(kGap, ' ');
  }
  return line + '\n';
}

std::string TextGrid::headings() const {
  std::vector<std::string> cells;
  for (const Column& column : columns_) cells.push_back(column.heading);
  return row(std::move(cells));
}

std::string TextGrid::row(std::vector<std::string> cells) const {
  cells.insert(cells.begin(), columns_.size() - cells.size(), std::string());
  std::string line;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    const std::size_t length = code_points(cells[i]);
    const std::size_t pad = length < column.width ? column.width - length : 0;
    if (column.align == Align::kRight) line.append(pad, ' ');
    line += cells[i];
    if (column.align == Align::kLeft) line.append(pad, ' ');
    line.append(kGap, ' ');
  }
  return line + '\n';
}

}  // namespace weft::profile
