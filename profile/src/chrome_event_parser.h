// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_CHROME_EVENT_PARSER_H_
#define WEFT_PROFILE_SRC_CHROME_EVENT_PARSER_H_

#include <cstddef>
#include <memory>
#include <string>

#include "chrome_event.h"

namespace weft::profile {

class ChromeEventSink {
 public:
  virtual ~ChromeEventSink() = default;
  virtual void event(const ChromeEvent& event) = 0;
};

// From JSON to events.
class ChromeEventParser {
 public:
  ChromeEventParser();
  ~ChromeEventParser();
  ChromeEventParser(const ChromeEventParser&) = delete;
  ChromeEventParser& operator=(const ChromeEventParser&) = delete;

  // The objects of a list, as far as they are sound, strict JSON.
  //
  // `json` begins with '[' and has `size` bytes; the 64 behind them are
  // readable. Returns how many bytes were used: up to the comma or bracket
  // after the last event handed over.
  struct Batch {
    std::size_t events = 0;
    std::size_t bytes = 1;
  };
  Batch parse_list(const char* json, std::size_t size, ChromeEventSink& sink);

  // One event. Small sins, such as bytes that JSON does not allow in strings,
  // are repaired.
  enum class Parsed {
    kNot,            // `text` is no JSON object
    kSound,
    kWithoutCommas,  // that stood before closing brackets
  };
  Parsed parse(const std::string& text, ChromeEventSink& sink);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_CHROME_EVENT_PARSER_H_
