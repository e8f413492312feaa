// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_CATEGORY_FILTER_H_
#define WEFT_SRC_CATEGORY_FILTER_H_

#include <string>
#include <string_view>
#include <vector>

#include "weft/result.h"

namespace weft {

// Which categories somebody wants, as "net,-db": names that are wanted, names
// with a minus that are not. Without a wanted name, everything else is wanted.
// The empty category, of sites that name none, is called "default". Categories
// with a plus in front, such as "+memory", are only for who names them, and a
// name with a plus does not take anything else away.
class CategoryFilter {
 public:
  static constexpr std::size_t kMaxNames = 64;

  // Everything passes.
  CategoryFilter() = default;
  // Errors: kInvalidArgument, naming the part that is wrong.
  static Result<CategoryFilter> parse(std::string_view text);

  bool passes(std::string_view category) const noexcept;
  // Everything but categories with a plus.
  bool passes_everything() const noexcept { return names_.empty(); }
  bool names_extra() const noexcept { return names_extra_; }
  const std::string& text() const noexcept { return text_; }

  friend bool operator==(const CategoryFilter& a, const CategoryFilter& b) {
    return a.text_ == b.text_;
  }

 private:
  struct Name {
    std::string text;
    bool wanted;
  };
  std::string text_;
  std::vector<Name> names_;
  bool only_wanted_ = false;
  bool names_extra_ = false;  // with a plus
};

}  // namespace weft

#endif  // WEFT_SRC_CATEGORY_FILTER_H_
