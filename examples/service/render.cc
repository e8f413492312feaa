// SPDX-License-Identifier: Apache-2.0
#include "render.h"

#include "weft/weft.h"

namespace service {
namespace {

void append_text(std::string& json, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  json += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (byte < 0x20) {
      json += "\\u00";
      json += kHex[byte >> 4];
      json += kHex[byte & 0xf];
    } else {
      json += c;
    }
  }
  json += '"';
}

void append_item(std::string& json, const Item& item) {
  json += "{\"id\":" + std::to_string(item.id) +
          ",\"version\":" + std::to_string(item.version) + ",\"body\":";
  append_text(json, item.body);
  json += '}';
}

}  // namespace

std::string render_item(const Item& item) {
  WEFT_SPAN("render");
  std::string json;
  append_item(json, item);
  return json;
}

std::string render_items(const std::vector<Item>& items) {
  WEFT_SPAN("render", {"items", items.size()});
  std::string json = "[";
  for (const Item& item : items) {
    if (json.size() > 1) json += ',';
    append_item(json, item);
  }
  json += ']';
  return json;
}

std::string render_error(std::string_view reason) {
  std::string json = "{\"error\":";
  append_text(json, reason);
  json += '}';
  return json;
}

}  // namespace service
