// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/function_input.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace weft {
namespace {

using Kind = FunctionInput::Kind;

// "1,2" between brackets. None: it is something else.
std::optional<std::vector<std::int64_t>> integers_in(std::string_view text) {
  std::vector<std::int64_t> values;
  while (!text.empty()) {
    std::int64_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return std::nullopt;
    values.push_back(value);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) break;
    if (text.front() != ',' || text.size() == 1) return std::nullopt;
    text.remove_prefix(1);
  }
  return values;
}

FunctionInput parse_one(std::string_view token) {
  FunctionInput input;
  if (token.empty() || token == "-") return input;
  if (token.back() == ']') {
    const std::size_t open = token.find('[');
    if (open == std::string_view::npos) return input;
    auto sizes = integers_in(token.substr(open + 1, token.size() - open - 2));
    if (!sizes) return input;
    input.kind = Kind::kArray;
    input.type = token.substr(0, open);
    input.sizes = std::move(*sizes);
    return input;
  }
  if (token.front() == '(' && token.back() == ')') {
    auto values = integers_in(token.substr(1, token.size() - 2));
    if (!values) return input;
    input.kind = Kind::kScalarList;
    input.integers = std::move(*values);
    input.value = token;
    return input;
  }
  input.kind = Kind::kScalar;
  input.value = token;
  if (auto values = integers_in(token); values && values->size() == 1)
    input.integers = std::move(*values);
  return input;
}

}  // namespace

std::string FunctionInput::type_name() const {
  switch (kind) {
    case Kind::kArray:
      return type;
    case Kind::kArrayList:
      return "TensorList";
    case Kind::kScalar:
      return "Scalar";
    case Kind::kScalarList:
      return "ScalarList";
    case Kind::kOther:
      break;
  }
  return "";
}

ParsedInputs parse_inputs(std::string_view text, InputText text_is) {
  ParsedInputs parsed;
  if (text_is == InputText::kCut) {
    // The last word may be half of one.
    const std::size_t space = text.rfind(' ');
    text = text.substr(0, space == std::string_view::npos ? 0 : space);
    parsed.complete = false;
  }
  std::optional<FunctionInput> list;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    std::string_view token = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size()
                                                       : space + 1);
    if (token == "!") {
      parsed.complete = false;
      continue;
    }
    if (!list && token.substr(0, 1) == "{") {
      token.remove_prefix(1);
      list.emplace();
      list->kind = Kind::kArrayList;
    }
    const bool closes = list && !token.empty() && token.back() == '}';
    if (closes) token.remove_suffix(1);
    if (!list) {
      parsed.inputs.push_back(parse_one(token));
    } else if (!token.empty()) {
      list->list_sizes.push_back(parse_one(token).sizes);
    }
    if (closes) {
      parsed.inputs.push_back(std::move(*list));
      list.reset();
    }
  }
  if (list) parsed.complete = false;
  return parsed;
}

std::vector<Shape> shapes_of(const std::vector<FunctionInput>& inputs) {
  std::vector<Shape> shapes;
  shapes.reserve(inputs.size());
  for (const FunctionInput& input : inputs) shapes.push_back(input.sizes);
  return shapes;
}

std::vector<OpInput> op_inputs_of(const std::vector<FunctionInput>& inputs) {
  std::vector<OpInput> all;
  all.reserve(inputs.size());
  for (const FunctionInput& input : inputs) {
    if (input.kind == Kind::kArray) {
      all.push_back(OpInput::tensor(input.sizes));
    } else if (input.kind == Kind::kScalarList) {
      all.push_back(OpInput::integers(input.integers));
    } else if (input.kind == Kind::kScalar && !input.integers.empty()) {
      all.push_back(OpInput::integer(input.integers.front()));
    } else {
      all.push_back(OpInput::other());
    }
  }
  return all;
}

}  // namespace weft
