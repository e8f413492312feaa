// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_CHROME_EVENT_SOURCE_H_
#define WEFT_PROFILE_SRC_CHROME_EVENT_SOURCE_H_

// The events of a Chrome JSON file, one after the other, in bounded memory.
//
// Where the file is sound, a window of it is cut at an event's end and parsed
// as one list. Where that fails, at the first event that it fails for, the rest
// of the window is taken event by event, which knows how to repair: every byte
// is looked at twice at most, whatever the file holds.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "chrome_event_parser.h"
#include "chrome_event_splitter.h"
#include "inflating_reader.h"
#include "weft/profile/chrome_import.h"
#include "weft/result.h"

namespace weft::profile {

// How sound a list was.
enum class ChromeListState : std::uint8_t {
  kNone,          // there is no list
  kSound,
  kRepaired,      // commas were missing, or too many
  kUnterminated,  // it ends with the file, after an event
  kBroken,        // it ends inside an event, or before one that is not JSON
};

struct ChromeSourceReport {
  ChromeListForm form = ChromeListForm::kEmpty;
  ChromeListState state = ChromeListState::kNone;
  std::uint64_t broken_offset = 0;  // of the event that broke the list
  std::uint64_t entries = 0;        // elements of any kind
  std::uint64_t others = 0;         // of them no objects
  std::uint64_t inflated_bytes = 0;
  std::map<std::string, std::string> members;  // besides the list, as JSON
  std::vector<std::string> skipped;            // sentences for people
};

// Errors: kUnsupported, kLimit; as import_chrome_trace
Result<ChromeSourceReport> read_chrome_events(InflatingReader& reader,
                                              const ChromeImportOptions& limits,
                                              ChromeEventSink& sink);

// What to say of an object without a list, to those who need one.
Error no_chrome_list(const std::string& path);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_CHROME_EVENT_SOURCE_H_
