// SPDX-License-Identifier: Apache-2.0
#include "chrome_counters.h"

#include <simdjson.h>

#include <charconv>
#include <optional>

namespace weft::profile {
namespace {

namespace json = simdjson::ondemand;

// "+050." becomes "50", ".5" becomes "0.5". None for what is no number.
std::optional<std::string> plain_number(std::string_view text) {
  std::string sign;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    if (text.front() == '-') sign = "-";
    text.remove_prefix(1);
  }
  if (text.find_first_of("0123456789") == std::string_view::npos ||
      text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) {
    return std::nullopt;
  }
  while (text.size() > 1 && text[0] == '0' && text[1] >= '0' &&
         text[1] <= '9') {
    text.remove_prefix(1);
  }
  std::string plain = sign + (text.front() == '.' ? "0" : "");
  plain += text;
  if (plain.back() == '.') plain.pop_back();
  return plain;
}

}  // namespace

struct ChromeCounters::Parser {
  json::parser parser;
};

ChromeCounters::ChromeCounters() : parser_(std::make_unique<Parser>()) {}
ChromeCounters::~ChromeCounters() = default;

void ChromeCounters::add(const ChromeEvent& event) {
  const simdjson::padded_string text(event.text);
  json::document document;
  json::object arguments;
  if (parser_->parser.iterate(text).get(document) != simdjson::SUCCESS ||
      document["args"].get_object().get(arguments) != simdjson::SUCCESS) {
    return;
  }
  std::string name(event.name);
  if (!event.id.empty()) name += '[' + std::string(event.id) + ']';
  for (auto member : arguments) {
    json::field field;
    std::string_view key;
    if (std::move(member).get(field) != simdjson::SUCCESS ||
        field.unescaped_key().get(key) != simdjson::SUCCESS) {
      return;
    }
    const std::string key_text(key);
    std::string_view token = field.value().raw_json_token();
    while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') {
      token.remove_suffix(1);
    }
    if (token.size() >= 2 && token.front() == '"') {
      token = token.substr(1, token.size() - 2);
    }
    const auto plain = plain_number(token);
    if (!plain) continue;
    double value = 0;
    const char* end = plain->data() + plain->size();
    const auto [stop, error] = std::from_chars(plain->data(), end, value);
    if (error != std::errc() || stop != end) continue;
    Series& series = series_[{std::string(event.pid), name, key_text}];
    if (series.samples == 0 || value < series.min) {
      series.min = value;
      series.min_text = *plain;
    }
    if (series.samples == 0 || value > series.max) {
      series.max = value;
      series.max_text = *plain;
    }
    ++series.samples;
  }
}

std::vector<ChromeSeriesFacts> ChromeCounters::facts() const {
  std::vector<ChromeSeriesFacts> facts;
  for (const auto& [key, series] : series_) {
    facts.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key),
                     series.samples, series.min_text, series.max_text});
  }
  return facts;
}

}  // namespace weft::profile
