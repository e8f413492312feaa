// SPDX-License-Identifier: Apache-2.0
#include "text_table.h"

#include <algorithm>
#include <utility>

#include "quantity_text.h"

namespace weft::tools {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kLeastWidth = 16;  // a name cut shorter says nothing

}  // namespace

TextTable::TextTable(std::vector<Column> columns)
    : columns_(std::move(columns)) {}

void TextTable::add_row(std::vector<std::string> cells) {
  rows_.push_back(std::move(cells));
}

std::string TextTable::text(std::size_t width, std::size_t indent) const {
  std::vector<std::size_t> widths;
  std::size_t total = indent;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t widest = text_width(columns_[i].head);
    for (const auto& row : rows_)
      widest = std::max(widest, text_width(row[i]));
    widths.push_back(widest);
    total += widest + (i == 0 ? 0 : kGap);
  }
  const auto flexible =
      std::find_if(columns_.begin(), columns_.end(),
                   [](const Column& c) { return c.align == Align::kLeft; });
  if (total > width && flexible != columns_.end()) {
    std::size_t& cut = widths[static_cast<std::size_t>(
        std::distance(columns_.begin(), flexible))];
    const std::size_t excess = total - width;
    const std::size_t wanted = cut > excess ? cut - excess : 0;
    cut = std::min(cut, std::max(wanted, kLeastWidth));
  }

  std::string out;
  const auto add_line = [&](const auto& cell_at) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i != 0) line.append(kGap, ' ');
      const std::string cell = shortened(cell_at(i), widths[i]);
      const std::size_t padding = widths[i] - text_width(cell);
      if (columns_[i].align == Align::kRight) line.append(padding, ' ');
      line += cell;
      if (columns_[i].align == Align::kLeft) line.append(padding, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line;
    out += '\n';
  };
  add_line([&](std::size_t i) { return columns_[i].head; });
  for (const auto& row : rows_)
    add_line([&](std::size_t i) { return row[i]; });
  return out;
}

}  // namespace weft::tools
