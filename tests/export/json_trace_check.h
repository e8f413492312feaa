// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_EXPORT_JSON_TRACE_CHECK_H_
#define WEFT_TESTS_EXPORT_JSON_TRACE_CHECK_H_

// Reads a Chrome trace as the strictest viewer would, for tests.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft::test {

struct JsonEvent {
  std::string name, cat, ph;
  std::int64_t ts_ns = 0;
  std::int64_t dur_ns = -1;
  std::int64_t pid = 0, tid = 0;
  std::string id;   // as text of JSON; empty: none
  std::string bp;
  bool has_args = false;
  std::map<std::string, std::string> args;  // values as text of JSON
};

// A span as a viewer rebuilds it from X, B and E.
struct JsonSpan {
  std::string name;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::map<std::string, std::string> args;  // of B and E together
};

struct JsonTrace {
  std::vector<JsonEvent> events;  // in the order of the file
  std::vector<std::string> problems;  // what a strict viewer would refuse
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<JsonSpan>> spans;
  std::map<std::string, std::string> other_data;  // values as text of JSON
  std::string tail;                               // the object "weft", as text

  std::vector<JsonEvent> with_phase(const std::string& ph) const;
  std::vector<JsonEvent> named(const std::string& name) const;
  // Of all tracks, in the order of their begin.
  std::vector<JsonSpan> all_spans() const;
  JsonSpan span(const std::string& name) const;  // empty name if none
  // The tree of a thread, each span behind its depth: "0a 1b 1c 2d 0e".
  std::string tree(std::int64_t tid) const;
  std::string thread_name(std::int64_t tid) const;
  std::string all_problems() const;  // one a line
};

// Parses with simdjson, then checks every rule of its own; never throws.
JsonTrace read_json_trace(const std::string& text);
std::string read_text(const std::string& path);
// The text of a .gz, as far as it can be read.
std::string read_gzip(const std::string& path);

}  // namespace weft::test

#endif  // WEFT_TESTS_EXPORT_JSON_TRACE_CHECK_H_
