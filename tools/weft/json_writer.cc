// SPDX-License-Identifier: Apache-2.0
#include "json_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "quantity_text.h"

namespace weft::tools {

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t size = utf8_length(text);
    const auto first = static_cast<unsigned char>(text[0]);
    if (size == 0) {
      out += "\xef\xbf\xbd";
    } else if (first == '"' || first == '\\') {
      out += '\\';
      out += text[0];
    } else if (first < 0x20) {
      out += fmt::format("\\u{:04x}", first);
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  out += '"';
  return out;
}

void JsonWriter::next(std::string_view key) {
  if (!closings_.empty()) {
    out_ += is_first_ ? "\n" : ",\n";
    out_.append(2 * closings_.size(), ' ');
  }
  is_first_ = false;
  if (key.data() != nullptr) {
    out_ += json_quoted(key);
    out_ += ": ";
  }
}

void JsonWriter::open(std::string_view key, char opening, char closing) {
  next(key);
  out_ += opening;
  closings_.push_back(closing);
  is_first_ = true;
}

void JsonWriter::close() {
  const char closing = closings_.back();
  closings_.pop_back();
  if (!is_first_) {
    out_ += '\n';
    out_.append(2 * closings_.size(), ' ');
  }
  out_ += closing;
  is_first_ = false;
}

void JsonWriter::raw(std::string_view key, std::string_view value) {
  next(key);
  out_ += value;
}

void JsonWriter::member(std::string_view key, std::string_view text) {
  raw(key, json_quoted(text));
}

void JsonWriter::member(std::string_view key, double value) {
  if (!std::isfinite(value)) return null(key);
  raw(key, fmt::format("{}", value));
}

std::string JsonWriter::take() {
  out_ += '\n';
  return std::move(out_);
}

}  // namespace weft::tools
