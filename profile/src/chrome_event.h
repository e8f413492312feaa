// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_CHROME_EVENT_H_
#define WEFT_PROFILE_SRC_CHROME_EVENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace weft::profile {

// What the importer wants of one trace event. Text of numbers stays text.
struct ChromeEvent {
  std::string name;
  std::string category;
  std::string phase;
  std::string pid;
  std::string tid;
  std::string id;  // of async events and flows
  std::optional<std::int64_t> start_ns;
  std::optional<std::int64_t> duration_ns;
  // Arguments.
  std::string thread_name;  // of metadata
  std::string correlation;
  std::string external_id;
  std::string call_stack;
  std::optional<std::int64_t> device;
  std::optional<std::int64_t> device_type;
  std::optional<std::int64_t> stream;
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> sequence_nr;
  std::optional<std::int64_t> fwd_thread;
};

// Parses events one after the other.
class ChromeEventParser {
 public:
  ChromeEventParser();
  ~ChromeEventParser();
  ChromeEventParser(const ChromeEventParser&) = delete;
  ChromeEventParser& operator=(const ChromeEventParser&) = delete;

  // None if `text` is not a JSON object. Small sins, such as bytes that JSON
  // does not allow in strings, are repaired.
  std::optional<ChromeEvent> parse(const std::string& text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_CHROME_EVENT_H_
