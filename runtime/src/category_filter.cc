// SPDX-License-Identifier: Apache-2.0
#include "category_filter.h"

namespace weft {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

Result<CategoryFilter> CategoryFilter::parse(std::string_view text) {
  CategoryFilter filter;
  filter.text_ = std::string(trimmed(text));
  if (filter.text_.empty()) return filter;
  std::string_view rest = filter.text_;
  for (;;) {
    const std::size_t comma = rest.find(',');
    std::string_view part = trimmed(rest.substr(0, comma));
    const bool wanted = part.substr(0, 1) != "-";
    if (!wanted) part = trimmed(part.substr(1));
    if (part.empty())
      return Error{ErrorCode::kInvalidArgument,
                   "categories \"" + filter.text_ + "\": an empty name"};
    if (filter.names_.size() == kMaxNames)
      return Error{ErrorCode::kInvalidArgument,
                   "categories: more than " + std::to_string(kMaxNames) +
                       " names"};
    filter.names_.push_back({std::string(part), wanted});
    const bool extra = part.front() == '+';
    filter.only_wanted_ = filter.only_wanted_ || (wanted && !extra);
    filter.names_extra_ = filter.names_extra_ || (wanted && extra);
    if (comma == std::string_view::npos) return filter;
    rest = rest.substr(comma + 1);
  }
}

bool CategoryFilter::passes(std::string_view category) const noexcept {
  if (category.empty()) category = "default";
  for (const Name& name : names_)
    if (name.text == category) return name.wanted;
  return !only_wanted_ && category.front() != '+';
}

}  // namespace weft
