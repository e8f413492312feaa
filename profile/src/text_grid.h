// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_TEXT_GRID_H_
#define WEFT_PROFILE_SRC_TEXT_GRID_H_

// Lays text out in columns. Widths count code points; a cell that is longer
// than its column overflows it.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft::profile {

std::size_t code_points(std::string_view text) noexcept;
// The first or the last `count` code points.
std::string_view head(std::string_view text, std::size_t count) noexcept;
std::string_view tail(std::string_view text, std::size_t count) noexcept;

class TextGrid {
 public:
  enum class Align { kLeft, kRight };

  void add_column(std::string heading, std::size_t width,
                  Align align = Align::kRight);
  std::size_t columns() const noexcept { return columns_.size(); }
  // Without the gap after the last column.
  std::size_t line_length() const noexcept;

  // Each ends in a newline. A short row is filled with empty cells on the left.
  std::string separator() const;
  std::string headings() const;
  std::string row(std::vector<std::string> cells) const;

 private:
  struct Column {
    std::string heading;
    std::size_t width;
    Align align;
  };
  std::vector<Column> columns_;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_TEXT_GRID_H_
