// SPDX-License-Identifier: Apache-2.0
#include "control_commands.h"

#include <charconv>
#include <chrono>
#include <utility>

#include "weft/live.h"
#include "weft/session.h"
#include "weft/snapshot.h"
#include "weft/status.h"

namespace weft {
namespace {

using std::chrono::nanoseconds;

constexpr auto kSnapshotTimeout = std::chrono::seconds(30);

std::string refuse(const std::string& why) {
  std::string line = "error: " + why;
  for (char& c : line)
    if (c == '\n') c = ' ';
  return line + "\n";
}

std::string answer(const Result<void>& result) {
  return result.ok() ? "ok\n" : refuse(result.error().message);
}

// The first word, which is taken away with the space behind it.
std::string_view take_word(std::string_view* text) {
  const std::size_t end = std::min(text->find(' '), text->size());
  const std::string_view word = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return word;
}

bool read_time(std::string_view text, nanoseconds* time) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
  double number = 0;
  const auto [end, fault] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || !(number >= 0) || number > 1e12) return false;
  const std::string_view unit = text.substr(
      static_cast<std::size_t>(end - text.data()));
  for (const auto& [name, factor] : kUnits)
    if (unit == name) {
      const double ns = number * factor;
      if (ns > 9e18) return false;
      *time = nanoseconds(static_cast<std::int64_t>(ns));
      return true;
    }
  return false;
}

std::string take(std::string_view arguments) {
  SnapshotOptions options;
  options.reason = "control socket";
  while (!arguments.empty()) {
    const std::string_view whole = arguments;
    const std::string_view word = take_word(&arguments);
    if (word.substr(0, 7) == "reason=") {
      options.reason = whole.substr(7);
      break;
    }
    const bool before = word.substr(0, 7) == "before=";
    if (!before && word.substr(0, 6) != "after=")
      return refuse("snapshot: \"" + std::string(word) +
                    "\" is neither before=, after= nor reason=");
    if (!read_time(word.substr(before ? 7 : 6),
                   before ? &options.before : &options.after))
      return refuse("snapshot: \"" + std::string(word) +
                    "\" is no time like 5s or 250ms");
  }
  const Result<SnapshotInfo> taken = take_snapshot(options, kSnapshotTimeout);
  if (!taken.ok()) return refuse(taken.error().message);
  return "ok\npath: " + taken->path +
         "\nrecords: " + std::to_string(taken->records) +
         "\nbytes: " + std::to_string(taken->bytes) + "\n";
}

std::string describe() {
  const RuntimeStatus now = status();
  std::string text = "ok\nstate: ";
  text += now.state == RuntimeState::kOff      ? "off"
          : now.state == RuntimeState::kPaused ? "paused"
                                               : "recording";
  const auto add = [&](const char* key, const std::string& value) {
    text += "\n" + std::string(key) + ": " + value;
  };
  add("output", now.output);
  if (!now.output_error.empty()) add("output error", now.output_error);
  add("records delivered", std::to_string(now.delivered));
  add("records dropped", std::to_string(now.total_dropped()));
  add("bytes written", std::to_string(now.bytes_written));
  add("threads", std::to_string(now.threads_live));
  add("ring bytes", std::to_string(now.ring_bytes_used));
  add("subscriptions", std::to_string(now.subscriptions));
  add("spans over budget", std::to_string(spans_over_budget()));
  add("clock", now.clock + " (" + now.clock_reason + ")");
  return text + "\n";
}

}  // namespace

std::string answer_control(std::string_view request) {
  std::string_view arguments = request;
  const std::string_view command = take_word(&arguments);
  if (command == "status") return describe();
  if (command == "start") return answer(start());
  if (command == "stop") return answer(stop());
  if (command == "categories") return answer(set_categories(arguments));
  if (command == "rotate") return answer(rotate());
  if (command == "snapshot") return take(arguments);
  if (command == "metrics") return "ok\n" + metrics_text();
  return refuse("\"" + std::string(command.substr(0, 64)) +
                "\" is none of status, start, stop, categories, rotate, "
                "snapshot, metrics");
}

}  // namespace weft
