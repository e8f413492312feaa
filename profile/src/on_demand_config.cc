// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "weft/profile/on_demand.h"

namespace weft {
namespace {

constexpr std::size_t kMaxTextBytes = 64u << 10;
constexpr std::int64_t kMaxNumber = 1'000'000'000'000'000;

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 ||
      value > kMaxNumber)
    return std::nullopt;
  return value;
}

std::optional<bool> switch_in(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* yes : {"y", "yes", "t", "true", "1"})
    if (lower == yes) return true;
  for (const char* no : {"n", "no", "f", "false", "0"})
    if (lower == no) return false;
  return std::nullopt;
}

std::vector<std::string> list_in(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view word = trimmed(text.substr(0, comma));
    if (!word.empty()) words.emplace_back(word);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return words;
}

// How each key takes its value; false: the key cannot have it.
using Setter = bool (*)(OnDemandConfig&, std::string_view);

template <auto kMember>
bool set_switch(OnDemandConfig& config, std::string_view text) {
  const auto value = switch_in(text);
  if (value) config.*kMember = *value;
  return value.has_value();
}

template <auto kMember>
bool set_number(OnDemandConfig& config, std::string_view text) {
  const auto value = number_in(text);
  if (value) config.*kMember = *value;
  return value.has_value();
}

template <auto kMember>
bool set_text(OnDemandConfig& config, std::string_view text) {
  config.*kMember = text;
  return true;
}

template <class Unit>
bool set_duration(OnDemandConfig& config, std::string_view text) {
  const auto value = number_in(text);
  if (!value || *value > kMaxNumber / 1000) return false;
  config.duration = Unit(*value);
  config.has_duration = true;
  return true;
}

bool set_warmup(OnDemandConfig& config, std::string_view text) {
  const auto value = number_in(text);
  if (!value || *value > kMaxNumber / 1000) return false;
  config.warmup = std::chrono::seconds(*value);
  return true;
}

bool set_roundup(OnDemandConfig& config, std::string_view text) {
  const auto value = number_in(text);
  if (!value) return false;
  if (*value == 0) {
    config.warnings.push_back(
        "PROFILE_START_ITERATION_ROUNDUP = 0 is ignored");
  } else {
    config.start_iteration_roundup = *value;
  }
  return true;
}

bool set_types(OnDemandConfig& config, std::string_view text) {
  config.activity_types = list_in(text);
  return true;
}

const std::map<std::string_view, Setter>& setters() {
  using Config = OnDemandConfig;
  static const std::map<std::string_view, Setter> all = {
      {"ACTIVITIES_ENABLED", set_switch<&Config::activities_enabled>},
      {"ACTIVITY_TYPES", set_types},
      {"ACTIVITIES_LOG_FILE", set_text<&Config::log_file>},
      {"ACTIVITIES_DURATION_SECS", set_duration<std::chrono::seconds>},
      {"ACTIVITIES_DURATION_MSECS", set_duration<std::chrono::milliseconds>},
      {"ACTIVITIES_ITERATIONS", set_number<&Config::iterations>},
      {"ACTIVITIES_WARMUP_PERIOD_SECS", set_warmup},
      {"ACTIVITIES_WARMUP_ITERATIONS", set_number<&Config::warmup_iterations>},
      {"PROFILE_START_TIME", set_number<&Config::start_time_ms>},
      {"PROFILE_START_ITERATION", set_number<&Config::start_iteration>},
      {"PROFILE_START_ITERATION_ROUNDUP", set_roundup},
      {"PROFILE_REPORT_INPUT_SHAPES", set_switch<&Config::record_shapes>},
      {"CLIENT_INTERFACE_ENABLE_OP_INPUTS_COLLECTION",
       set_switch<&Config::record_shapes>},
      {"PROFILE_PROFILE_MEMORY", set_switch<&Config::profile_memory>},
      {"PROFILE_WITH_STACK", set_switch<&Config::with_stack>},
      {"PYTHON_STACK_TRACE", set_switch<&Config::with_stack>},
      {"PROFILE_WITH_FLOPS", set_switch<&Config::with_flops>},
      {"PROFILE_WITH_MODULES", set_switch<&Config::with_modules>},
      {"REQUEST_TRACE_ID", set_text<&Config::trace_id>},
      {"REQUEST_GROUP_TRACE_ID", set_text<&Config::group_trace_id>},
  };
  return all;
}

Error bad_line(std::size_t number, std::string_view line, const char* why) {
  return {ErrorCode::kInvalidArgument,
          "line " + std::to_string(number) + ", \"" +
              std::string(line.substr(0, 200)) + "\": " + why};
}

}  // namespace

Result<OnDemandConfig> parse_on_demand_config(std::string_view text) {
  if (text.size() > kMaxTextBytes)
    return Error{ErrorCode::kInvalidArgument,
                 "a request of " + std::to_string(text.size()) +
                     " bytes is longer than " + std::to_string(kMaxTextBytes)};
  OnDemandConfig config;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view whole = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::string_view line = trimmed(whole.substr(0, whole.find('#')));
    if (line.empty()) continue;
    if (std::count(line.begin(), line.end(), '=') != 1)
      return bad_line(number, line, "not KEY = VALUE");
    const std::size_t equals = line.find('=');
    const std::string_view key = trimmed(line.substr(0, equals));
    const std::string_view value = trimmed(line.substr(equals + 1));
    const auto setter = setters().find(key);
    if (setter == setters().end()) {
      config.warnings.push_back("unknown key " +
                                std::string(key.substr(0, 100)));
    } else if (!setter->second(config, value)) {
      return bad_line(number, line, "not a value of this key");
    }
  }
  return config;
}

}  // namespace weft
