// SPDX-License-Identifier: Apache-2.0
#include "chrome_event_parser.h"

#include <simdjson.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "decimal_time.h"
#include "inflating_reader.h"
#include "json_text.h"

namespace weft::profile {
namespace {

namespace json = simdjson::ondemand;

static_assert(InflatingReader::kPadding >= simdjson::SIMDJSON_PADDING);

std::string_view trimmed(std::string_view token) {
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') {
    token.remove_suffix(1);
  }
  return token;
}

// A string's text, or a number as it is written; empty for anything else. A
// string without escapes is taken where it stands.
simdjson::error_code read_text(json::value& value, std::string_view& out) {
  const std::string_view token = trimmed(value.raw_json_token());
  out = {};
  if (token.empty()) return simdjson::SUCCESS;
  const char first = token.front();
  if (first == '"') {
    if (token.size() < 2 || token.find('\\') != std::string_view::npos) {
      return value.get_string().get(out);
    }
    out = token.substr(1, token.size() - 2);
  } else if (first == '-' || (first >= '0' && first <= '9')) {
    out = token;
  }
  return simdjson::SUCCESS;
}

simdjson::error_code read_time(json::value& value,
                               std::optional<std::int64_t>& out) {
  std::string_view text;
  const auto error = read_text(value, text);
  out = decimal_us_to_ns(text);
  return error;
}

// As it is written in the file, brackets and all.
simdjson::error_code read_json(json::value& value, std::string_view& out) {
  json::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) {
    return simdjson::SUCCESS;
  }
  return array.raw_json().get(out);
}

simdjson::error_code read_argument(std::string_view key, json::value& value,
                                   ChromeEvent& event) {
  switch (key.size()) {
    case 4:
      if (key == "name") return read_text(value, event.argument_name);
      break;
    case 5:
      if (key == "Bytes" || key == "bytes") {
        return read_text(value, event.bytes);
      }
      break;
    case 6:
      if (key == "device") return read_text(value, event.device);
      if (key == "stream") return read_text(value, event.stream);
      break;
    case 9:
      if (key == "Device Id") return read_text(value, event.device);
      break;
    case 10:
      if (key == "Call stack") return read_text(value, event.call_stack);
      if (key == "Input Dims" || key == "Input dims") {
        return read_json(value, event.input_dims);
      }
      break;
    case 11:
      if (key == "correlation") return read_text(value, event.correlation);
      if (key == "External id" || key == "external id") {
        return read_text(value, event.external_id);
      }
      if (key == "Device Type") return read_text(value, event.device_type);
      break;
    case 14:
      if (key == "Fwd thread id") return read_text(value, event.fwd_thread);
      break;
    case 15:
      if (key == "Sequence number") return read_text(value, event.sequence_nr);
      break;
    default:
      break;
  }
  return simdjson::SUCCESS;
}

// The key of a member. One without escapes is taken where it stands.
simdjson::error_code key_of(json::field& field, std::string_view& key) {
  const char* const begin = field.key().raw();
  const char* end = begin;
  while (*end != '"' && *end != '\\') ++end;
  if (*end == '\\') return field.unescaped_key().get(key);
  key = {begin, static_cast<std::size_t>(end - begin)};
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
    if (const auto error = key_of(field, key)) return error;
    if (const auto error = take(key, field.value())) return error;
  }
  return simdjson::SUCCESS;
}

simdjson::error_code read_arguments(json::value& value, ChromeEvent& event) {
  if (*value.raw_json_token().data() != '{') return simdjson::SUCCESS;
  json::object object;
  if (const auto error = value.get_object().get(object)) return error;
  return for_each_member(object,
                         [&](std::string_view key, json::value& argument) {
                           return read_argument(key, argument, event);
                         });
}

