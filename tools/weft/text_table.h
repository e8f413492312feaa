// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_TEXT_TABLE_H_
#define WEFT_TOOLS_WEFT_TEXT_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::tools {

enum class Align : std::uint8_t { kLeft, kRight };

// Rows of cells in aligned columns, two blanks apart, under a head.
//
//   span     count   total
//   decode   1,234  5.67ms
//
// The first left-aligned column gives way when a line would be too long.
class TextTable {
 public:
  struct Column {
    std::string head;
    Align align = Align::kRight;
  };

  explicit TextTable(std::vector<Column> columns);

  // As many cells as there are columns, printable text.
  void add_row(std::vector<std::string> cells);
  bool empty() const noexcept { return rows_.empty(); }

  // Lines with `indent` blanks before them, of at most `width` columns where
  // the first left-aligned one can be cut to that.
  std::string text(std::size_t width, std::size_t indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_TEXT_TABLE_H_
