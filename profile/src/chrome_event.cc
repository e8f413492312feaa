// SPDX-License-Identifier: Apache-2.0
#include "chrome_event.h"

#include <simdjson.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "decimal_time.h"
#include "json_text.h"

namespace weft::profile {
namespace {

namespace json = simdjson::ondemand;

std::string_view trimmed(std::string_view token) {
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') {
    token.remove_suffix(1);
  }
  return token;
}

// A string's text, or a number as it is written; empty for anything else.
simdjson::error_code read_text(json::value value, std::string& out) {
  json::json_type type{};
  if (const auto error = value.type().get(type)) return error;
  out.clear();
  if (type == json::json_type::string) {
    std::string_view text;
    if (const auto error = value.get_string().get(text)) return error;
    out = text;
  } else if (type == json::json_type::number) {
    out = trimmed(value.raw_json_token());
  }
  return simdjson::SUCCESS;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

simdjson::error_code read_time(json::value value,
                               std::optional<std::int64_t>& out) {
  std::string text;
  const auto error = read_text(value, text);
  out = decimal_us_to_ns(text);
  return error;
}

simdjson::error_code read_number(json::value value,
                                 std::optional<std::int64_t>& out) {
  std::string text;
  const auto error = read_text(value, text);
  out = whole_number(text);
  return error;
}

simdjson::error_code read_argument(std::string_view key, json::value value,
                                   ChromeEvent& event) {
  if (key == "name") return read_text(value, event.thread_name);
  if (key == "correlation") return read_text(value, event.correlation);
  if (key == "External id" || key == "external id") {
    return read_text(value, event.external_id);
  }
  if (key == "Call stack") return read_text(value, event.call_stack);
  if (key == "device" || key == "Device Id") {
    return read_number(value, event.device);
  }
  if (key == "Device Type") return read_number(value, event.device_type);
  if (key == "stream") return read_number(value, event.stream);
  if (key == "Bytes") return read_number(value, event.bytes);
  if (key == "Sequence number") return read_number(value, event.sequence_nr);
  if (key == "Fwd thread id") return read_number(value, event.fwd_thread);
  return simdjson::SUCCESS;
}

// The members of an object, whatever order they come in; of equal keys the last
// wins.
template <class Take>
simdjson::error_code for_each_member(json::object object, Take take) {
  for (auto member : object) {
    json::field field;
    if (const auto error = std::move(member).get(field)) return error;
    std::string_view key;
    if (const auto error = field.unescaped_key().get(key)) return error;
    if (const auto error = take(key, field.value())) return error;
  }
  return simdjson::SUCCESS;
}

simdjson::error_code read_arguments(json::value value, ChromeEvent& event) {
  json::json_type type{};
  if (const auto error = value.type().get(type)) return error;
  if (type != json::json_type::object) return simdjson::SUCCESS;
  json::object object;
  if (const auto error = value.get_object().get(object)) return error;
  return for_each_member(object,
                         [&](std::string_view key, json::value argument) {
                           return read_argument(key, argument, event);
                         });
}

// {"local": ...} counts within its process, {"global": ...} everywhere.
simdjson::error_code read_scoped_id(json::value value, ChromeEvent& event) {
  json::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) {
    return simdjson::SUCCESS;
  }
  return for_each_member(object, [&](std::string_view key, json::value id) {
    const auto error = read_text(id, event.id);
    event.id.insert(0, key == "local" ? "local " : "global ");
    return error;
  });
}

simdjson::error_code read_member(std::string_view key, json::value value,
                                 ChromeEvent& event) {
  if (key == "name") return read_text(value, event.name);
  if (key == "cat") return read_text(value, event.category);
  if (key == "ph") return read_text(value, event.phase);
  if (key == "pid") return read_text(value, event.pid);
  if (key == "tid") return read_text(value, event.tid);
  if (key == "ts") return read_time(value, event.start_ns);
  if (key == "dur") return read_time(value, event.duration_ns);
  if (key == "id") return read_text(value, event.id);
  if (key == "id2") return read_scoped_id(value, event);
  if (key == "args") return read_arguments(value, event);
  return simdjson::SUCCESS;
}

}  // namespace

struct ChromeEventParser::State {
  json::parser parser;

  std::optional<ChromeEvent> parse(const std::string& text) {
    const simdjson::padded_string padded(text);
    json::document document;
    json::object object;
    if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
        document.get_object().get(object) != simdjson::SUCCESS) {
      return std::nullopt;
    }
    ChromeEvent event;
    const auto error =
        for_each_member(object, [&](std::string_view key, json::value value) {
          return read_member(key, value, event);
        });
    if (error != simdjson::SUCCESS) return std::nullopt;
    return event;
  }
};

ChromeEventParser::ChromeEventParser() : state_(std::make_unique<State>()) {}
ChromeEventParser::~ChromeEventParser() = default;

std::optional<ChromeEvent> ChromeEventParser::parse(const std::string& text) {
  std::optional<ChromeEvent> event = state_->parse(text);
  if (event) return event;
  return state_->parse(repaired_json(text));
}

}  // namespace weft::profile
