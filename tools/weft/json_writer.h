// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_JSON_WRITER_H_
#define WEFT_TOOLS_WEFT_JSON_WRITER_H_

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::tools {

// Builds strict, indented JSON. The caller closes what it opens; members of
// objects have keys, elements of arrays have none.
//
//   JsonWriter json;
//   json.open_object();
//   json.member("records", 12);
//   json.open_array("threads");
//   json.close();
//   json.close();
//   json.take()
class JsonWriter {
 public:
  void open_object(std::string_view key = {}) { open(key, '{', '}'); }
  void open_array(std::string_view key = {}) { open(key, '[', ']'); }
  void close();

  void member(std::string_view key, std::string_view text);
  void member(std::string_view key, const char* text) {
    member(key, std::string_view(text));
  }
  void member(std::string_view key, double value);  // null if not finite
  void member(std::string_view key, std::same_as<bool> auto value) {
    raw(key, value ? "true" : "false");
  }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  void member(std::string_view key, T value) {
    raw(key, std::to_string(value));
  }
  void null(std::string_view key) { raw(key, "null"); }
  void element(std::string_view text) { member({}, text); }

  std::string take();

 private:
  void open(std::string_view key, char opening, char closing);
  void raw(std::string_view key, std::string_view value);
  void next(std::string_view key);

  std::string out_;
  std::vector<char> closings_;
  bool is_first_ = true;
};

// In quotes; bytes that are no UTF-8 become U+FFFD.
std::string json_quoted(std::string_view text);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_JSON_WRITER_H_
