// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/captured_stack.h"

#include <charconv>
#include <system_error>

#include "stack_text.h"

namespace weft {
namespace {

template <class T>
bool read_hex(std::string_view text, T* value) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, *value, 16);
  return error == std::errc() && at == end && !text.empty();
}

// What stands before the separator; `text` is left with what follows.
std::optional<std::string_view> take(std::string_view* text, char separator) {
  const std::size_t at = text->find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view part = text->substr(0, at);
  text->remove_prefix(at + 1);
  return part;
}

bool is_build_id(std::string_view text) {
  return text.size() % 2 == 0 &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::optional<CapturedStack> parse_captured_stack(std::string_view text) {
  CapturedStack stack;
  for (bool more = true; more;) {
    if (text == profile::kCutMark && !stack.frames.empty()) {
      stack.cut = true;
      break;
    }
    std::string_view frame = text;
    if (const auto part = take(&text, ';')) {
      frame = *part;
    } else {
      more = false;
    }
    std::uint32_t module = 0;
    std::uint64_t offset = 0;
    const auto number = take(&frame, '+');
    if (!number || !read_hex(*number, &module) || !read_hex(frame, &offset))
      return std::nullopt;
    stack.frames.push_back({static_cast<StringId>(module), offset});
  }
  return stack;
}

std::optional<LoadedModule> parse_loaded_module(std::string_view text) {
  const auto word = take(&text, ' ');
  const auto build_id = take(&text, ' ');
  const auto base = take(&text, ' ');
  const auto bytes = take(&text, ' ');
  LoadedModule module;
  if (!bytes || *word != profile::kModuleWord ||
      !read_hex(*base, &module.load_base) || !read_hex(*bytes, &module.bytes))
    return std::nullopt;
  if (*build_id != profile::kNoBuildId) {
    if (!is_build_id(*build_id)) return std::nullopt;
    module.build_id = *build_id;
  }
  module.path = text;
  return module;
}

}  // namespace weft
