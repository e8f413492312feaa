// SPDX-License-Identifier: Apache-2.0
#include "chrome_event_splitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace weft::profile {
namespace {

constexpr std::size_t kShownBytes = 32;

bool is_space(int byte) {
  return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

std::string printable(std::string_view text) {
  std::string shown(text.substr(0, kShownBytes));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; },
      '.');
  return shown;
}

}  // namespace

void ChromeEventSplitter::skip_space() {
  while (is_space(reader_.peek())) reader_.get();
}

void ChromeEventSplitter::skip_byte_order_mark() {
  for (const int byte : {0xef, 0xbb, 0xbf}) {
    if (reader_.peek() != byte) return;
    reader_.get();
  }
}

Error ChromeEventSplitter::no_list(const std::string& found) const {
  return {ErrorCode::kUnsupported,
          "no list of trace events: a Chrome trace begins with [ or has the "
          "member \"traceEvents\", this file " +
              found};
}

bool ChromeEventSplitter::keep(int byte) {
  if (text_.size() >= max_event_bytes_) {
    too_large_ = true;
    return false;
  }
  text_ += static_cast<char>(byte);
  return true;
}

// From the opening quote on.
bool ChromeEventSplitter::read_string() {
  if (!keep(reader_.get())) return false;
  bool escaped = false;
  for (int byte = reader_.get(); byte != InflatingReader::kEnd;
       byte = reader_.get()) {
    if (!keep(byte)) return false;
    if (escaped) {
      escaped = false;
    } else if (byte == '\\') {
      escaped = true;
    } else if (byte == '"') {
      return true;
    }
  }
  return false;
}

Result<bool> ChromeEventSplitter::read_value() {
  text_.clear();
  offset_ = reader_.offset();
  too_large_ = false;
  std::size_t depth = 0;
  bool whole = true;
  for (;;) {
    const int byte = reader_.peek();
    if (byte == InflatingReader::kEnd) {
      whole = depth == 0 && !text_.empty();
      break;
    }
    if (byte == '"') {
      whole = read_string();
      if (!whole || depth == 0) break;
      continue;
    }
    const bool closes = byte == '}' || byte == ']';
    // The end of a number or word, which belongs to what is around it.
    if (depth == 0 &&
        (closes || byte == ',' || byte == ':' || is_space(byte))) {
      break;
    }
    if (!keep(reader_.get())) break;
    if (byte == '{' || byte == '[') ++depth;
    if (closes && --depth == 0) break;
  }
  if (too_large_) {
    return Error{ErrorCode::kLimit,
                 fmt::format("the value at byte {} has more than {} bytes, the "
                             "limit",
                             offset_, max_event_bytes_)};
  }
  return whole;
}

Result<bool> ChromeEventSplitter::find_list() {
  skip_byte_order_mark();
  skip_space();
  const int first = reader_.peek();
  if (first == InflatingReader::kEnd) return false;
  if (first == '[') {
    reader_.get();
    return true;
  }
  if (first != '{') {
    std::string begin;
    while (begin.size() < kShownBytes &&
           reader_.peek() != InflatingReader::kEnd) {
      begin += static_cast<char>(reader_.get());
    }
    return no_list("begins with \"" + printable(begin) + "\"");
  }
  reader_.get();
  for (;;) {
    skip_space();
    while (reader_.peek() == ',') {
      reader_.get();
      skip_space();
    }
    if (reader_.peek() != '"') return no_list("is an object without it");
    const Result<bool> key = read_value();
    if (!key.ok()) return key.error();
    const bool is_list = text_ == "\"traceEvents\"";
    skip_space();
    if (!*key || reader_.get() != ':') return no_list("is broken before it");
    skip_space();
    if (is_list && reader_.peek() == '[') {
      reader_.get();
      return true;
    }
    const Result<bool> value = read_value();
    if (!value.ok()) return value.error();
    if (!*value || text_.empty()) return no_list("is broken before it");
  }
}

Result<ChromeEventSplitter::Next> ChromeEventSplitter::next() {
  skip_space();
  // Commas too many are common in files that were written by hand.
  while (reader_.peek() == ',') {
    reader_.get();
    skip_space();
  }
  const int first = reader_.peek();
  if (first == ']') {
    reader_.get();
    return Next::kEnd;
  }
  offset_ = reader_.offset();
  if (first == InflatingReader::kEnd) return Next::kCut;
  const Result<bool> whole = read_value();
  if (!whole.ok()) return whole.error();
  if (!*whole || text_.empty()) return Next::kCut;
  return first == '{' ? Next::kObject : Next::kOther;
}

}  // namespace weft::profile