// {"local": ...} counts within its process, {"global": ...} everywhere.
simdjson::error_code read_scoped_id(json::value& value, ChromeEvent& event) {
  if (*value.raw_json_token().data() != '{') return simdjson::SUCCESS;
  json::object object;
  if (const auto error = value.get_object().get(object)) return error;
  return for_each_member(object, [&](std::string_view key, json::value& id) {
    event.id_is_local = key == "local";
    return read_text(id, event.id);
  });
}

simdjson::error_code read_member(std::string_view key, json::value& value,
                                 ChromeEvent& event) {
  switch (key.size()) {
    case 1:
      if (key == "s") return read_text(value, event.instant_scope);
      break;
    case 2:
      if (key == "ph") return read_text(value, event.phase);
      if (key == "ts") return read_time(value, event.start_ns);
      if (key == "id") return read_text(value, event.id);
      break;
    case 3:
      if (key == "pid") return read_text(value, event.pid);
      if (key == "tid") return read_text(value, event.tid);
      if (key == "dur") return read_time(value, event.duration_ns);
      if (key == "cat") {
        event.has_category = true;
        return read_text(value, event.category);
      }
      if (key == "id2") return read_scoped_id(value, event);
      break;
    case 4:
      if (key == "name") {
        event.has_name = true;
        return read_text(value, event.name);
      }
      if (key == "args") return read_arguments(value, event);
      break;
    case 5:
      if (key == "scope") return read_text(value, event.scope);
      break;
    default:
      break;
  }
  return simdjson::SUCCESS;
}

simdjson::error_code read_event(json::object object, ChromeEvent& event) {
  return for_each_member(object,
                         [&](std::string_view key, json::value& value) {
                           return read_member(key, value, event);
                         });
}

}  // namespace

struct ChromeEventParser::State {
  json::parser parser;

  bool parse(const std::string& text, ChromeEventSink& sink) {
    const simdjson::padded_string padded(text);
    json::document document;
    json::object object;
    if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
        document.get_object().get(object) != simdjson::SUCCESS) {
      return false;
    }
    ChromeEvent event;
    event.text = text;
    if (read_event(object, event) != simdjson::SUCCESS) return false;
    sink.event(event);
    return true;
  }
};

ChromeEventParser::ChromeEventParser() : state_(std::make_unique<State>()) {}
ChromeEventParser::~ChromeEventParser() = default;

ChromeEventParser::Batch ChromeEventParser::parse_list(const char* bytes,
                                                       std::size_t size,
                                                       ChromeEventSink& sink) {
  Batch batch;
  json::document document;
  json::array list;
  const simdjson::padded_string_view view(bytes, size,
                                          size + simdjson::SIMDJSON_PADDING);
  if (state_->parser.iterate(view).get(document) != simdjson::SUCCESS ||
      document.get_array().get(list) != simdjson::SUCCESS) {
    return batch;
  }
  for (auto element : list) {
    json::value value;
    if (std::move(element).get(value) != simdjson::SUCCESS) break;
    const char* const begin = value.raw_json_token().data();
    json::object object;
    if (*begin != '{' || value.get_object().get(object) != simdjson::SUCCESS) {
      break;
    }
    ChromeEvent event;
    const char* end = nullptr;
    if (read_event(object, event) != simdjson::SUCCESS ||
        document.current_location().get(end) != simdjson::SUCCESS) {
      break;
    }
    event.text = {begin, static_cast<std::size_t>(end - begin)};
    sink.event(event);
    ++batch.events;
    batch.bytes = static_cast<std::size_t>(end - bytes);
  }
  return batch;
}

ChromeEventParser::Parsed ChromeEventParser::parse(const std::string& text,
                                                   ChromeEventSink& sink) {
  if (state_->parse(text, sink)) return Parsed::kSound;
  const RepairedJson repaired = repaired_json(text);
  if (!state_->parse(repaired.text, sink)) return Parsed::kNot;
  return repaired.left_out_commas ? Parsed::kWithoutCommas : Parsed::kSound;
}

std::optional<std::int64_t> whole_number(std::string_view text) noexcept {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace weft::profile
