// SPDX-License-Identifier: Apache-2.0
#include "chrome_event_splitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weft::profile {
namespace {

constexpr std::size_t kShownBytes = 32;
// Of the members besides the list: more is passed over.
constexpr std::size_t kMemberBytes = std::size_t{16} << 20;

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

Error no_list(const std::string& found) {
  return {ErrorCode::kUnsupported,
          "no list of trace events: a Chrome trace begins with [ or has the "
          "member \"traceEvents\", this file " +
              found};
}

// Bytes of the object that begins `text`, or 0 if it does not end there.
std::size_t object_bytes(std::string_view text) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return 0;
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

void ChromeEventSplitter::keep(int byte, std::size_t limit) {
  if (text_.size() < limit) {
    text_ += static_cast<char>(byte);
  } else {
    too_large_ = true;
  }
}

// From the opening quote on.
bool ChromeEventSplitter::read_string(std::size_t limit) {
  keep(reader_.get(), limit);
  bool escaped = false;
  for (int byte = reader_.get(); byte != InflatingReader::kEnd;
       byte = reader_.get()) {
    keep(byte, limit);
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

bool ChromeEventSplitter::read_value(std::size_t limit) {
  text_.clear();
  offset_ = reader_.offset();
  too_large_ = false;
  std::size_t depth = 0;
  for (;;) {
    const int byte = reader_.peek();
    if (byte == InflatingReader::kEnd) return depth == 0 && !text_.empty();
    if (byte == '"') {
      if (!read_string(limit)) return false;
      if (depth == 0) return true;
      continue;
    }
    const bool closes = byte == '}' || byte == ']';
    // The end of a number or word, which belongs to what is around it.
    if (depth == 0 &&
        (closes || byte == ',' || byte == ':' || is_space(byte))) {
      return true;
    }
    keep(reader_.get(), limit);
    if (byte == '{' || byte == '[') ++depth;
    if (closes && --depth == 0) return true;
  }
}

// Whether the object at hand is followed by another one.
bool ChromeEventSplitter::is_lines() {
  const InflatingReader::Window window = reader_.window();
  std::string_view rest(window.data, window.size);
  const std::size_t bytes = object_bytes(rest);
  if (bytes == 0) return false;
  rest.remove_prefix(bytes);
  const auto next = std::find_if(rest.begin(), rest.end(),
                                 [](char c) { return !is_space(c); });
  return next != rest.end() && *next == '{';
}

ChromeEventSplitter::Found ChromeEventSplitter::read_members() {
  for (;;) {
    skip_space();
    while (reader_.peek() == ',') {
      reader_.get();
      skip_space();
    }
    if (reader_.peek() == '}') {
      reader_.get();
      return Found::kNoList;
    }
    if (reader_.peek() != '"' || !read_value(max_event_bytes_)) {
      return Found::kBroken;
    }
    std::string key = text_.substr(1, text_.size() - 2);
    skip_space();
    if (reader_.get() != ':') return Found::kBroken;
    skip_space();
    if (key == "traceEvents" && reader_.peek() == '[') {
      reader_.get();
      return Found::kList;
    }
    if (!read_value(kMemberBytes - std::min(kMemberBytes, member_bytes_)) ||
        text_.empty()) {
      return Found::kBroken;
    }
    if (too_large_) continue;
    member_bytes_ += key.size() + text_.size();
    members_.insert_or_assign(std::move(key), text_);
  }
}

Result<bool> ChromeEventSplitter::find_list() {
  skip_byte_order_mark();
  skip_space();
  const int first = reader_.peek();
  if (first == InflatingReader::kEnd) return false;
  if (first == '[') {
    form_ = ChromeListForm::kArray;
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
  if (is_lines()) {
    form_ = ChromeListForm::kLines;
    return true;
  }
  form_ = ChromeListForm::kObject;
  reader_.get();
  switch (read_members()) {
    case Found::kList:
      return true;
    case Found::kNoList:
      return false;
    case Found::kBroken:
      break;
  }
  return no_list("is broken before it");
}

void ChromeEventSplitter::read_rest() {
  // A second list is passed over like any other value.
  while (form_ == ChromeListForm::kObject && read_members() == Found::kList) {
    for (;;) {
      const Next next = peek();
      if (next == Next::kCut) return;
      if (next == Next::kEnd) break;
      const Result<Next> value = read();
      // What is no value is not passed over either: the file is broken there.
      if (!value.ok() || *value == Next::kCut) return;
    }
  }
}

ChromeEventSplitter::Next ChromeEventSplitter::peek() {
  skip_space();
  // Commas too many are common in files that were written by hand.
  while (reader_.peek() == ',') {
    reader_.get();
    ++commas_;
    skip_space();
  }
  const int first = reader_.peek();
  offset_ = reader_.offset();
  const bool lines = form_ == ChromeListForm::kLines;
  if (first == InflatingReader::kEnd) return lines ? Next::kEnd : Next::kCut;
  if (first == ']' && !lines) {
    odd_commas_ = odd_commas_ || commas_ > 0;
    reader_.get();
    return Next::kEnd;
  }
  const std::uint64_t wanted = after_element_ && !lines ? 1 : 0;
  odd_commas_ = odd_commas_ || commas_ != wanted;
  commas_ = wanted;  // said once
  return first == '{' ? Next::kObject : Next::kOther;
}

Result<ChromeEventSplitter::Next> ChromeEventSplitter::read() {
  const Next kind = reader_.peek() == '{' ? Next::kObject : Next::kOther;
  const bool whole = read_value(max_event_bytes_);
  if (too_large_) {
    return Error{ErrorCode::kLimit,
                 fmt::format("the value at byte {} has more than {} bytes, the "
                             "limit",
                             offset_, max_event_bytes_)};
  }
  passed(false);
  if (!whole || text_.empty()) {
    cut_inside_ = true;
    return Next::kCut;
  }
  return kind;
}

}  // namespace weft::profile
